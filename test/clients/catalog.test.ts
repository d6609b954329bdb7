import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiCallError, ApiResponseError } from '../../src/api/api-error.ts'
import { CatalogClient } from '../../src/api/catalog-client.ts'
import type { Product } from '../../src/api/contract/product.ts'
import { type OpenTarget, runName, targetOf } from './target.ts'

const target = targetOf('catalog')

/** There is no way to delete a product: what is left behind is not shown in a shop. */
const product = (number: number, more: Partial<Product> = {}): Product => ({
  product_id: `${runName}-${number}`,
  name: `Test product ${number}`,
  url: 'https://shop.example/test-product',
  image_url: 'https://shop.example/test-product.jpg',
  availability: 'Invisible',
  price: 1,
  price_currency_code: 'EUR',
  ...more,
})

describe.skipIf(target.missing.length > 0)(`CatalogClient at ${target.where}`, () => {
  let opened: OpenTarget
  let client: CatalogClient
  const token = () => opened.settings.API_PRODUCTS_TOKEN ?? ''
  beforeAll(async () => {
    opened = await target.open()
    client = new CatalogClient({ ...opened.client, token })
  })
  afterAll(async () => {
    await client?.close()
    await opened?.[Symbol.asyncDispose]()
  })

  it('tries its token without products', async () => {
    await expect(client.probe()).resolves.toBeUndefined()
    await expect(client.upsert([])).resolves.toEqual({ taken: [], refused: [], calls: 0 })
  })

  it('is told that a token is wrong, and of which kind it must be', async () => {
    const wrong = `wrong-${runName}`
    await using other = new CatalogClient({ ...opened.client, token: wrong })
    const error = await other.probe().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiResponseError)
    const { status, hint, message } = error as ApiResponseError
    expect([401, 403]).toContain(status)
    expect(hint).toContain('API_PRODUCTS')
    expect(message + JSON.stringify(error)).not.toContain(wrong)
  })

  it('sends nothing that breaks the contract, and says which field does', async () => {
    const broken = { ...product(0), price: '1' } as unknown as Product
    const { taken, refused, calls } = await client.upsert([broken])
    expect({ taken, calls }).toEqual({ taken: [], calls: 0 })
    expect(refused).toMatchObject([{ productId: `${runName}-0`, index: 0, by: 'contract' }])
    expect(refused[0]?.reasons[0]).toMatch(/^price: /)
  })

  it('gives a call up', async () => {
    const error = await client
      .probe({ signal: AbortSignal.abort('enough') })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiCallError)
    expect(error).toMatchObject({ code: 'call-aborted', cause: 'enough', mayHaveTakenEffect: false })
  })

  it.skipIf(!target.mayWrite)('creates and replaces products, and leaves out what is refused', async () => {
    const first = [product(1), product(2, { list_price: 2, tag1: ['test'] })]
    expect(await client.upsert(first)).toMatchObject({
      taken: first.map(({ product_id }) => product_id),
      refused: [],
      calls: 1,
    })
    const broken = { ...product(3), name: undefined } as unknown as Product
    const second = [product(1, { price: 3 }), broken, product(2, { price: 4 })]
    const { taken, refused } = await client.upsert(second)
    expect(taken).toEqual([`${runName}-1`, `${runName}-2`])
    expect(refused).toMatchObject([{ productId: `${runName}-3`, index: 1 }])
  })

  it.skipIf(!target.mayWrite)('divides what is too long for one call', async () => {
    await using small = new CatalogClient({ ...opened.client, token, callBytes: 1_500 })
    const products = Array.from({ length: 8 }, (_, number) =>
      product(number, { description: 'x'.repeat(300) }),
    )
    const { taken, refused, calls } = await small.upsert(products)
    expect(taken).toHaveLength(8)
    expect(refused).toEqual([])
    expect(calls).toBeGreaterThan(2)
  })

  it.skipIf(!target.mayWrite)('takes a wider field only when it is told to', async () => {
    const wider = [{ ...product(4), catalogd_test: 'x' }]
    const [refusal] = (await client.upsert(wider)).refused
    expect(refusal?.reasons[0]).toMatch(/^catalogd_test: /)
    await using tolerant = new CatalogClient({ ...opened.client, token, unknownFields: 'tolerate' })
    const { taken, refused } = await tolerant.upsert(wider)
    // Whether a server takes it is the server's business; that it was asked is ours.
    expect([...taken, ...refused.map(({ by }) => by)]).toEqual([taken.length > 0 ? `${runName}-4` : 'server'])
  })
})
