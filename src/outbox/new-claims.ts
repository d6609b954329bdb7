import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { splitBytes } from '../lib/joined-bytes.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { TakenProducts } from '../mirror/loop-model.ts'
import type { NewProducts } from '../mirror/new-products.ts'
import type { ClaimedProduct } from './model.ts'
import type { OpenClaims } from './open-claims.ts'

const digestBytes = 16

/** Longer than a turn of the loop takes. */
const boundWithinMs = 5_000

/** New products that a call may have, if Redis lets it begin. They are put back unless it does. */
export interface NewOffer extends Disposable {
  taken: TakenProducts
  from: NewProducts
  session: string
}

/** Claims of this process whose products Redis does not know. One that does not end well as a whole becomes one that it knows. */
export class NewClaims {
  readonly #claims = new Map<string, NewOffer>()
  readonly #open: OpenClaims
  readonly #clock: Clock
  /** As the endpoint taught. */
  #bytesMax = Number.POSITIVE_INFINITY

  constructor(open: OpenClaims, clock: Clock) {
    this.#open = open
    this.#clock = clock
  }

  /** To be repeated every second by who makes calls. */
  prepare(from: NewProducts | undefined, bytesMax: number): void {
    from?.prepare(Math.min(bytesMax, this.#bytesMax))
  }

  /** Undefined: none are at hand. Those that fill no call are handed over when one is asked for. */
  offer(from: NewProducts | undefined, bytesMax: number): NewOffer | undefined {
    const taken = from?.take()
    from?.prepare(Math.min(bytesMax, this.#bytesMax), taken === undefined && from.isDue)
    if (!from || !taken) return undefined
    const isClaimed = () => [...this.#claims.values()].some((claim) => claim.taken === taken)
    const { session } = from
    return { taken, from, session, [Symbol.dispose]: () => void (isClaimed() || from.putBack(taken)) }
  }

  /** The call begins. Undefined: the products are sent again by others. */
  take(token: string, offer: NewOffer, bytesMax: number): ClaimedProduct[] | undefined {
    this.#bytesMax = bytesMax
    const { taken, from } = offer
    if (!from.isHeld(taken)) return undefined
    this.#claims.set(token, offer)
    const { ids, documents, waiting } = taken
    const bytes = Buffer.from(taken.digests.buffer)
    const claimed = splitBytes(documents).map((document, at): ClaimedProduct => {
      const digest = bytes.subarray(at * digestBytes, (at + 1) * digestBytes)
      return { productId: ids[at] as ProductId, document, digest }
    })
    let at = 0
    for (const { sinceMs, products } of waiting) {
      const first = claimed[at]
      if (first) first.place = { lane: 'new', sinceMs, products }
      at += products
    }
    return claimed
  }

  /** The endpoint took all products of the claim. False: Redis knows the claim, or there are others in it. */
  settle(token: string, products: readonly { productId: ProductId }[]): boolean {
    const claim = this.#claims.get(token)
    if (!claim || !this.#open.isWhole(token, products)) return false
    claim.from.settle(claim.taken.token)
    this.#claims.delete(token)
    this.#open.forget(token)
    return true
  }

  /** From then on Redis knows the claim, if it did not before. Throws where that takes too long: its lease runs out. */
  async bind(token: string): Promise<void> {
    const claim = this.#claims.get(token)
    if (!claim) return
    this.#claims.delete(token)
    const bound = claim.from.bind(claim.taken.token, token)
    if (!(await settlesWithin(this.#clock, boundWithinMs, bound)))
      throw new Error('Redis could not be told of the products of a call in time')
  }
}
