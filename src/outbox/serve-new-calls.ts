import type { NewCallAnswer } from '../mirror/loop-model.ts'
import type { TakenProduct } from '../mirror/new-places.ts'
import { checkSession, type LoopAccess } from './loop-access.ts'
import { leaseMs } from './model.ts'
import { type LaneState, manyRows, takesNew } from './pump.ts'
import { laneCodes } from './scripts/scripts.ts'

/** One script blocks Redis for some milliseconds. */
const boundMax = 2_000
/** New products wait so much longer for others while an import goes on. */
const importsForMs = 2_000
/** Who delivers asks every second; where nobody has for so long, Redis gets new products, too. */
const askedForMs = 10_000
const toldAgainMs = 200

/** What a turn does for calls of new products that are made where the mirror is. */
export class NewCallService {
  readonly #access: LoopAccess
  #settledAt = Number.NEGATIVE_INFINITY
  #toldDueAt = Number.NEGATIVE_INFINITY
  #askedAt: number

  constructor(access: LoopAccess) {
    this.#access = access
    this.#askedAt = access.clock.monotonic()
  }

  /** What needs no Redis: to be called in each turn. */
  begin(state: LaneState): void {
    const { mirror, clock } = this.#access
    const { newCalls } = mirror
    const now = clock.monotonic()
    if (newCalls.takeAsked()) {
      this.#askedAt = now
      newCalls.areMade = true
    } else if (now - this.#askedAt >= askedForMs) newCalls.areMade = false
    for (const token of newCalls.takeRecalls()) this.#answer({ kind: 'recalled', token })
    if (now - this.#toldDueAt < toldAgainMs || !this.#isPartDue(state)) return
    this.#toldDueAt = now
    this.#answer({ kind: 'due' })
  }

  /** Whether there is anything to do. `isBusy`: the turn does something else, too. */
  hasWork(state: LaneState, isBusy: boolean): boolean {
    const { newCalls } = this.#access.mirror
    if (newCalls.bindings.length > 0 || newCalls.hasReturned) return true
    return this.#takesAfter(state) !== undefined || this.#settles(state, isBusy)
  }

  /** Something is on its way, or waits for others. */
  isBusy(state: LaneState): boolean {
    const { newCalls } = this.#access.mirror
    return newCalls.isBusy || (takesNew(this.#access, state) && this.#next(state).for === 'call')
  }

  async run(state: LaneState, isBusy: boolean): Promise<void> {
    const { mirror, clock } = this.#access
    const { newCalls } = mirror
    if (this.#settles(state, isBusy)) {
      this.#settledAt = clock.monotonic()
      newCalls.settle(clock.now())
    }
    for (const { token, claim } of newCalls.bindings) {
      await this.#bind(newCalls.productsOf(token), claim)
      newCalls.noteBound(token)
      this.#answer({ kind: 'bound', token })
    }
    if (newCalls.hasReturned) newCalls.takeBack()
    for (let after = this.#takesAfter(state); after !== undefined; after = this.#takesAfter(state)) {
      const taken = newCalls.take(after)
      if (taken) this.#answer({ kind: 'taken', taken })
    }
  }

  /** Redis and the mirror belong together. `offered`: up to which number Redis knows the lane `new`. */
  open(offered: number): void {
    this.#access.mirror.newCalls.recover(offered)
    this.#answer({ kind: 'opened', session: this.#access.session })
  }

  /** Nothing that was taken may begin from now on, and what is on its way is doubtful as all that Redis knows. */
  forget(): void {
    const { mirror, clock } = this.#access
    if (mirror.newCalls.hasSettled) mirror.newCalls.settle(clock.now())
    mirror.newCalls.forget()
    this.#answer({ kind: 'forgotten' })
  }

  /** Many together are taken over in less time; not while somebody waits for it, or nothing else is done. */
  #settles(state: LaneState, isBusy: boolean): boolean {
    const { mirror, clock, drainAfterMs } = this.#access
    const { newCalls } = mirror
    if (!newCalls.hasSettled) return false
    if (newCalls.isAwaited || clock.monotonic() - this.#settledAt >= drainAfterMs) return true
    return !isBusy && this.#next(state).for === 'nobody'
  }

  #answer(answer: NewCallAnswer): void {
    this.#access.onNewCalls?.(answer)
  }

  #next(state: LaneState) {
    const { newCalls } = this.#access.mirror
    return newCalls.next(newCalls.positionFrom(state.positions.new))
  }

  /** Behind which number products are taken now; undefined: none are. */
  #takesAfter(state: LaneState): number | undefined {
    const { newCalls } = this.#access.mirror
    const after = newCalls.positionFrom(state.positions.new)
    const mayTake = takesNew(this.#access, state) && newCalls.mayTake(after)
    return mayTake && newCalls.next(after).for === 'call' ? after : undefined
  }

  /** New products wait that have waited long enough for others, or wait for none. */
  #isPartDue(state: LaneState): boolean {
    const { mirror, clock, newAfterMs } = this.#access
    if (!takesNew(this.#access, state)) return false
    const next = this.#next(state)
    if (next.for !== 'call') return false
    const ageMs = clock.now() - next.since
    const isImporting = mirror.isImporting()
    const after = mirror.newCalls.positionFrom(state.positions.new)
    const areMany = mirror.readIdentity().last.new - after >= manyRows
    const isLate = ageMs < 0 || ageMs >= newAfterMs + (isImporting ? importsForMs : 0)
    return isLate || (areMany && !isImporting)
  }

  async #bind(products: readonly TakenProduct[], claim: string): Promise<void> {
    const { connection, scripts, session } = this.#access
    for (let start = 0; start < Math.max(1, products.length); start += boundMax) {
      const part = products.slice(start, start + boundMax)
      const args = part.flatMap(({ productId, digest, lane, bytes }) => [
        ...[productId, digest, laneCodes[lane], bytes],
      ])
      checkSession(await scripts.run(connection, 'bind', [session, claim, leaseMs, ...args]))
    }
  }
}
