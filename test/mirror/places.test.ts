import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Lane } from '../../src/catalog/model.ts'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import { packChunk, unpackChunk } from '../../src/mirror/packed-chunk.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { Oracle, type Row } from './oracle.ts'
import { documentOf, idOf, writeOf } from './writes.ts'

// The store against plain data, after every step: which products have which place, and what the pump is shown.

const lanes = ['urgent', 'new', 'deferred'] as const
const delayMs = 5

const product = fc.integer({ min: 0, max: 3 })
const price = fc.constantFrom('1', '2', '3')
const lane = fc.constantFrom(...lanes)
const positions = fc.record({ urgent: fc.nat(6), new: fc.nat(6), deferred: fc.nat(6) })

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      product,
      price,
      lane: fc.option(lane, { freq: 8 }),
      /** From what is stored, as an import plans it. */
      isPlanned: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('read' as const), lane, rows: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('drain' as const),
      ...{ product, positions, held: fc.boolean() },
      what: fc.constantFrom('doubt' as const, 'acknowledged' as const, 'dead' as const, 'dropped' as const),
      // Most often that of the newest document.
      price: fc.option(price, { freq: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('due' as const), clockMs: fc.integer({ min: -3, max: 10 }) }),
  },
  fc.record({ kind: fc.constant('withdraw' as const), product, isPlanned: fc.boolean() }),
  fc.record({ kind: fc.constant('doubt' as const), products: fc.array(product, { maxLength: 2 }) }),
  fc.record({ kind: fc.constant('start over' as const), rows: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constantFrom('resend' as const, 'retry' as const), product }),
  fc.record({ kind: fc.constant('drop' as const), product, price }),
  fc.record({ kind: fc.constant('open again' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

it('places are as the rules say, whatever happens', async () => {
  await using dir = await tempDir('places')
  let runs = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), (steps) => {
      using pair = new Pair(dir.join(`${runs++}.db`))
      for (const each of steps) {
        pair.take(each)
        pair.compare()
      }
    }),
    { numRuns: 150 },
  )
})

/** A store on a file, and its oracle. */
class Pair implements Disposable {
  readonly #file: string
  #store: MirrorStore
  readonly #oracle = new Oracle()
  readonly #plain: DatabaseSync
  #now = 1_000

  constructor(file: string) {
    this.#file = file
    this.#store = MirrorStore.open({ file, isExpected: false })
    this.#plain = new DatabaseSync(file, { readOnly: true })
  }

  take(step: Step): void {
    const now = ++this.#now
    const oracle = this.#oracle
    switch (step.kind) {
      case 'edit': {
        // Without a lane: other bytes, and no field differs.
        const { lane } = step
        const write = writeOf(step.product, step.price, lane ?? 'deferred')
        const chunk = { writes: [lane === null ? { ...write, lane: undefined } : write] }
        this.#commit(chunk, step)
        const digest = digestOf(step.product, step.price)
        oracle.edit(write.productId, { digest, lane: lane ?? 'deferred', now })
        return
      }
      case 'withdraw': {
        const write = {
          ...writeOf(step.product, '1'),
          document: undefined,
          incomplete: 'name',
          lane: undefined,
        }
        this.#commit({ writes: [write] }, step)
        oracle.edit(write.productId, { digest: null, lane: 'deferred', now })
        return
      }
      case 'read':
        this.#read(step)
        return
      case 'drain':
        this.#drain(step)
        return
      case 'due':
        this.#now += step.clockMs
        this.#store.numberDue({ nowMs: this.#now, deferredAfterMs: delayMs, rowsMax: 100 })
        oracle.numberDue(this.#now, delayMs)
        return
      case 'doubt': {
        const ids = [...new Set(step.products)].map(idOf)
        this.#store.doubt({ ids, offered: true, nowMs: now })
        oracle.doubt(ids, now)
        return
      }
      case 'start over':
        this.#store.beginStartOver({})
        while (this.#store.startOver({ nowMs: now, rowsMax: step.rows }));
        this.#store.remember({ startOver: undefined })
        oracle.startOver(now, (id) => this.#rows().get(id)?.number ?? 0)
        oracle.last.new = this.#store.readIdentity().last.new
        return
      case 'resend':
        this.#commit({ writes: [], resend: [idOf(step.product)] })
        oracle.resend(idOf(step.product), now)
        return
      case 'retry':
        this.#commit({ writes: [], retryDead: [idOf(step.product)] })
        oracle.retryDead(idOf(step.product), now)
        return
      case 'drop': {
        const digest = digestDocument(documentOf(step.product, step.price))
        this.#commit({ writes: [], dropDead: [{ productId: idOf(step.product), digest }] })
        oracle.dropDead(idOf(step.product), digest.toString('hex'))
        return
      }
      case 'open again':
        this.#store[Symbol.dispose]()
        this.#store = MirrorStore.open({ file: this.#file, isExpected: true })
        return
    }
  }

  compare(): void {
    expect(this.#rows()).toEqual(this.#oracle.rows)
    const sql = 'SELECT id, missing FROM products'
    const products = this.#plain.prepare(sql).all() as { id: string; missing: string | null }[]
    for (const { id, missing } of products) {
      const row = this.#oracle.rows.get(id as ProductId)
      if (row) expect({ id, missing }).toEqual({ id, missing: row.digest === null ? 'name' : null })
    }
    const { last, offered } = this.#store.readIdentity()
    expect({ last, offered }).toEqual({ last: this.#oracle.last, offered: this.#oracle.offered })
  }

  [Symbol.dispose](): void {
    this.#plain.close()
    this.#store[Symbol.dispose]()
  }

  #commit(chunk: MirrorChunk, { isPlanned = false } = {}): void {
    const chunks = [isPlanned ? this.#planned(chunk) : chunk]
    this.#store.commit(() => chunks.pop(), this.#now)
  }

  /** As it comes to the thread from an import, which has read what is stored. */
  #planned(chunk: MirrorChunk): MirrorChunk {
    using reader = new MirrorReader(this.#file)
    return unpackChunk(packChunk(chunk, reader.read(chunk.writes.map(({ productId }) => productId))))
  }

  #read({ lane, rows }: Extract<Step, { kind: 'read' }>): void {
    const after = Math.max(0, this.#oracle.offered[lane] - 1)
    const places = this.#store.readPlaces({
      lane,
      after,
      bytesMax: 1_000_000,
      rowsMax: rows,
      documents: true,
    })
    expect(places.map(({ productId, number }) => [productId, number])).toEqual(
      this.#oracle.read(lane, after, rows),
    )
    for (const { productId, kind, digest, document } of places) {
      const row = this.#oracle.rows.get(productId)
      expect(digest?.toString('hex') ?? null).toBe(row?.digest)
      expect(document && digestDocument(document)).toEqual(digest)
      const isDoubt = row?.acknowledged === ''
      const known = row?.acknowledged === row?.digest ? 'undone' : 'change'
      expect(kind).toBe(row?.digest === null ? 'withdrawn' : isDoubt ? 'doubt' : known)
    }
  }

  #drain(step: Extract<Step, { kind: 'drain' }>): void {
    const { held, positions, what } = step
    const productId = idOf(step.product)
    const newest = this.#oracle.rows.get(productId)?.digest
    const text =
      step.price === null ? (newest ?? digestOf(step.product, '1')) : digestOf(step.product, step.price)
    const digest = Buffer.from(text, 'hex')
    const letter = { productId, reason: 'no', status: 400, requestId: null, at: '2026-11-22T00:00:00Z' }
    const field = {
      doubt: { acknowledged: [{ productId, digest: undefined, held }] },
      acknowledged: { acknowledged: [{ productId, digest, held }] },
      dead: { dead: [{ letter, digest, held }] },
      dropped: { dropped: [{ productId, held }] },
    }[what]
    // Twice, as after a crash before Redis was told.
    this.#store.drain({ ...field, positions }, this.#now)
    const seen = { held, positions }
    if (what === 'dead') this.#oracle.bury(productId, text, seen, this.#now)
    else if (what === 'dropped') {
      const row = this.#oracle.rows.get(productId)
      if (row) this.#oracle.settle(row, seen, this.#now)
    } else this.#oracle.acknowledge(productId, what === 'doubt' ? '' : text, seen, this.#now)
  }

  #rows(): Map<string, Row> {
    const sql = `SELECT id, s.digest, acknowledged, d.digest AS dead, lane, number, since, known FROM standing s
      JOIN products ON key = s.product LEFT JOIN dead d ON d.product = s.product WHERE hasRow ORDER BY key`
    return new Map(
      this.#plain
        .prepare(sql)
        .all()
        .map((row) => [
          String(row.id),
          {
            digest: hex(row.digest),
            acknowledged: hex(row.acknowledged),
            dead: hex(row.dead),
            lane: row.lane === null ? null : (lanes[Number(row.lane)] as Lane),
            number: row.number as number | null,
            since: row.since as number | null,
            known: row.known === 1,
          },
        ]),
    )
  }
}

function digestOf(n: number, price: string): string {
  return digestDocument(documentOf(n, price)).toString('hex')
}

function hex(value: unknown): string | null {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : null
}
