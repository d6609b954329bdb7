import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CallEntry } from '../../src/operations/list-calls.ts'
import type { KnownStory, ProductStory } from '../../src/operations/story.ts'
import type { Child } from '../support/child.ts'
import { Workplace } from './daemon.ts'

const catalog = `
deferred: { after: 0s, atMost: 1m }
feeds:
  shop:
    drop: ./drop/shop
    settle: 0s
    fields: { product_id: sku, name: name, url: url, image_url: url, price: price, price_currency_code: { value: EUR }, availability: { value: InStock }, supplier_cost: cost }
    missing: { atMost: 60% }
  prices: { drop: ./drop/prices, mode: delta, settle: 0s, fields: { product_id: sku, price: price }, owns: [price] }
  guesses: { drop: ./drop/guesses, mode: delta, settle: 0s, fields: { product_id: sku, price: price } }
`

let workplace: Workplace
let daemon: Child
let drops = 0

function shop(...products: { id: string; price: number; name?: string }[]): string {
  const rows = products.map(
    ({ id, price, name = `Mug ${id}` }) => `${id},${name},https://shop.example/${id},${price},1.5`,
  )
  return `sku,name,url,price,cost\n${rows.join('\n')}\n`
}

async function drop(feed: string, name: string, content: string): Promise<void> {
  drops += 1
  await workplace.drop(feed, name, content)
  await workplace.untilImported(drops)
  await workplace.untilQuiet()
}

async function why(id: string): Promise<KnownStory> {
  const story = await workplace.ask<ProductStory>('why', id)
  if (story.kind === 'unknown') throw new Error(`${id} is not known`)
  return story
}

beforeAll(async () => {
  workplace = await Workplace.open(catalog)
  daemon = await workplace.start()
  await drop('shop', 'shop-1.csv', shop({ id: '4711', price: 10 }, { id: '4712', price: 10 }))
  await drop('prices', 'prices.csv', 'sku,price\n4711,12.5\nnew,3\n')
  await drop('shop', 'shop-2.csv', shop({ id: '4711', price: 9 }, { id: '4713', price: 10 }))
})
afterAll(() => workplace?.[Symbol.asyncDispose]())

it('one command answers why the shop shows another price', async () => {
  const { fields, state, endpoint, document, delivery, changes, calls } = await why('4711')
  expect({ ...state, endpoint }).toEqual({
    ...{ state: 'at-rest', acknowledgedAt: expect.any(String), endpoint: 'newest' },
  })
  const price = fields.find(({ field }) => field === 'price')
  expect(price).toMatchObject({
    ...{ value: 12.5, feed: 'prices', because: 'owns' },
    from: { import: 2, file: 'prices.csv', line: 2 },
    hides: [{ feed: 'shop', value: 9, from: { import: 3, file: 'shop-2.csv', line: 2 } }],
  })
  expect(fields.find(({ field }) => field === 'supplier_cost')?.value).toBe('(hidden)')
  expect(document).toMatchObject({ price: 12.5, supplier_cost: '(hidden)' })
  expect(changes).toMatchObject([
    {
      ...{ cause: 'record', lane: 'urgent', fields: [{ field: 'price', before: 10, after: 12.5 }] },
      from: { import: 2, line: 2 },
    },
  ])
  expect(delivery.call).toMatchObject({ status: 200, outcome: 'acknowledge', lanes: { urgent: 1 } })
  const { acceptedAt, queuedAt, sentAt, acknowledgedAt } = delivery
  const times = [acceptedAt, queuedAt, sentAt, acknowledgedAt].map((at) => Date.parse(at ?? ''))
  expect(times).toEqual(times.toSorted((one, other) => one - other))
  expect(calls).toHaveLength(2)
  const text = (await workplace.runHere('why', '4711')).stdout
  expect(text).toContain('hides 9 of shop (import 3, shop-2.csv line 2): prices owns the field')
  const { ids } = await workplace.ask<CallEntry & { ids: string[] }>('calls', String(delivery.call?.number))
  expect(ids).toEqual(['4711'])
})

it('says what a product lacks, and that a feed names it no longer', async () => {
  expect((await why('new')).state).toMatchObject({
    state: 'incomplete',
    missing: expect.arrayContaining([{ field: 'name', feeds: ['shop'] }]),
  })
  const gone = await why('4712')
  expect(gone.feeds).toMatchObject([
    { feed: 'shop', standing: 'missing', missingSince: { import: 3, file: 'shop-2.csv' } },
  ])
  expect(gone.fields.find(({ field }) => field === 'availability')).toMatchObject({
    ...{ value: 'OutOfStock', insteadOf: 'InStock' },
  })
  expect(gone.changes).toMatchObject([{ cause: 'missing', from: { import: 3 } }])
})

it('answers an id that is not known with those that resemble it, and exit code 1', async () => {
  const { code, stdout } = await workplace.runHere('why', '471')
  expect(code).toBe(1)
  expect(stdout).toContain('4711')
})

it('names the rejected record of a product, known or not', async () => {
  await drop('prices', 'wrong.csv', 'sku,price\n4711,much\n9.9,many\n')
  const rejectsFile = expect.stringMatching(/00000004-prices\.rejects/)
  expect(await workplace.ask('why', '4711')).toMatchObject({
    kind: 'known',
    rejected: [{ import: 4, feed: 'prices', rejectsFile, line: 2 }],
  })
  expect(await workplace.ask('why', '9.9')).toMatchObject({ kind: 'unknown', rejected: [{ line: 3 }] })
  expect(await workplace.ask('why', '9x9')).toMatchObject({ kind: 'unknown', rejected: [] })
})

it('tells, after a reload, that another feed writes a field from its next file on', async () => {
  const file = workplace.path('catalogd.yaml')
  const before = await readFile(file, 'utf8')
  const prices = 'fields: { product_id: sku, price: price }, owns: [price] }'
  const after = before.replace(prices, 'fields: { product_id: sku, price: price } }')
  await writeFile(file, after)
  const { notes } = await workplace.ask<{ notes: string[] }>('reload')
  expect(notes).toEqual([
    expect.stringContaining('the feed shop writes price now, in place of prices. A product keeps its value'),
  ])
  const priceOf = async () => (await why('4711')).fields.find(({ field }) => field === 'price')
  expect(await priceOf()).toMatchObject({
    ...{ value: 12.5, feed: 'prices', because: 'earlier' },
    hides: [{ feed: 'shop', value: 9, isWriter: true }],
  })
  const { stdout } = await workplace.runHere('why', '4711')
  expect(stdout).toContain('shop writes the field by now, and its next file counts')
  await drop('shop', 'shop-3.csv', shop({ id: '4711', price: 9 }, { id: '4713', price: 10 }))
  expect(await priceOf()).toMatchObject({ value: 9, feed: 'shop', because: 'first' })
  await writeFile(file, before)
  expect((await workplace.ask<{ notes: string[] }>('reload')).notes).toHaveLength(1)
})

it('a value that is hidden is no newer document', async () => {
  await drop('guesses', 'guesses.csv', 'sku,price\n4713,77\n')
  const { fields, delivery } = await why('4713')
  expect(fields.find(({ field }) => field === 'price')?.hides).toMatchObject([{ feed: 'guesses', value: 77 }])
  expect(delivery.call).toMatchObject({ outcome: 'acknowledge' })
})

it('a feed that is gone is named only where something that it wrote is left', async () => {
  const file = workplace.path('catalogd.yaml')
  const before = await readFile(file, 'utf8')
  await writeFile(file, before.replace(/^ *(prices|guesses): .*\n/gm, ''))
  await workplace.ask('reload')
  expect((await why('new')).feeds).toMatchObject([{ feed: 'prices', standing: 'gone' }])
  expect((await why('4713')).feeds).toMatchObject([{ feed: 'shop', standing: 'named' }])
  await writeFile(file, before)
  await workplace.ask('reload')
})

it('tells of a refusal, and answers while neither daemon nor Redis are there', async () => {
  await workplace.fault({ refuse: 'named', productIds: ['4713'], reason: 'no such brand' })
  await drop('shop', 'shop-3.csv', shop({ id: '4711', price: 9 }, { id: '4713', price: 11 }))
  const refused = await why('4713')
  expect(refused.state).toMatchObject({ state: 'dead-letter', reason: 'no such brand' })
  expect(refused.endpoint).toBe('older')
  expect((await workplace.ask<CallEntry[]>('calls', '--status', 'failed'))[0]?.products).toBe(1)
  await workplace.ask('dead', 'drop', '4713')
  await workplace.untilQuiet()
  expect((await why('4713')).state.state).toBe('given-up')
  await daemon.kill('SIGTERM')
  await daemon.ended()
  const story = await why('4711')
  expect(story.redis).toBe('away')
  expect(story.state.state).toBe('at-rest')
  expect(story.blocks).toMatchObject([{ reason: 'daemon' }])
})
