import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CatalogClient, type CatalogClientOptions } from '../../src/api/catalog-client.ts'
import type { Product } from '../../src/api/contract/product.ts'
import { UpsertError } from '../../src/api/upsert-error.ts'
import { leakCheck } from '../support/leak-check.ts'
import { product, token } from './clients.ts'
import { openServer, type Received, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const open = (url: string, options: Partial<CatalogClientOptions> = {}) =>
  new CatalogClient({ url, token, ...options })

const idsOf = ({ body }: Received) => (body as Product[]).map(({ product_id }) => product_id)
const products = (count: number) => Array.from({ length: count }, (_, index) => product(String(index)))

/** Answers as the service does: products that are named are refused, in a text that is JSON. */
function refusing(...bad: string[]) {
  return (request: Received) => {
    const errors = idsOf(request)
      .filter((id) => bad.includes(id))
      .map((id) => ({ product_id: id, errors: 'image_url field is missing (imageUrl), ' }))
    if (errors.length === 0) return {}
    const body = { type: 'has_errors', message: 'Failed to upsert some products; see errors', errors }
    return { status: 400, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
  }
}

test('sends the products with the token as password of nobody', async () => {
  await using server = await openServer()
  await using client = open(server.url, { merchantId: 'shop 1' })
  expect(await client.upsert([product('a'), product('b')])).toEqual({
    taken: ['a', 'b'],
    refused: [],
    calls: 1,
  })
  const [request] = server.requests
  expect(request).toMatchObject({
    method: 'POST',
    path: '/v1/products/upsert',
    query: { 'merchant-id': 'shop 1' },
    body: [product('a'), product('b')],
    headers: {
      authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^catalogd\/\d/),
    },
  })
})

test('nothing to send is no call', async () => {
  await using server = await openServer()
  await using client = open(server.url)
  expect(await client.upsert([])).toEqual({ taken: [], refused: [], calls: 0 })
  expect(server.requests).toEqual([])
})

test('a probe sends no product', async () => {
  await using server = await openServer((_, count) => (count === 1 ? {} : { status: 401 }))
  await using client = open(server.url)
  await client.probe()
  expect(server.requests[0]?.text).toBe('[]')
  expect(await thrownBy(() => client.probe())).toMatchObject({
    status: 401,
    hint: expect.stringContaining('API_PRODUCTS'),
  })
})

test('what breaks the contract is not sent, and says in which field', async () => {
  await using server = await openServer()
  await using client = open(server.url)
  const { price: _, ...incomplete } = product('b')
  const given = [
    product('a'),
    incomplete,
    5,
    product('d', { categories: ['A > B'] }),
    { ...product('e'), gtin: '1' },
  ]
  const result = await client.upsert(given as Product[])
  expect(result).toMatchObject({
    taken: ['a'],
    refused: [
      { productId: 'b', index: 1, by: 'contract', reasons: [expect.stringMatching(/^price: found nothing/)] },
      { productId: undefined, index: 2, by: 'contract' },
      { productId: 'd', index: 3, by: 'contract', reasons: [expect.stringMatching(/^categories\[0\]: /)] },
      { productId: 'e', index: 4, by: 'contract', reasons: [expect.stringMatching(/^gtin: /)] },
    ],
  })
  expect(server.requests.map(idsOf)).toEqual([['a']])
})

test('further fields are sent where that is wanted', async () => {
  await using server = await openServer()
  await using client = open(server.url, { unknownFields: 'tolerate' })
  const more = { ...product('e'), gtin: '1' }
  expect(await client.upsert([more])).toMatchObject({ taken: ['e'] })
  expect(server.requests[0]?.body).toEqual([more])
})

describe('the bytes of a call', () => {
  test('stay below 2,000,000, brackets, commas and several bytes a letter counted', async () => {
    await using server = await openServer()
    await using client = open(server.url)
    const many = products(60).map((one) => ({ ...one, description: 'é€🙂'.repeat(9_000) }))
    expect((await client.upsert(many)).taken.length).toBe(60)
    const bytes = server.requests.map(({ text }) => Buffer.byteLength(text))
    expect(bytes.every((one) => one < 2_000_000)).toBe(true)
    // No call could have held the first product of the next.
    const [perProduct = 0] = many.map((one) => Buffer.byteLength(JSON.stringify(one)))
    expect(bytes.slice(0, -1).every((one) => one + perProduct + 1 >= 2_000_000)).toBe(true)
    expect(server.requests.flatMap(idsOf)).toEqual(many.map(({ product_id }) => product_id))
  })

  test('a product that is longer by itself is refused', async () => {
    await using server = await openServer()
    await using client = open(server.url)
    const long = product('long', { description: 'x'.repeat(2_000_000) })
    expect(await client.upsert([product('a'), long])).toMatchObject({
      taken: ['a'],
      refused: [{ productId: 'long', by: 'contract', reasons: [expect.stringContaining('1999997')] }],
    })
  })

  test('can be fewer, exactly', async () => {
    await using server = await openServer()
    const callBytes = JSON.stringify([product('0'), product('1')]).length
    await using client = open(server.url, { callBytes })
    await client.upsert(products(5))
    expect(server.requests.map(idsOf)).toEqual([['0', '1'], ['2', '3'], ['4']])
    server.requests.length = 0
    await using smaller = open(server.url, { callBytes: callBytes - 1 })
    await smaller.upsert(products(2))
    expect(server.requests.map(idsOf)).toEqual([['0'], ['1']])
  })

  test('are learnt anew after 413', async () => {
    await using server = await openServer((request) => (idsOf(request).length > 2 ? { status: 413 } : {}))
    await using client = open(server.url)
    expect(await client.upsert(products(5))).toMatchObject({ taken: ['0', '1', '2', '3', '4'], refused: [] })
  })
})

describe('products that are refused', () => {
  test('by name are taken out with the reason; the rest is sent again', async () => {
    await using server = await openServer(refusing('1', '3'))
    await using client = open(server.url)
    const reasons = ['image_url field is missing (imageUrl)']
    expect(await client.upsert(products(5))).toEqual({
      taken: ['0', '2', '4'],
      refused: [
        { productId: '1', index: 1, by: 'server', reasons },
        { productId: '3', index: 3, by: 'server', reasons },
      ],
      calls: 2,
    })
    expect(server.requests.map(idsOf)).toEqual([
      ['0', '1', '2', '3', '4'],
      ['0', '2', '4'],
    ])
  })

  test('by name in a 200 are not taken', async () => {
    const errors = [{ product_id: 1, errors: ['bad'] }]
    await using server = await openServer(() => ({ status: 200, body: { errors } }))
    await using client = open(server.url)
    expect(await client.upsert(products(2))).toMatchObject({
      taken: ['0'],
      refused: [{ productId: '1' }],
      calls: 1,
    })
  })

  test.each(['{"ok":true}', '[]', 'OK', '', '{"data":[],"errors":[]}', '<?xml version="1.0"?>'])(
    'are not taken by another server that answers 200 with %j',
    async (body) => {
      await using server = await openServer(() => ({ body }))
      await using client = open(server.url)
      const error = await thrownBy(() => client.upsert(products(2)))
      expect(error).toMatchObject({ code: 'no-api', status: 200, unsettled: ['0', '1'] })
      expect(await thrownBy(() => client.probe())).toMatchObject({ code: 'no-api' })
    },
  )

  test('without a name are searched for', async () => {
    await using server = await openServer((request) =>
      idsOf(request).includes('5') ? { status: 422, body: { message: 'one is bad' } } : {},
    )
    await using client = open(server.url)
    const result = await client.upsert(products(8))
    expect(result.taken.toSorted()).toEqual(['0', '1', '2', '3', '4', '6', '7'])
    expect(result.refused).toEqual([{ productId: '5', index: 5, by: 'server', reasons: ['one is bad'] }])
    expect(result.calls).toBeLessThanOrEqual(2 * 3 + 1)
  })

  test('without a name cost at most 2⌈log₂ n⌉+1 further calls each, by name none but the resend', async () => {
    const poison = new Map<string, 'named' | 'unnamed'>()
    await using server = await openServer((request) => {
      const bad = idsOf(request).filter((id) => poison.has(id))
      const named = bad.filter((id) => poison.get(id) === 'named')
      if (bad.length > 0 && named.length === 0) return { status: 422, body: { message: 'one is bad' } }
      return refusing(...named)(request)
    })
    await using client = open(server.url)
    const picks = fc.array(fc.tuple(fc.nat(99), fc.boolean()), { maxLength: 19 })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 100 }), picks, async (count, given) => {
        poison.clear()
        for (const [pick, isNamed] of given) poison.set(String(pick % count), isNamed ? 'named' : 'unnamed')
        const { taken, refused, calls } = await client.upsert(products(count))
        expect(taken.length).toBe(count - poison.size)
        expect(new Set(refused.map(({ productId }) => productId))).toEqual(new Set(poison.keys()))
        const unnamed = [...poison.values()].filter((kind) => kind === 'unnamed').length
        const resent = unnamed < poison.size ? 1 : 0
        const perProduct = 2 * Math.ceil(Math.log2(count)) + 1
        expect(calls).toBeLessThanOrEqual(1 + resent + unnamed * perProduct)
      }),
      { numRuns: 60 },
    )
  })

  test('for reasons that say back the token are told without it', async () => {
    const errors = [{ product_id: '1', errors: `bad token ${token}` }]
    await using server = await openServer((_, count) =>
      count === 1 ? { status: 400, body: { errors } } : {},
    )
    await using client = open(server.url)
    const { refused } = await client.upsert(products(2))
    expect(refused).toMatchObject([{ reasons: [expect.stringMatching(/^bad token \*+$/)] }])
  })

  test('without a name are all found, however many, where others are taken between them', async () => {
    await using server = await openServer((request) =>
      idsOf(request).some((id) => Number(id) % 4 === 0) ? { status: 400, body: 'no' } : {},
    )
    await using client = open(server.url)
    const { taken, refused } = await client.upsert(products(100))
    expect([taken.length, refused.length]).toEqual([75, 25])
  })

  test('without a name, one after the other: the endpoint refuses everything', async () => {
    await using server = await openServer(() => ({ status: 400, body: { message: 'no merchant' } }))
    await using client = open(server.url)
    const error = await thrownBy(() => client.upsert(products(100)))
    expect(error).toBeInstanceOf(UpsertError)
    expect(error).toMatchObject({ status: 400, exitCode: 1, result: { taken: [] } })
    expect((error as UpsertError).result.refused.length).toBe(19)
    expect((error as UpsertError).unsettled.length).toBe(81)
    expect(server.requests.length).toBeLessThan(60)
  })
})

describe('of several products with one id', () => {
  const older = product('a', { price: 1 })
  const newer = product('a', { price: 2 })

  test('the last one is sent', async () => {
    await using server = await openServer()
    await using client = open(server.url)
    expect(await client.upsert([older, product('b'), newer])).toMatchObject({ taken: ['a', 'b'] })
    expect(server.requests.map(({ body }) => body)).toEqual([[newer, product('b')]])
  })

  test('the newer one takes the place of the older where no more would fit', async () => {
    await using server = await openServer()
    await using client = open(server.url, { callBytes: JSON.stringify([older, product('b')]).length })
    await client.upsert([older, product('b'), newer])
    expect(server.requests.map(({ body }) => body)).toEqual([[newer, product('b')]])
  })

  test('a broken one is forgiven by a newer one', async () => {
    await using server = await openServer()
    await using client = open(server.url)
    const broken = { ...older, price: 'much' } as unknown as Product
    expect(await client.upsert([broken, newer])).toMatchObject({ taken: ['a'], refused: [] })
  })

  test('the older one is never sent after or instead of the newer', async () => {
    await using server = await openServer()
    await using client = open(server.url)
    const broken = { ...newer, price: 'much' } as unknown as Product
    expect(await client.upsert([older, broken])).toMatchObject({
      taken: [],
      refused: [{ productId: 'a', index: 1 }],
    })
    expect(server.requests).toEqual([])
  })

  test('each goes in a call of its own where the bytes do not allow one', async () => {
    await using server = await openServer()
    await using client = open(server.url, { callBytes: JSON.stringify([older]).length + 20 })

    await client.upsert([older, product('b'), newer])
    expect(server.requests.map(({ body }) => (body as Product[]).map(({ price }) => price))).toEqual([
      [1],
      [1],
      [2],
    ])
  })
})

test('products may come one by one, and are sent as they fill a call', async () => {
  await using server = await openServer()
  await using client = open(server.url, { callBytes: JSON.stringify(products(2)).length })
  const sentBefore: number[] = []
  async function* source() {
    for (const one of products(6)) {
      sentBefore.push(server.requests.length)
      yield one
    }
  }
  await client.upsert(source())
  expect(sentBefore).toEqual([0, 0, 0, 1, 1, 2])
})

test.each([
  ['was only read when a call failed', 2, []],
  ['was in the call that failed', 3, ['1']],
])('an older product of an id does not count as taken where a newer one %s', async (_, failing, taken) => {
  await using server = await openServer((_, count) => (count === failing ? { status: 503 } : {}))
  const [first, second] = products(2) as [Product, Product]
  const newer = { ...first, name: 'another' }
  const callBytes = Math.max(...[first, second, newer].map((one) => JSON.stringify([one]).length))
  await using client = open(server.url, { callBytes })
  const error = await thrownBy(() => client.upsert([first, second, newer]))
  expect((error as UpsertError).result.taken).toEqual(taken)
})

test('what fails where the products come from says what was settled before', async () => {
  await using server = await openServer()
  await using client = open(server.url, { callBytes: JSON.stringify(products(2)).length })
  async function* source() {
    yield* products(3)
    throw new Error('the file ended early')
  }
  expect(await thrownBy(() => client.upsert(source()))).toMatchObject({
    name: 'UpsertError',
    message: 'the file ended early',
    result: { taken: ['0', '1'], calls: 1 },
    unsettled: [],
  })
})

test('what fails midway says what was settled before', async () => {
  await using server = await openServer((request, count) =>
    count === 3 ? { status: 503, headers: { 'retry-after': '7' } } : refusing('1')(request),
  )
  await using client = open(server.url, { callBytes: JSON.stringify(products(2)).length })
  const error = await thrownBy(() => client.upsert(products(6)))
  expect(error).toBeInstanceOf(UpsertError)
  expect(error).toMatchObject({
    status: 503,
    exitCode: 3,
    hint: 'Try again later',
    result: { taken: ['0'], refused: [{ productId: '1' }], calls: 3 },
    unsettled: ['2', '3'],
    cause: { retryAfterMs: 7_000 },
  })
})

test('errors of a 200 that name no product leave open what was taken', async () => {
  await using server = await openServer(() => ({ body: { errors: [{ message: 'try later' }] } }))
  await using client = open(server.url)
  expect(await thrownBy(() => client.upsert(products(2)))).toMatchObject({
    message: expect.stringContaining('answered 200: try later'),
    unsettled: ['0', '1'],
  })
})

test('what a supplier is paid is in no reason', async () => {
  await using server = await openServer(() => ({
    status: 400,
    body: { message: 'supplier_cost: 12.5 is odd' },
  }))
  await using client = open(server.url)
  const given = [
    product('a', { supplier_cost: 12.5 }),
    product('b', { supplier_cost: 'x77' as unknown as number }),
  ]
  expect(JSON.stringify(await client.upsert(given))).not.toMatch(/12\.5|x77/)
})
