import { GroupLog, type LoggedCall } from '../call-log.ts'

const timesKeptMax = 100

/** A marketing permission as it was last set. Times are milliseconds since the epoch, with fractions. */
export interface HeldConsent {
  /** As it was last written; kept under its lower-cased form. */
  email: string
  consent: boolean
  /** How often it was set, ever. */
  timesTaken: number
  /** The last hundred states, oldest first. */
  taken: { atMs: number; consent: boolean }[]
}

/** Addresses that differ only in case are one customer's. */
export function consentKey(email: string): string {
  return email.trim().toLowerCase()
}

export class ConsentStore {
  readonly #consents = new Map<string, HeldConsent>()
  #granted = 0
  #timesTaken = 0
  #revision = 0

  /** Goes up with every change: whoever writes the data down sees by it whether there is something new. */
  get revision(): number {
    return this.#revision
  }

  get size(): number {
    return this.#consents.size
  }

  get granted(): number {
    return this.#granted
  }

  get timesTaken(): number {
    return this.#timesTaken
  }

  take({ email, consent }: { email: string; consent: boolean }, atMs: number): void {
    const key = consentKey(email)
    const held = this.#consents.get(key)
    this.#timesTaken += 1
    this.#granted += Number(consent) - Number(held?.consent ?? false)
    if (held === undefined) {
      this.#consents.set(key, { email, consent, timesTaken: 1, taken: [{ atMs, consent }] })
    } else {
      held.email = email
      held.consent = consent
      held.timesTaken += 1
      held.taken.push({ atMs, consent })
      if (held.taken.length > timesKeptMax) held.taken.shift()
    }
    this.#revision += 1
  }

  /** Puts one back as it was kept. */
  restore(held: HeldConsent): void {
    this.#consents.set(consentKey(held.email), held)
    this.#granted += Number(held.consent)
    this.#timesTaken += held.timesTaken
  }

  get(email: string): HeldConsent | undefined {
    return this.#consents.get(consentKey(email))
  }

  /** In the order in which the addresses were first set. */
  values(): MapIterator<HeldConsent> {
    return this.#consents.values()
  }

  clear(): void {
    this.#consents.clear()
    this.#granted = 0
    this.#timesTaken = 0
    this.#revision += 1
  }
}

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
