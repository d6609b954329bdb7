import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Claim, ClaimedProduct } from '../../src/outbox/model.ts'
import { deferred, type Harness, openHarness } from './harness.ts'

const runs = Number(process.env.RANDOM_RUNS ?? 40)
const ids = ['a', 'b', 'c', 'd', 'e'] as const
/** So few that values return to what they were. */
const texts = ['1', '2'] as const

/** Two products a call, so that several are on their way. */
const bodyBytesMax = 5

const ends = ['taken', 'failed', 'failed-taken', 'unknown-late', 'died-late', 'refused'] as const
const edit = fc.record({
  do: fc.constant('edit' as const),
  id: fc.constantFrom(...ids),
  text: fc.constantFrom(...texts),
  lane: fc.constantFrom('urgent' as const, 'deferred' as const),
})
const end = fc.record({ do: fc.constantFrom('end' as const, 'send' as const), how: fc.constantFrom(...ends) })
const plain = fc.record({ do: fc.constantFrom('turn' as const, 'turn' as const, 'claim' as const) })
const losses = ['roll-back', 'wipe', 'start-over'] as const
const faults = ['late', 'late', 'save', 'reconnect', 'kill', 'kill', ...losses] as const
const fault = fc.record({ do: fc.constantFrom(...faults) })
const step = fc.oneof(
  { weight: 5, arbitrary: edit },
  { weight: 4, arbitrary: end },
  { weight: 5, arbitrary: plain },
  { weight: 2, arbitrary: fault },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** An endpoint of its own, and what is on its way there. */
class World {
  readonly held = new Map<string, string>()
  readonly wanted = new Map<string, string>()
  readonly #box: Harness
  readonly #delivers: boolean
  #open: Claim[] = []
  /** Requests that the endpoint will apply later. */
  #late: Claim[] = []
  #saved: [key: string, dump: Buffer][] = []
  /** The next turn shuts out what was claimed until then. */
  #isLost = false
  /** Claims that Redis has lost. */
  readonly #forgotten = new Set<Claim>()

  constructor(box: Harness, delivers: boolean) {
    this.#box = box
    this.#delivers = delivers
  }

  async take(next: Step): Promise<void> {
    const box = this.#box
    if (losses.some((loss) => loss === next.do)) this.#isLost = true
    switch (next.do) {
      case 'edit':
        if (this.wanted.get(next.id) === next.text) return
        this.wanted.set(next.id, next.text)
        return box.commit(next.id, next.text, next.lane, deferred.afterMs)
      case 'turn':
        return this.#turn()
      case 'claim': {
        const answer = await box.outbox.claim({ mode: 'any', bodyBytesMax })
        if (answer.kind !== 'claimed') return
        this.#checkAlone(answer.claim)
        this.#open.push(answer.claim)
        return
      }
      case 'end':
        return this.#end(next.how)
      case 'send':
        for (let turns = 0; turns < 3; turns += 1) await this.#turn()
        await this.take({ do: 'claim' })
        await this.#end(next.how)
        return this.#turn()
      case 'late':
        return this.#applyLate()
      case 'save': {
        const keys = await box.connection.keys('*')
        this.#saved = await Promise.all(
          keys.map(
            async (key) =>
              [key, (await box.connection.dumpBuffer(key)) ?? Buffer.alloc(0)] as [string, Buffer],
          ),
        )
        return
      }
      case 'roll-back':
        return this.#rollBack()
      case 'wipe':
        await box.connection.flushall()
        return
      case 'reconnect':
        box.loop.forget()
        return
      case 'kill':
        // What is on its way may come late.
        this.#late.push(...this.#open)
        this.#open = []
        return box.restart()
      case 'start-over':
        box.mirror.beginStartOver({})
        box.loop.forget()
        // No call of before takes effect after the wait.
        for (const claim of this.#open) this.#apply(claim)
        this.#open = []
        this.#applyLate()
    }
  }

  /** No other call of a product is under way, unless Redis forgot it. */
  #checkAlone({ products }: Claim): void {
    const others = this.#open.filter((claim) => !this.#forgotten.has(claim))
    const ids = others.flatMap((claim) => claim.products.map(({ productId }) => productId))
    expect(ids.filter((id) => products.some(({ productId }) => productId === id))).toEqual([])
  }

  async #turn(): Promise<void> {
    this.#box.box.newProducts.prepare(bodyBytesMax, true)
    if (this.#isLost) for (const claim of this.#open) this.#forgotten.add(claim)
    try {
      await this.#box.loop.turn()
      this.#isLost = false
    } catch {
      this.#box.loop.forget()
    }
    await this.#box.connection.hset(this.#box.keys.pace, 'until', 0)
  }

  async #end(how: (typeof ends)[number]): Promise<void> {
    const claim = this.#open.shift()
    if (!claim) return
    const { outbox } = this.#box
    const productIds = claim.products.map(({ productId }) => productId)
    if (how === 'taken' || how === 'failed-taken') this.#apply(claim)
    if (how === 'unknown-late' || how === 'died-late') this.#late.push(claim)
    const refuse = (product: ClaimedProduct) => ({
      ...product,
      reason: 'no',
      status: 400,
      requestId: undefined,
    })
    if (how === 'taken') await outbox.acknowledge(claim.token, claim.products)
    else if (how === 'refused')
      await this.#whileTurning(outbox.reject(claim.token, claim.products.map(refuse)))
    else if (how === 'died-late') {
      await this.#expire(claim.token)
      // Whoever slept finds the lease lost when it wakes.
      if (this.#delivers) await this.#whileTurning(outbox.release(claim.token, productIds, 'unknown'))
    } else {
      const outcome = how === 'unknown-late' ? 'unknown' : 'sent'
      await this.#whileTurning(outbox.release(claim.token, productIds, outcome))
    }
  }

  /** Redis is told of new products by the loop. */
  async #whileTurning(settling: Promise<unknown>): Promise<void> {
    let isSettled = !this.#delivers
    const settled = settling.finally(() => {
      isSettled = true
    })
    while (!isSettled) await this.#turn()
    await settled
  }

  async #expire(token: string): Promise<void> {
    await this.#box.connection.zadd(this.#box.keys.leases, 'XX', 1, token)
    await this.#box.outbox.expireClaims()
  }

  #apply({ products }: Claim): void {
    for (const { productId, document } of products) this.held.set(productId, document.toString())
  }

  #applyLate(): void {
    for (const claim of this.#late) this.#apply(claim)
    this.#late = []
  }

  /** As after a restart with older files: the guard names another run than this one. */
  async #rollBack(): Promise<void> {
    const { connection, keys, loop } = this.#box
    await connection.flushall()
    for (const [key, dump] of this.#saved) await connection.restore(key, 0, dump)
    const pass = await connection.hget(keys.guard, 'pass')
    if (pass !== null) {
      await connection.hset(keys.guard, 'pass', pass.replace(/ \w{40} /, ' older '), 'runId', 'older')
    }
    loop.forget()
  }

  /** All calls end, everything that may come late has come, and each echo is due. Then all is sent. */
  async rest(): Promise<void> {
    const { connection, keys, outbox } = this.#box
    while (this.#open.length > 0) await this.#end('failed-taken')
    this.#applyLate()
    for (let quiet = 0; quiet < 6; ) {
      await this.#turn()
      if ((await connection.exists(keys.guard)) === 1) await connection.hset(keys.guard, 'echoUntil', 1)
      for (const id of await connection.zrange(keys.echoes, '0', '-1'))
        await connection.zadd(keys.echoes, 1, id)
      for (const token of await connection.zrange(keys.leases, '0', '-1')) await this.#expire(token)
      const answer = await outbox.claim({ mode: 'any', bodyBytesMax })
      quiet = answer.kind === 'claimed' ? 0 : quiet + 1
      if (answer.kind !== 'claimed') continue
      this.#apply(answer.claim)
      await outbox.acknowledge(answer.claim.token, answer.claim.products)
    }
  }
}

test.for([
  ['where calls take new products from the mirror', true],
  ['where Redis has them all', false],
] as const)(
  'whatever fails in whatever order, the endpoint holds the newest state at rest, and Redis nothing of it, %s',
  {
    timeout: 1_200_000,
  },
  async ([, delivers]) => {
    await using box = await openHarness({ delivers })
    const check = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await box.connection.flushall()
      box.loop.forget()
      box.freshMirror()
      const world = new World(box, delivers)
      for (const next of steps) await world.take(next)
      await world.rest()
      const refused = new Set(box.deadIds())
      for (const [id, text] of world.wanted) {
        if (!refused.has(id)) expect([id, world.held.get(id)]).toEqual([id, text])
      }
      expect(box.places()).toEqual([])
      expect(await box.remains()).toEqual([])
    })
    await fc.assert(check, { numRuns: runs, verbose: 1 })
  },
)
