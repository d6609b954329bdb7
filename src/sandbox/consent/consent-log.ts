import type { CallEnd } from '../call-log.ts'
import { consentKey } from './consent-store.ts'

const callsKeptMax = 300_000

export interface ConsentCall {
  /** The `x-request-id` of the answer. */
  readonly id: string
  readonly atMs: number
  durationMs: number | undefined
  /** Undefined when the path names none. */
  email: string | undefined
  consent: boolean | undefined
  status: number | undefined
  end: CallEnd
  /** Name of the fault that was applied. */
  fault: string | undefined
}

/** The last consent calls, well-formed or not, in the order of their arrival. */
export class ConsentLog {
  #calls: ConsentCall[] = []
  #total = 0
  #callsByStatus = new Map<string, number>()

  begin(id: string, atMs: number): ConsentCall {
    const call: ConsentCall = {
      id,
      atMs,
      durationMs: undefined,
      email: undefined,
      consent: undefined,
      status: undefined,
      end: 'open',
      fault: undefined,
    }
    this.#calls.push(call)
    this.#total += 1
    if (this.#calls.length >= 2 * callsKeptMax) this.#calls = this.#calls.slice(-callsKeptMax)
    return call
  }

  end(call: ConsentCall, end: CallEnd, atMs: number): void {
    if (call.end !== 'open') return
    call.end = end
    call.durationMs = atMs - call.atMs
    const key = call.status === undefined ? end : String(call.status)
    this.#callsByStatus.set(key, (this.#callsByStatus.get(key) ?? 0) + 1)
  }

  get total(): number {
    return this.#total
  }

  get byStatus(): ReadonlyMap<string, number> {
    return this.#callsByStatus
  }

  /** `offset` counts from the oldest call that is kept. */
  page(offset: number, limit: number): readonly ConsentCall[] {
    return this.#calls.slice(offset, offset + limit)
  }

  of(email: string): readonly ConsentCall[] {
    const key = consentKey(email)
    return this.#calls.filter((call) => call.email !== undefined && consentKey(call.email) === key)
  }

  clear(): void {
    this.#calls = []
    this.#total = 0
    this.#callsByStatus = new Map()
  }
}
