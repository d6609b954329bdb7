import { randomUUID } from 'node:crypto'
import type { ProductId } from '../lib/brand.ts'
import { joinBytes } from '../lib/joined-bytes.ts'
import { damaged } from './digest.ts'
import { drain } from './drain.ts'
import { type LaneNumbers, type LaneRank, laneRank, lanes } from './lanes.ts'
import type { NewCallRequest, TakenProducts } from './loop-model.ts'
import { NewPlaces, type TakenProduct } from './new-places.ts'
import type { Access, PlacedRow } from './places.ts'

/** Numbers are noted in advance, so that not each call waits for the disk. After a crash so many may be echoed for nothing. */
const reservedNumbers = 8_192

interface Taken {
  /** The first of its numbers. */
  first: number
  products: readonly TakenProduct[]
  /** A change of one of its products waits for its end. */
  isAwaited: boolean
}

type Settled = Extract<NewCallRequest, { kind: 'settled' }>

/**
 * New products that calls of this process take from the mirror, without Redis: those of which it can know nothing. Which of
 * them are on their way is known in memory alone; after a crash all that may have been is bound to a claim whose lease has
 * ended. A product that is changed while it is on its way is offered when that call has ended.
 *
 * A product waits → is taken → is acknowledged here, or is bound in Redis to the claim of its call and goes on there.
 */
export class NewCalls {
  readonly #access: Access
  readonly #change: <T>(work: () => T) => T
  readonly #places: NewPlaces
  readonly #taken = new Map<string, Taken>()
  readonly #tokens = new Map<ProductId, string>()
  #settled: Settled[] = []
  #returned: string[] = []
  /** Calls that shall not begin, since a change waits for their end. */
  #recalls: string[] = []
  #bindings: { token: string; claim: string }[] = []
  /** For so many calls, of at most so many bytes each. `isPart`: the next need not be full. */
  #wanted = { calls: 0, bytesMax: 0, isPart: false }
  /** Whether anybody has asked since this was asked last. */
  #isAsked = true
  /** Calls are made where the mirror is. */
  areMade = true
  /** Up to this number the places of the lane `new` are taken or offered. */
  #position = 0
  /** The number with which there may be a full call, after there was none. */
  #fullAt = 0
  #isRecovered = false

  constructor(access: Access, change: <T>(work: () => T) => T) {
    this.#access = access
    this.#change = change
    this.#places = new NewPlaces(access)
  }

  /** Nobody waits for it here: it is served in a turn of the loop. */
  ask(request: NewCallRequest): void {
    switch (request.kind) {
      case 'want':
        this.#isAsked = true
        this.#wanted = {
          calls: this.#wanted.calls + request.calls,
          bytesMax: request.bytesMax,
          isPart: this.#wanted.isPart || request.isPart,
        }
        this.#access.places.fresh.areWanted = true
        return
      case 'settled':
        this.#settled.push(request)
        return
      case 'bind':
        this.#bindings.push(request)
        return
      case 'return':
        this.#returned.push(request.token)
        return
      case 'rest':
        this.areMade = false
        return
      default:
        request satisfies never
    }
  }

  /** Whether anybody has asked since the last time. */
  takeAsked(): boolean {
    const isAsked = this.#isAsked
    this.#isAsked = false
    return isAsked
  }

  /** Up to which number the places of the lane `new` are taken or offered. `offered`: as Redis knows it. */
  positionFrom(offered: number): number {
    return Math.max(this.#position, offered)
  }

  /** All places up to this number are settled here, or known to Redis, where those up to `position` are taken or offered. */
  settledUpTo(position: number): number {
    let least = position
    for (const { first } of this.#taken.values()) least = Math.min(least, first - 1)
    return least
  }

  noteOffered(position: number): void {
    this.#position = Math.max(this.#position, position)
  }

  /** Whether the product is on its way in a call that Redis does not know. Its change waits for the end of that, and nothing else. */
  awaits(productId: ProductId): boolean {
    const taken = this.#taken.get(this.#tokens.get(productId) ?? '')
    if (taken && !taken.isAwaited) {
      taken.isAwaited = true
      this.#recalls.push(this.#tokens.get(productId) ?? '')
    }
    return taken !== undefined
  }

  /** What is next in the lane `new`: for a call, for Redis, or nothing at all. */
  next(after: number): ReturnType<NewPlaces['next']> {
    return this.#places.next(after)
  }

  /** Something is on its way without Redis. */
  get isBusy(): boolean {
    return this.#taken.size > 0
  }

  get hasSettled(): boolean {
    return this.#settled.length > 0
  }

  /** A change waits for the end of a call that has ended. */
  get isAwaited(): boolean {
    return this.#settled.some(({ token }) => this.#taken.get(token)?.isAwaited)
  }

  get bindings(): readonly { token: string; claim: string }[] {
    return this.#bindings
  }

  takeRecalls(): string[] {
    return this.#recalls.splice(0)
  }

  get hasReturned(): boolean {
    return this.#returned.length > 0
  }

  /** Whether somebody asks for products, and there may be enough of them. */
  mayTake(after: number): boolean {
    const { last } = this.#numbers
    const { calls, isPart } = this.#wanted
    return calls > 0 && last.new > after && (isPart || last.new >= this.#fullAt)
  }

  /**
   * The next products that fill a call, or as many as there are where a part of one is wanted. Undefined: there are none. It
   * is durable that they may be on their way.
   */
  take(after: number): TakenProducts | undefined {
    const { bytesMax, isPart } = this.#wanted
    const { products, documents, waiting, ...read } = this.#places.readCall(after, bytesMax)
    const { first, last } = read
    this.#wanted.isPart = false
    if (products.length === 0 || (!read.isFull && !isPart)) {
      this.#fullAt = Math.max(after + read.rowsFull, this.#numbers.last.new + 1)
      return undefined
    }
    const token = randomUUID()
    if (last > this.#numbers.reserved) this.#reserve(last + reservedNumbers)
    this.#note(token, { products, first, isAwaited: false }, last)
    this.#wanted.calls -= 1
    const ids = products.map(({ productId }) => productId)
    const digests = joinBytes(products.map(({ digest }) => digest)).bytes
    return { token, ids, digests, documents: joinBytes(documents), waiting }
  }

  /** Those of a call that has not ended well, or may not have. */
  productsOf(token: string): readonly TakenProduct[] {
    return this.#taken.get(token)?.products ?? []
  }

  /** Takes over what was acknowledged. What was changed meanwhile, and perhaps passed over, takes a new number. */
  settle(nowMs: number): void {
    const settled = this.#settled
    const positions = this.#numbers.offered
    const acknowledged = settled.flatMap(({ token }) =>
      this.productsOf(token).map(({ key, productId, digest }) => ({ key, productId, digest, held: false })),
    )
    const isLast = settled.length === this.#taken.size
    this.#change(() => {
      drain(this.#access, { acknowledged, positions }, nowMs)
      if (isLast) this.#numbers.reserved = 0
    })
    this.#settled = []
    for (const { token } of settled) this.#end(token)
  }

  /** Nothing of these calls was sent: others send it. */
  takeBack(): void {
    this.#change(() => {
      for (const token of this.#returned) this.#renumber(this.productsOf(token))
    })
    for (const token of this.#returned.splice(0)) this.#end(token)
  }

  /** Redis knows them from now on. */
  noteBound(token: string): void {
    this.#change(() => this.#renumber(this.productsOf(token), 'changed'))
    this.#end(token)
    this.#bindings = this.#bindings.filter((binding) => binding.token !== token)
  }

  /**
   * Once, where Redis is as this mirror has left it: what may have been on its way when the process before this one ended is to
   * be bound to a claim that nobody has, so that it is sent again, and echoed, when its lease ends. `offered`: up to which number Redis was offered the lane.
   */
  recover(offered: number): void {
    if (this.#isRecovered) return
    this.#isRecovered = true
    const { reserved, last } = this.#numbers
    if (reserved <= offered) return
    const sql = `SELECT s.product, s.lane, s.digest, p.id, s.bytes FROM sending s LEFT JOIN products p ON p.key = s.product
      WHERE s.number IS NOT NULL AND ((s.lane = ? AND s.number > ? AND s.number <= ?) OR s.known = 1)`
    const rows = this.#access.database.rows<
      [key: number, lane: LaneRank, digest: Uint8Array | null, productId: ProductId, bytes: number]
    >(sql, laneRank.new, offered, reserved)
    const products = rows.flatMap(([key, rank, digest, productId, bytes]) => {
      if (typeof productId !== 'string') throw damaged(this.#access.database.file)
      return digest ? { key, productId, digest: Buffer.from(digest), bytes, lane: lanes[rank] } : []
    })
    const withdrawn = rows.flatMap(([key, , digest]) => (digest === null ? { key } : []))
    if (withdrawn.length > 0) this.#change(() => this.#renumber(withdrawn))
    const token = randomUUID()
    this.#note(token, { products, first: offered + 1, isAwaited: false }, Math.min(reserved, last.new))
    this.#bindings.push({ token, claim: token })
  }

  /** All that was offered or taken is offered again. */
  forget(): void {
    this.#taken.clear()
    this.#tokens.clear()
    this.#settled = []
    this.#bindings = []
    this.#returned = []
    this.#recalls = []
    this.#wanted.calls = 0
    this.#position = 0
    this.#fullAt = 0
    this.#isRecovered = true
  }

  /** No more calls are made: where none is on its way, the next start finds nothing to bind. */
  close(nowMs: number): void {
    if (this.hasSettled) this.settle(nowMs)
    if (this.hasReturned) this.takeBack()
    if (!this.isBusy && this.#numbers.reserved > 0) this.#reserve(0)
  }

  get #numbers(): LaneNumbers {
    return this.#access.places.numbers
  }

  #note(token: string, taken: Taken, last: number): void {
    this.#taken.set(token, taken)
    for (const { productId } of taken.products) this.#tokens.set(productId, token)
    for (let number = taken.first; number <= last; number += 1) this.#access.places.fresh.delete(number)
    this.#position = last
    this.#fullAt = 0
    this.#numbers.noteOffered('new', last)
  }

  #reserve(number: number): void {
    this.#change(() => {
      this.#numbers.reserved = number
    })
  }

  #end(token: string): void {
    for (const { productId } of this.productsOf(token)) this.#tokens.delete(productId)
    this.#taken.delete(token)
  }

  /** `changed`: those that were, and perhaps passed over. */
  #renumber(products: readonly { key: number }[], which: 'changed' | 'all' = 'all'): void {
    const { database, places } = this.#access
    const sql = `SELECT product AS key, lane, number, since, known FROM sending
      WHERE product = ? AND number IS NOT NULL`
    for (const { key } of products) {
      const row = database.get<PlacedRow & { lane: LaneRank }>(sql, key)
      if (row && (which === 'all' || row.known !== null)) places.give(row, row.lane, row.since ?? 0)
    }
  }
}
