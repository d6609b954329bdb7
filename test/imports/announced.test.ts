import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ProductPatch } from '../../src/catalog/model.ts'
import { planChunk, planRulesOf } from '../../src/imports/plan-chunk.ts'
import { runAnnounced } from '../../src/imports/product-imports.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import { collectLog } from '../support/log-lines.ts'
import { shiftedClock } from '../support/shifted-clock.ts'
import { feed, openImports, row } from './harness.ts'

const hourMs = 3_600_000
const twoFeeds = `products: { drop: ./products, missing: { atMost: 100% } }
prices:
  drop: ./prices
  mode: delta
  fields: { product_id: sku, price: price }`

type Box = Awaited<ReturnType<typeof openImports>>

/** As a record of the feed would that announces something; imports stand still meanwhile. */
async function write(
  box: Box,
  patch: Partial<ProductPatch>,
  feedName = 'products',
  productId = 'a',
): Promise<void> {
  await box.stop()
  await writeNow(box, patch, feedName, productId)
  box.start()
}

async function writeNow(box: Box, patch: Partial<ProductPatch>, feedName = 'products', productId = 'a') {
  const id = productId as ProductId
  const feed = feedName as FeedName
  const step = { patch: { productId: id, set: {}, clear: [], ...patch } }
  await box.mirror.update([id], (stored) => ({
    writes: planChunk({ steps: [step], stored, feed, ...planRulesOf(box.catalog) }).writes,
  }))
}

async function untilPrice(box: Box, price: number, id = 'a'): Promise<void> {
  while ((await box.document(id))?.price !== price) await new Promise(setImmediate)
}

function sale(now: number): Partial<ProductPatch> {
  return {
    set: { price: 10, list_price: 10 },
    later: [
      { at: now + hourMs, set: { price: 7, list_price: 10 }, clear: [] },
      { at: now + 3 * hourMs, set: { price: 10 }, clear: ['list_price'] },
    ],
  }
}

test('what was announced holds from its time on, as an urgent change, and then no more', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(twoFeeds, { clock })
  await box.import('products', feed(row('a'), row('b')))
  await write(box, sale(clock.now()))
  await box.deliverAll()
  expect(box.switches()).toHaveLength(1)
  advance(hourMs + 1)
  await untilPrice(box, 7)
  expect(await box.lane('a')).toBe('urgent')
  expect(await box.document('a')).toMatchObject({ list_price: 10 })
  await box.deliverAll()
  advance(2 * hourMs)
  await untilPrice(box, 10)
  expect(await box.lane('a')).toBe('urgent')
  expect(await box.document('a')).not.toHaveProperty('list_price')
  expect(box.switches()).toHaveLength(0)
  expect(box.products().a?.partial).toBeUndefined()
  expect(box.failures).toEqual([])
})

test('what fell due while no process ran is applied at the start, the last of it last', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(twoFeeds, { clock })
  await box.import('products', feed(row('a')))
  await box.stop()
  await writeNow(box, sale(clock.now()))
  advance(4 * hourMs)
  box.start()
  while (box.switches().length > 0) await new Promise(setImmediate)
  expect(await box.document('a')).toMatchObject({ price: 10 })
  expect(await box.document('a')).not.toHaveProperty('list_price')
})

test('a file of the feed that says it otherwise takes the announcement back; other feeds do not', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(twoFeeds, { clock })
  await box.import('products', feed(row('a'), row('b')))
  const later = [{ at: clock.now() + hourMs, set: { price: 7 }, clear: [] }]
  await write(box, { later })
  await write(box, { later }, 'products', 'b')
  await box.import('prices', 'sku,price\na,3\n', { mode: 'delta' })
  await box.import('products', feed(row('a', { text: 'new' })))
  // b is missing from that file, and what it waits for stays; a was named again.
  expect(box.switches()).toEqual(['b'])
  advance(hourMs + 1)
  await untilPrice(box, 7, 'b')
  expect(await box.document('b')).toMatchObject({ availability: 'OutOfStock' })
  expect(await box.document('a')).toMatchObject({ price: 10, description: 'new' })
  await box.import('products', feed(row('a'), row('b')))
  expect(await box.document('b')).toMatchObject({ availability: 'InStock', price: 10 })
  expect(box.switches()).toHaveLength(0)
})

test('a record that moves a switch while it falls due is not forgotten', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(twoFeeds, { clock })
  await box.import('products', feed(row('a')))
  await box.stop()
  const announce = (at: number) => writeNow(box, { later: [{ at, set: { price: 7 }, clear: [] }] })
  await announce(clock.now() + hourMs)
  advance(hourMs)
  const at = clock.now() + hourMs
  const { mirror, catalog } = box
  const rules = planRulesOf(catalog)
  const stop = new AbortController()
  // What an import writes between the look at what is due and the transaction.
  const racing = {
    nextSwitch: () => mirror.nextSwitch(),
    switchesDue: (nowMs: number, productsMax: number) => mirror.switchesDue(nowMs, productsMax),
    update: async (ids: readonly ProductId[], plan: Parameters<typeof mirror.update>[1]) => {
      const step = { patch: { productId: 'a' as ProductId, clear: [], ...sale(at - hourMs) } as ProductPatch }
      const of = { feed: 'products' as FeedName, ...rules }
      await mirror.update(ids, (stored) => ({
        writes: planChunk({ steps: [step], stored, ...of }).writes,
      }))
      await mirror.update(ids, plan)
      stop.abort()
    },
  }
  const { log } = collectLog()
  await runAnnounced(
    { catalog, rules, mirror: racing, clock, log, signal: stop.signal } as never,
    { advance() {}, rest() {} } as never,
  )
  expect([box.switches(), mirror.nextSwitch()]).toEqual([['a'], at])
})

test('an announcement of a feed that does not write the field changes nothing', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(twoFeeds, { clock })
  await box.import('products', feed(row('a')))
  await write(box, { later: [{ at: clock.now() + hourMs, set: { price: 1 }, clear: [] }] }, 'prices')
  advance(hourMs + 1)
  while (box.switches().length > 0) await new Promise(setImmediate)
  expect(await box.document('a')).toMatchObject({ price: 10 })
})

test('a mirror that was restored applies what was due once more, to the same end', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(twoFeeds, { clock })
  await box.import('products', feed(row('a')))
  await write(box, sale(clock.now()))
  await box.saveMirror()
  advance(hourMs + 1)
  await untilPrice(box, 7)
  await box.restoreMirror()
  expect(await box.document('a')).toMatchObject({ price: 10 })
  box.start()
  await untilPrice(box, 7)
  expect(box.switches()).toHaveLength(1)
  expect(box.failures).toEqual([])
})

const timed = `products:
  drop: ./products
  missing: { atMost: 100% }
  fields:
    product_id: id
    name: { template: "Name {id}" }
    url: { template: "https://shop.example/{id}" }
    image_url: { template: "https://shop.example/{id}.jpg" }
    availability: { value: InStock }
    price_currency_code: { value: EUR }
    price: { column: [sale_price, price], during: { sale_price: effective } }
    list_price: price`

interface Offer {
  id: string
  price: number
  sale: number
  from: number
  until: number
}

function offers(rows: readonly Offer[]): string {
  const lines = rows.map(({ id, price, sale, from, until }) => {
    return `${id},${price},${sale},${new Date(from).toISOString()}/${new Date(until).toISOString()}`
  })
  return ['id,price,sale_price,effective', ...lines, ''].join('\n')
}

const priceAt = ({ price, sale, from, until }: Offer, now: number) =>
  from <= now && now < until ? sale : price

test('a sale price of a file begins and ends at its time without another file', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(timed, { clock })
  const [from, until] = [clock.now() + hourMs, clock.now() + 2 * hourMs]
  const offer = { id: 'a', price: 10, sale: 7, from, until }
  await box.import('products', offers([offer]))
  expect(await box.document('a')).toMatchObject({ price: 10, list_price: 10 })
  await box.deliverAll()
  advance(hourMs)
  await untilPrice(box, 7)
  expect(await box.lane('a')).toBe('urgent')
  // The same file once more says what holds already.
  expect(await box.import('products', offers([offer]))).toMatchObject({ unchanged: 1 })
  advance(hourMs)
  await untilPrice(box, 10)
  expect(box.switches()).toHaveLength(0)
})

test('whatever comes between, the price is the one that the last file gives for the time it is', async () => {
  const { clock, advance } = shiftedClock()
  await using box = await openImports(timed, { clock })
  const hours = fc.integer({ min: -2, max: 4 })
  const offer = fc.record({
    sale: fc.integer({ min: 1, max: 9 }),
    from: hours,
    lasts: fc.integer({ min: 1, max: 3 }),
  })
  const step = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('file' as const),
        rows: fc.array(offer, { minLength: 1, maxLength: 3 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('advance' as const),
        halfHours: fc.integer({ min: 1, max: 5 }),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom({ kind: 'restart' as const }, { kind: 'lose' as const }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
      let last: Offer[] = []
      for (const each of steps) {
        if (each.kind === 'advance') advance((each.halfHours * hourMs) / 2)
        else if (each.kind === 'lose') {
          await box.loseMirror()
        } else if (each.kind === 'restart') {
          await box.stop()
          box.start()
        } else {
          const now = clock.now()
          last = each.rows.map(({ sale, from, lasts }, index) => {
            // Off the half hours by which time is moved, so that no boundary falls into the test's own time.
            const begin = now + from * hourMs + hourMs / 4
            return { id: `p${index}`, price: 10, sale, from: begin, until: begin + lasts * hourMs }
          })
          await box.import('products', offers(last))
        }
        for (const row of last) await untilPrice(box, priceAt(row, clock.now()), row.id)
      }
      expect(box.failures).toEqual([])
    }),
    { numRuns: 8 },
  )
})

test('products that wait for nothing are stored as they were', async () => {
  await using box = await openImports(twoFeeds)
  await box.import('products', feed(row('a')))
  expect([box.products().a?.partial, box.switches()]).toEqual([undefined, []])
  const meta = [...box.mirror.read(['a' as ProductId]).values()].map((product) => product.meta)
  expect(meta).toEqual([expect.stringMatching(/^products=[0-9a-z]{1,6}$/)])
})
