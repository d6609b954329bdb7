import { GroupLog, type LoggedCall } from '../call-log.ts'
import { consentKey } from './consent-store.ts'

const callsKeptMax = 300_000

interface ConsentDetails {
  /** Undefined when the path names none. */
  email: string | undefined
  consent: boolean | undefined
}

export type ConsentCall = LoggedCall & ConsentDetails

/** The last consent calls, well-formed or not. */
export class ConsentLog extends GroupLog<ConsentDetails> {
  constructor() {
    super(callsKeptMax, () => ({ email: undefined, consent: undefined }))
  }

  /** `offset` counts from the oldest call that is kept. */
  page(offset: number, limit: number): readonly ConsentCall[] {
    return this.calls.slice(offset, offset + limit)
  }

  of(email: string): readonly ConsentCall[] {
    const key = consentKey(email)
    return this.calls.filter((call) => call.email !== undefined && consentKey(call.email) === key)
  }
}
