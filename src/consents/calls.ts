import type { ConsentId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import type { Claim, ClaimedProduct } from '../outbox/model.ts'
import { decodeConsent, digestConsent } from './document.ts'
import type { ConsentPosition } from './position.ts'
import type { UnconfirmedAttempt } from './unconfirmed.ts'

/** A consent that this process is sending. */
export interface ConsentCall {
  token: string
  id: ConsentId
  consent: boolean
  position: ConsentPosition
  unconfirmed: UnconfirmedAttempt | undefined
  /** The endpoint took an earlier state of it. */
  wasAcknowledged: boolean
  /** Wall-clock ms of the claim: its call cannot have begun earlier. */
  claimedAt: number
  claim: Claim
}

/** Reads what `claim-consent` answers behind `claimed`. */
export function readClaim(token: string, answer: readonly unknown[], clock: Clock): ConsentCall {
  const [id, document, position, unconfirmed, wasAcknowledged] = answer as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    number,
  ]
  const { consent } = decodeConsent(document)
  const product: ClaimedProduct = {
    productId: id.toString() as ConsentId,
    document,
    digest: digestConsent(consent),
  }
  return {
    token,
    id: id.toString() as ConsentId,
    consent,
    position: position.toString() as ConsentPosition,
    unconfirmed: readAttempt(unconfirmed.toString()),
    wasAcknowledged: Number(wasAcknowledged) === 1,
    claimedAt: clock.now(),
    claim: { token, products: [product], documentBytes: document.length },
  }
}

function readAttempt(text: string): UnconfirmedAttempt | undefined {
  const [position, at] = text.split(' ')
  return position && at ? { position: position as ConsentPosition, at: Number(at) } : undefined
}

/**
 * Which consents this process is sending, and which it has written down as acknowledged without Redis knowing yet: none
 * of them is sent by another slot meanwhile, whatever Redis has forgotten.
 */
export class OpenCalls {
  readonly #byToken = new Map<string, ConsentCall>()
  readonly #inFlight = new Set<ConsentId>()
  /** Id → offset behind its line in the journal. */
  readonly #untold = new Map<ConsentId, number>()

  add(call: ConsentCall): void {
    this.#byToken.set(call.token, call)
    this.#inFlight.add(call.id)
  }

  get(token: string): ConsentCall | undefined {
    return this.#byToken.get(token)
  }

  has(id: ConsentId): boolean {
    return this.#inFlight.has(id) || this.#untold.has(id)
  }

  /** `offset`: Redis learns of the outcome from the journal. */
  end({ token, id }: ConsentCall, offset?: number): void {
    this.#byToken.delete(token)
    this.#inFlight.delete(id)
    if (offset === undefined) return
    // Behind all others, as its line is in the journal.
    this.#untold.delete(id)
    this.#untold.set(id, offset)
  }

  /** Redis knows the journal up to there. */
  told(offset: number): void {
    for (const [id, line] of this.#untold) {
      if (line > offset) return
      this.#untold.delete(id)
    }
  }

  get untold(): number {
    return this.#untold.size
  }
}
