import { type FailureVerdict, isAboutProducts } from '../api/classify.ts'
import { halveByBytes, partBytes, settlePart } from '../api/upsert-batch.ts'
import type { Claim, ClaimedProduct, Refusal, ReleaseOutcome } from '../outbox/model.ts'
import type { DeliveryContext } from './context.ts'
import { type CallResult, deliverCall } from './deliver-call.ts'
import { Lease } from './lease.ts'
import { backoffMs, holdAfter } from './waiting.ts'
import { noteWait } from './watched-progress.ts'

/** A further call of a claim waits so long for the call rate; for longer waits its products go back. */
const admissionWaitMsMax = 2_000

/** Products of one call. Never empty. */
type Part = readonly ClaimedProduct[]

export interface ClaimToDeliver {
  claim: Claim
  /** Of the gate, taken before the claim was asked for. */
  pass: number
  /** Monotonic time before the claim was asked for. */
  askedAt: number
  /** No further call starts once it is aborted. */
  stop: AbortSignal
}

/** Sends a claim's products and settles every one of them. Throws only when the outbox does (Redis is away). */
export async function deliverClaim(claimed: ClaimToDeliver, context: DeliveryContext): Promise<void> {
  using lease = new Lease({
    renew: () => context.outbox.renew(claimed.claim.token),
    beganAt: claimed.askedAt,
    clock: context.clock,
  })
  try {
    await new ClaimDelivery(claimed, lease, context).run()
  } catch (error) {
    context.outbox.abandon(claimed.claim.token)
    throw error
  }
}

/**
 * One claim on its way, as a stack of parts that are still to be sent; at first all of it is one part.
 *
 * A part is sent, and then: taken → acknowledged · some refused by name → those are dead letters, the rest is a part
 * again · refused unnamed → its halves are parts, a single product is a dead letter (G7) · too large → its halves by
 * bytes are parts, and the limit is remembered · anything else ends the claim: the part goes back (as unknown where
 * the request may have taken effect), and so do all parts that were not sent. Depth first, so that an accepted
 * neighbour is seen early and "refuses everything" is told apart from many bad products.
 */
class ClaimDelivery {
  readonly #claimed: ClaimToDeliver
  readonly #lease: Lease
  readonly #context: DeliveryContext
  /** The last is sent next. */
  readonly #parts: Part[] = []
  #callsMade = 0

  constructor(claimed: ClaimToDeliver, lease: Lease, context: DeliveryContext) {
    this.#claimed = claimed
    this.#lease = lease
    this.#context = context
  }

  async run(): Promise<void> {
    const { products } = this.#claimed.claim
    if (products.length > 0) this.#parts.push(products)
    let goOn = true
    while (goOn && this.#parts.length > 0) goOn = (await this.#admit()) && (await this.#sendNext())
    // Halves and rests were in a call that failed, and it is not stated what such a call took.
    await this.#release(this.#parts.flat(), this.#callsMade > 0 ? 'sent' : 'not-sent')
  }

  /** The first call was admitted with the claim; further ones ask, because a pause or a rate limit binds them too. */
  async #admit(): Promise<boolean> {
    const { outbox, clock, progress } = this.#context
    for (let first = this.#callsMade === 0; ; first = false) {
      if (!this.#mayStart()) return false
      if (first) return true
      const admission = await outbox.admitCall()
      if (admission.kind === 'admitted') return true
      if (admission.kind !== 'wait' || admission.forMs > admissionWaitMsMax) return false
      noteWait(progress, admission)
      await clock.sleep(admission.forMs, this.#claimed.stop).catch(() => {})
    }
  }

  #mayStart = (): boolean => {
    const { stop, pass } = this.#claimed
    return this.#lease.held && !stop.aborted && this.#context.gate.isOpen(pass)
  }

  /** Answers false when the claim ends here. */
  async #sendNext(): Promise<boolean> {
    const part = this.#parts.pop()
    if (!part) return false
    if (partBytes(part) > this.#context.config.callBytes) return this.#keepToLimit(part)
    this.#callsMade += 1
    const { token, products, lanes } = this.#claimed.claim
    const { lost } = this.#lease
    const isWhole = part.length === products.length
    const request = { part, token, mayStart: this.#mayStart, lost, lanes: isWhole ? lanes : undefined }
    const result = await deliverCall(request, this.#context)
    if (result !== 'withheld') return this.#settle(part, result)
    this.#callsMade -= 1
    this.#parts.push(part)
    return false
  }

  async #settle(part: Part, result: CallResult): Promise<boolean> {
    const { verdict, bodyBytes } = result
    const isAnswered = result.status !== undefined
    if (isAnswered) this.#context.standing.noteAnswer()
    if (!isAboutProducts(verdict)) {
      await this.#giveBack(part, verdict, isAnswered)
      return false
    }
    const { outbox, random, meter } = this.#context
    const { token } = this.#claimed.claim
    const { taken, refused, refusedAlone, again } = settlePart(part, verdict, random)
    if (taken.length > 0) await outbox.acknowledge(token, taken)
    const refusals = refused.map(({ product, reason }) => toRefusal(product, reason, result))
    if (refusals.length > 0) await outbox.reject(token, refusals)
    meter?.settled(taken, refusals.length)
    if (refusedAlone) return this.#refuseAlone(refusedAlone, result)
    if (verdict.kind === 'split') {
      // No limit is learned that a single product of this call would exceed.
      const half = Math.floor(bodyBytes / 2)
      await outbox.learnBodyBytes(part.reduce((most, one) => Math.max(most, partBytes([one])), half))
    }
    this.#parts.push(...again)
    return true
  }

  /** Ends the claim: calls are held or paused before the products go back, so that no other slot repeats the mistake. */
  async #giveBack(part: Part, verdict: FailureVerdict, isAnswered: boolean): Promise<void> {
    const { outbox, gate, standing, giveUp, random } = this.#context
    if (verdict.kind === 'pause') {
      standing.refused = 'paused'
      // Closed again afterwards for claims that were granted while the pause was being written.
      gate.close()
      await outbox.pause('credentials', `${verdict.description}. ${verdict.hint}`)
      gate.close()
    } else if (!giveUp.aborted && this.#lease.held) {
      const unanswered = isAnswered ? 0 : standing.noteSilence()
      const failures = await outbox.countFailure(verdict.description)
      const { forMs, reason } = holdAfter(verdict, backoffMs(Math.max(unanswered, failures), random))
      // A call that is taken sets the count of all processes to 0: others are answered, this one is not.
      if (unanswered > failures) standing.standBack(forMs)
      else await outbox.holdCalls(forMs, reason)
    }
    await this.#release(part, verdict.kind === 'unknown' ? 'unknown' : 'sent')
  }

  /** Answers false when the endpoint turns out to refuse everything: then the catalog is paused. */
  async #refuseAlone(product: ClaimedProduct, result: CallResult): Promise<boolean> {
    const { outbox, gate, log, meter } = this.#context
    const { verdict, bodyBytes } = result
    const reason =
      verdict.kind === 'bisect' ? verdict.description : `too large for the endpoint (${bodyBytes} bytes)`
    const refusal = toRefusal(product, reason, result)
    const answer = await outbox.rejectUnnamed(this.#claimed.claim.token, [refusal])
    if (answer === 'rejected') {
      meter?.settled([], 1)
      return true
    }
    gate.close()
    log.error({ reason }, 'the endpoint refuses everything: delivery is paused, nothing is dropped')
    return false
  }

  /** A claim of several products fits into one call. If it ever does not, this keeps the limit all the same. */
  async #keepToLimit(part: Part): Promise<boolean> {
    const [product] = part
    if (!product || part.length > 1) {
      this.#parts.push(...halveByBytes(part))
      return true
    }
    const { config, log, outbox } = this.#context
    const reason = `the product needs a call of ${partBytes(part)} bytes, more than the ${config.callBytes} that one call may have; shorten its longest fields in the feed`
    log.warn({ productId: product.productId }, `refused here: ${reason}`)
    const refusal = toRefusal(product, reason, { status: undefined, requestId: undefined })
    await outbox.reject(this.#claimed.claim.token, [refusal])
    return true
  }

  async #release(products: Part, outcome: ReleaseOutcome): Promise<void> {
    if (products.length === 0) return
    const ids = products.map(({ productId }) => productId)
    await this.#context.outbox.release(this.#claimed.claim.token, ids, outcome)
  }
}

function toRefusal(
  { productId, digest }: ClaimedProduct,
  reason: string,
  { status, requestId }: Pick<CallResult, 'status' | 'requestId'>,
): Refusal {
  return { productId, digest, reason, status, requestId }
}
