import { bodyBytesOf } from '../../src/api/catalog-calls.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type {
  CallAdmission,
  ClaimAnswer,
  ClaimedProduct,
  ClaimMode,
  DeliveryOutbox,
  DueAnswer,
  PauseReason,
  Refusal,
  ReleaseOutcome,
} from '../../src/outbox/model.ts'

type Lane = 'urgent' | 'new' | 'deferred'

interface Entry {
  document: Buffer
  acknowledged: Buffer | undefined
  lane: Lane | undefined
  dueAt: number
  echoAt: number | undefined
  claim: { token: string; beganAt: number; lane: Lane | undefined; dueAt: number } | undefined
  dead: Refusal | undefined
}

const refusedInARowMax = 20
const lanes: readonly Lane[] = ['urgent', 'new', 'deferred']

/** The outbox as `src/outbox/model.ts` describes it, in the memory of one process. */
export class MemoryOutbox implements DeliveryOutbox {
  readonly entries = new Map<string, Entry>()
  readonly leases = new Map<string, number>()
  readonly pauses = new Map<PauseReason, string>()
  readonly holds: { forMs: number; reason: string }[] = []
  readonly failureTexts: string[] = []
  readonly counted: { bodyBytes: number; products: number; answered: boolean }[] = []
  learned: number | undefined
  failures = 0
  #refusedInARow: string[] = []
  #heldUntil = 0
  #probedUntil = 0
  #probeTurnUntil = 0
  #tokens = 0
  readonly #clock: Clock
  readonly #options: { leaseMs: number; horizonMs: number }

  constructor(clock: Clock, options: Partial<{ leaseMs: number; horizonMs: number }> = {}) {
    this.#clock = clock
    this.#options = { leaseMs: 15_000, horizonMs: 120_000, ...options }
  }

  /** What the writer does: the newest document of a product, and the lane its change belongs in. */
  offer(id: string, document: Buffer, lane: Lane = 'new', dueInMs = 0): void {
    const entry = this.entries.get(id)
    const dueAt = this.#clock.now() + dueInMs
    if (!entry) {
      const rest = { acknowledged: undefined, echoAt: undefined, claim: undefined, dead: undefined }
      this.entries.set(id, { document, lane, dueAt, ...rest })
      return
    }
    entry.document = document
    entry.dead = undefined
    if (entry.acknowledged?.equals(digestDocument(document))) entry.lane = undefined
    else enter(entry, lane, dueAt)
  }

  get acknowledged(): string[] {
    return this.idsWhere((entry) => entry.acknowledged?.equals(digestDocument(entry.document)) === true)
  }
  get dead(): Map<string, Refusal> {
    return new Map([...this.entries].flatMap(([id, { dead }]) => (dead ? [[id, dead] as const] : [])))
  }
  get pending(): string[] {
    return this.idsWhere((entry) => entry.lane !== undefined)
  }
  get echoes(): string[] {
    return this.idsWhere((entry) => entry.echoAt !== undefined)
  }
  get claimed(): string[] {
    return this.idsWhere((entry) => entry.claim !== undefined)
  }
  idsWhere(test: (entry: Entry) => boolean): string[] {
    return [...this.entries].filter(([, entry]) => test(entry)).map(([id]) => id)
  }

  async claim({ mode, bodyBytesMax }: { mode: ClaimMode; bodyBytesMax: number }): Promise<ClaimAnswer> {
    const barred = this.#barred()
    if (barred) return barred
    const limit = Math.min(bodyBytesMax, this.learned ?? bodyBytesMax)
    const token = `claim-${++this.#tokens}`
    const products: ClaimedProduct[] = []
    let documentBytes = 0
    for (const [id, entry] of this.#due(mode)) {
      const grown = bodyBytesOf({
        count: products.length + 1,
        documentBytes: documentBytes + entry.document.length,
      })
      if (grown > limit && products.length > 0) continue
      const { document } = entry
      products.push({ productId: id as ProductId, document, digest: digestDocument(document) })
      documentBytes += document.length
      entry.claim = { token, beganAt: this.#clock.now(), lane: entry.lane, dueAt: entry.dueAt }
      entry.lane = undefined
      if (grown > limit) break
    }
    if (products.length === 0) return { kind: 'idle', nextDueMs: this.#nextDueMs() }
    this.leases.set(token, this.#clock.now() + this.#options.leaseMs)
    return { kind: 'claimed', claim: { token, products, documentBytes } }
  }

  async admitCall(): Promise<CallAdmission> {
    return this.#barred() ?? { kind: 'admitted' }
  }

  async renew(token: string): Promise<boolean> {
    if ((this.leases.get(token) ?? 0) <= this.#clock.now()) return false
    this.leases.set(token, this.#clock.now() + this.#options.leaseMs)
    return true
  }

  async acknowledge(token: string, products: readonly ClaimedProduct[]): Promise<void> {
    for (const { productId, digest } of products) {
      const entry = this.#bound(token, productId)
      if (!entry?.claim) continue
      entry.acknowledged = digest
      if (entry.echoAt !== undefined && entry.echoAt <= entry.claim.beganAt) entry.echoAt = undefined
      entry.claim = undefined
      if (digest.equals(digestDocument(entry.document))) entry.lane = undefined
      this.failures = 0
      this.#refusedInARow = []
    }
    this.#endWhenSettled(token)
  }

  async release(token: string, ids: readonly ProductId[], outcome: ReleaseOutcome): Promise<void> {
    for (const id of ids) {
      const entry = this.#bound(token, id)
      if (!entry?.claim) continue
      const { lane, dueAt } = entry.claim
      entry.claim = undefined
      if (lane) enter(entry, lane, dueAt)
      if (outcome === 'unknown') entry.echoAt = this.#clock.now() + this.#options.horizonMs
    }
    this.#endWhenSettled(token)
  }

  async reject(token: string, refusals: readonly Refusal[]): Promise<void> {
    this.#bury(token, refusals)
  }

  async rejectUnnamed(
    token: string,
    refusals: readonly Refusal[],
  ): Promise<'rejected' | 'refuses-everything'> {
    this.#refusedInARow.push(...this.#bury(token, refusals))
    if (this.#refusedInARow.length < refusedInARowMax) return 'rejected'
    for (const id of this.#refusedInARow) {
      const entry = this.entries.get(id)
      if (!entry?.dead) continue
      entry.dead = undefined
      enter(entry, 'new', this.#clock.now())
    }
    this.#refusedInARow = []
    this.pauses.set('refuses-everything', 'look at the last answer')
    return 'refuses-everything'
  }

  async holdCalls(forMs: number, reason: 'throttled' | 'failing'): Promise<void> {
    this.holds.push({ forMs, reason })
    this.#heldUntil = Math.max(this.#heldUntil, this.#clock.now() + forMs)
  }
  async countFailure(description: string): Promise<number> {
    this.failureTexts.push(description)
    this.failures += 1
    return this.failures
  }
  async pause(reason: PauseReason, hint: string): Promise<void> {
    this.pauses.set(reason, hint)
  }
  async resume(reason: PauseReason, how: 'probed' | 'tried' | 'operator'): Promise<void> {
    this.pauses.delete(reason)
    if (how === 'probed') this.#probedUntil = this.#clock.now() + 60_000
  }
  async pausedFor(): Promise<PauseReason[]> {
    return [...this.pauses.keys()]
  }
  async takeProbeTurn(forMs: number): Promise<boolean> {
    if (this.#probeTurnUntil > this.#clock.now()) return false
    this.#probeTurnUntil = this.#clock.now() + forMs
    return true
  }
  async recentlyProbed(): Promise<boolean> {
    return this.#probedUntil > this.#clock.now()
  }
  async learnedBodyBytes(): Promise<number | undefined> {
    return this.learned
  }
  async learnBodyBytes(bytes: number): Promise<void> {
    this.learned = Math.min(bytes, this.learned ?? bytes)
  }
  async countCall(call: { bodyBytes: number; products: number; answered: boolean }): Promise<void> {
    this.counted.push(call)
  }

  async expireClaims(): Promise<number> {
    let count = 0
    for (const [token, endsAt] of this.leases) {
      if (endsAt > this.#clock.now()) continue
      const ids = this.idsWhere((entry) => entry.claim?.token === token) as ProductId[]
      await this.release(token, ids, 'unknown')
      this.leases.delete(token)
      count += ids.length
    }
    return count
  }

  async lookDue(): Promise<DueAnswer> {
    if (this.#barred()) {
      const heldMs = this.pauses.size > 0 ? 0 : this.#heldUntil - this.#clock.now()
      return { urgentDue: false, anyDue: false, nextDueMs: heldMs > 0 ? heldMs : undefined }
    }
    const urgentDue = this.#due('urgent').length > 0
    return { urgentDue, anyDue: urgentDue || this.#due('any').length > 0, nextDueMs: this.#nextDueMs() }
  }

  #barred(): Exclude<CallAdmission, { kind: 'admitted' }> | undefined {
    if (this.pauses.size > 0) return { kind: 'paused', reasons: [...this.pauses.keys()] }
    const forMs = this.#heldUntil - this.#clock.now()
    return forMs > 0 ? { kind: 'wait', forMs } : undefined
  }

  /** Urgent, then echoes, new, deferred; within each, the oldest first. */
  #due(mode: ClaimMode): [string, Entry][] {
    const now = this.#clock.now()
    const free = [...this.entries].filter(([, { claim, dead }]) => !claim && !dead)
    const inLane = (lane: Lane) =>
      free
        .filter(([, entry]) => entry.lane === lane && entry.dueAt <= now)
        .sort(([, a], [, b]) => a.dueAt - b.dueAt)
    if (mode === 'urgent') return inLane('urgent')
    const echoes = free.filter(([, entry]) => entry.echoAt !== undefined && entry.echoAt <= now)
    return [...new Map([...inLane('urgent'), ...echoes, ...inLane('new'), ...inLane('deferred')])]
  }

  #nextDueMs(): number | undefined {
    const now = this.#clock.now()
    const times = [...this.entries.values()].flatMap(({ lane, dueAt, echoAt, claim }) =>
      claim ? [] : [lane ? dueAt : now, echoAt ?? now],
    )
    const next = times.filter((time) => time > now).sort((a, b) => a - b)[0]
    return next === undefined ? undefined : next - now
  }

  #bound(token: string, id: string): Entry | undefined {
    const entry = this.entries.get(id)
    return entry?.claim?.token === token ? entry : undefined
  }

  #bury(token: string, refusals: readonly Refusal[]): string[] {
    const buried: string[] = []
    for (const refusal of refusals) {
      const entry = this.#bound(token, refusal.productId)
      if (!entry) continue
      const { beganAt = 0 } = entry.claim ?? {}
      entry.claim = undefined
      if (!refusal.digest.equals(digestDocument(entry.document))) {
        enter(entry, 'new', this.#clock.now())
        continue
      }
      entry.dead = refusal
      entry.lane = undefined
      if (entry.echoAt !== undefined && entry.echoAt <= beganAt) entry.echoAt = undefined
      buried.push(refusal.productId)
    }
    this.#endWhenSettled(token)
    return buried
  }

  #endWhenSettled(token: string): void {
    if (this.idsWhere((entry) => entry.claim?.token === token).length === 0) this.leases.delete(token)
  }
}

/** A product is in one lane; a more urgent change moves it up. */
function enter(entry: Entry, lane: Lane, dueAt: number): void {
  if (entry.lane !== undefined && lanes.indexOf(entry.lane) < lanes.indexOf(lane)) return
  entry.lane = lane
  entry.dueAt = dueAt
}
