import type { Verdict } from '../api/classify.ts'
import type { NamedRefusal } from '../api/named-refusals.ts'
import type { Claim, ClaimedProduct, Refusal, ReleaseOutcome } from '../outbox/model.ts'
import {
  halveByBytes,
  halveByCount,
  largestSingleBytes,
  type Part,
  packParts,
  partBytes,
  shuffle,
} from './bisect.ts'
import type { DeliveryContext } from './context.ts'
import { type CallResult, deliverCall } from './deliver-call.ts'
import { Lease } from './lease.ts'
import { backoffMs } from './waiting.ts'
import { noteWait } from './watched-progress.ts'

/** A further call of a claim waits so long for the call rate; for longer waits its products go back. */
const admissionWaitMsMax = 2_000

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
  await new ClaimDelivery(claimed, lease, context).run()
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
    const { callBytes } = this.#context.config
    const { products } = this.#claimed.claim
    const fitting = products.filter((product) => partBytes([product]) <= callBytes)
    if (fitting.length < products.length) {
      await this.#refuseOversized(products.filter((product) => partBytes([product]) > callBytes))
    }
    // A claim fits into one call; should it ever not, the byte limit still holds.
    this.#parts.push(...packParts(fitting, callBytes).reverse())
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
      if (admission.kind === 'paused' || admission.forMs > admissionWaitMsMax) return false
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
    this.#callsMade += 1
    const { token } = this.#claimed.claim
    const { lost } = this.#lease
    const result = await deliverCall({ part, token, mayStart: this.#mayStart, lost }, this.#context)
    if (result !== 'withheld') return this.#settle(part, result)
    this.#callsMade -= 1
    this.#parts.push(part)
    return false
  }

  async #settle(part: Part, result: CallResult): Promise<boolean> {
    const { verdict } = result
    switch (verdict.kind) {
      case 'acknowledge':
        await this.#acknowledge(without(part, verdict.refused))
        await this.#refuseNamed(part, verdict.refused, result)
        return true
      case 'reject': {
        await this.#refuseNamed(part, verdict.refused, result)
        const rest = without(part, verdict.refused)
        if (rest.length > 0) this.#parts.push(rest)
        return true
      }
      case 'bisect':
        if (part.length === 1) return this.#refuseSingle(part, verdict.description, result)
        this.#parts.push(...halveByCount(shuffle(part, this.#context.random)))
        return true
      case 'split':
        return this.#split(part, result)
      default:
        await this.#giveBack(part, verdict)
        return false
    }
  }

  async #split(part: Part, result: CallResult): Promise<boolean> {
    if (part.length === 1) {
      return this.#refuseSingle(part, `too large for the endpoint (${result.bodyBytes} bytes)`, result)
    }
    const learned = Math.max(Math.floor(result.bodyBytes / 2), largestSingleBytes(part))
    await this.#context.outbox.learnBodyBytes(learned)
    this.#parts.push(...halveByBytes(part).reverse())
    return true
  }

  /** Ends the claim: calls are held or paused before the products go back, so that no other slot repeats the mistake. */
  async #giveBack(
    part: Part,
    verdict: Extract<Verdict, { kind: 'retry' | 'throttle' | 'pause' | 'unknown' }>,
  ): Promise<void> {
    const { outbox, gate, giveUp, random } = this.#context
    if (verdict.kind === 'pause') {
      // Closed again afterwards for claims that were granted while the pause was being written.
      gate.close()
      await outbox.pause('credentials', `${verdict.description}. ${verdict.hint}`)
      gate.close()
    } else if (!giveUp.aborted && this.#lease.held) {
      const failures = await outbox.countFailure(verdict.description)
      const usualMs = backoffMs(failures, random)
      const forMs =
        verdict.kind === 'throttle' ? (verdict.afterMs ?? usualMs) : Math.max(verdict.afterMs ?? 0, usualMs)
      await outbox.holdCalls(forMs, verdict.kind === 'throttle' ? 'throttled' : 'failing')
    }
    await this.#release(part, verdict.kind === 'unknown' ? 'unknown' : 'sent')
  }

  async #acknowledge(products: Part): Promise<void> {
    if (products.length > 0) await this.#context.outbox.acknowledge(this.#claimed.claim.token, products)
  }

  async #refuseNamed(part: Part, named: readonly NamedRefusal[], result: CallResult): Promise<void> {
    if (named.length === 0) return
    const reasons = new Map(named.map(({ productId, reason }) => [productId, reason]))
    const refusals = part.flatMap((product) => {
      const reason = reasons.get(product.productId)
      return reason === undefined ? [] : [toRefusal(product, reason, result)]
    })
    await this.#context.outbox.reject(this.#claimed.claim.token, refusals)
  }

  /** Answers false when the endpoint turns out to refuse everything: then the catalog is paused. */
  async #refuseSingle(part: Part, reason: string, result: CallResult): Promise<boolean> {
    const { outbox, gate, log } = this.#context
    const refusals = part.map((product) => toRefusal(product, reason, result))
    const answer = await outbox.rejectUnnamed(this.#claimed.claim.token, refusals)
    if (answer === 'rejected') return true
    gate.close()
    log.error({ reason }, 'the endpoint refuses everything: delivery is paused, nothing is dropped')
    return false
  }

  async #refuseOversized(products: Part): Promise<void> {
    const { config, log, outbox } = this.#context
    const { callBytes } = config
    const refusals = products.map((product) => {
      const reason = `the product needs a call of ${partBytes([product])} bytes, more than the ${callBytes} that one call may have; shorten its longest fields in the feed`
      return toRefusal(product, reason, { status: undefined, requestId: undefined })
    })
    log.warn(
      { products: refusals.length, productId: refusals[0]?.productId },
      `refused here: ${refusals[0]?.reason}`,
    )
    await outbox.reject(this.#claimed.claim.token, refusals)
  }

  async #release(products: Part, outcome: ReleaseOutcome): Promise<void> {
    if (products.length === 0) return
    const ids = products.map(({ productId }) => productId)
    await this.#context.outbox.release(this.#claimed.claim.token, ids, outcome)
  }
}

function without(part: Part, refused: readonly NamedRefusal[]): Part {
  if (refused.length === 0) return part
  const ids = new Set(refused.map(({ productId }) => productId))
  return part.filter(({ productId }) => !ids.has(productId))
}

function toRefusal(
  { productId, digest }: ClaimedProduct,
  reason: string,
  { status, requestId }: Pick<CallResult, 'status' | 'requestId'>,
): Refusal {
  return { productId, digest, reason, status, requestId }
}
