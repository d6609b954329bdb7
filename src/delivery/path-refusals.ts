import type { CallResponse } from '../api/call-outcome.ts'
import { readTaken } from '../api/taken-answer.ts'
import type { ConsentId } from '../lib/brand.ts'

const acceptedForMs = 60_000

interface Answered {
  id: ConsentId
  response: CallResponse
  /** Monotonic ms. */
  at: number
}

/** Answers that a wrong path, method or header brings about. */
const statuses: ReadonlySet<number> = new Set([404, 405, 410, 415])

/**
 * Where what is sent stands in the path of the call, an answer such as 404 or a web page may mean this one, or that the
 * address of the endpoint is wrong. This one is to blame when another one was accepted within the last minute. When
 * nothing has been accepted for longer the address is, and may have been wrong earlier already: what was refused since
 * the last acceptance is taken back then, so that a wrong address makes no dead letters.
 */
export class PathRefusals {
  readonly #takeBack: () => void
  /** The last ones of two different ids, the later first. */
  #accepted: { id: ConsentId; at: number }[] = []

  /** `takeBack`: what was refused since the last acceptance is due again. */
  constructor(takeBack: () => void) {
    this.#takeBack = takeBack
  }

  /** Asked once for each answer: whether what was sent is to blame for it. */
  blames({ id, response, at }: Answered): boolean {
    const others = this.#accepted.filter((accepted) => accepted.id !== id)
    const { status } = response
    const answer = status >= 200 && status < 300 ? readTaken(response, 'consent', []).kind : undefined
    if (answer === 'taken') this.#accepted = [{ id, at }, ...others.slice(0, 1)]
    if (answer !== 'foreign' && !statuses.has(status)) return false
    if (others.some((other) => at - other.at < acceptedForMs)) return true
    this.#takeBack()
    return false
  }
}
