import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiCallError, ApiResponseError, ContractError } from '../../src/api/api-error.ts'
import { CatalogClient } from '../../src/api/catalog-client.ts'
import type { IntentResponse } from '../../src/api/contract/intent.ts'
import { IntentClient, type IntentClientOptions } from '../../src/api/intent-client.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { type OpenTarget, runName, targetOf } from './target.ts'

const target = targetOf('intent')
const question = { prompt: 'a lamp for the desk', customerId: runName, chatId: runName }

/** The contract has nothing that changes data here: every case runs everywhere. */
describe.skipIf(target.missing.length > 0)(`IntentClient at ${target.where}`, () => {
  let opened: OpenTarget
  let client: IntentClient
  const openClient = (options: Partial<IntentClientOptions> = {}) => {
    const { API_LIM_TOKEN, INTENT_PARTNER_ID, INTENT_COUNTRY, INTENT_LOCALE } = opened.settings
    return new IntentClient({
      ...opened.client,
      token: API_LIM_TOKEN,
      partnerId: INTENT_PARTNER_ID,
      country: INTENT_COUNTRY,
      locale: INTENT_LOCALE,
      ...options,
    })
  }
  beforeAll(async () => {
    opened = await target.open()
    client = openClient()
    if (!target.isReal) await fillCatalog(opened)
  })
  afterAll(async () => {
    await client?.close()
    await opened?.[Symbol.asyncDispose]()
  })

  it('ranks products and says why in words', async () => {
    const answer = await client.ask(question)
    expectRanking(answer, 3)
    expect(answer.agentInsight).toBeTypeOf('string')
  })

  it.each([1, 20])('gets at most %i products', async (maxAgentRecommendations) => {
    expectRanking(await client.ask({ ...question, maxAgentRecommendations }), maxAgentRecommendations)
  })

  it('gets the ranking alone', async () => {
    const answer = await client.ask({ ...question, rankingOnly: true })
    expectRanking(answer, 3)
    expect(answer.agentInsight ?? '').toBe('')
  })

  it('gets the context, in markdown', async () => {
    const answer = await client.ask({ ...question, giveAgentContext: true, responseFormat: 'markdown' })
    expectRanking(answer, 3)
    expect(answer.agentContext).toBeTypeOf('string')
  })

  it('asks further in a conversation', async () => {
    const chatId = `${runName}-further`
    expectRanking(await client.ask({ ...question, chatId }), 3)
    expectRanking(await client.ask({ ...question, chatId, prompt: 'and cheaper?' }), 3)
  })

  it('is told that a token is wrong, and of which kind it must be', async () => {
    const wrong = `wrong-${runName}`
    await using other = openClient({ token: wrong })
    const error = await other.ask(question).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiResponseError)
    const { status, hint, message } = error as ApiResponseError
    expect([401, 403]).toContain(status)
    expect(hint).toMatch(/API_LIM.*one merchant.*master account/)
    expect(message + JSON.stringify(error)).not.toContain(wrong)
  })

  it('says without a token that shopper intent is not enabled', async () => {
    await using other = openClient({ token: undefined })
    const error = await other.ask(question).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as ConfigError).hint).toContain('no shopper intent')
  })

  it.each([
    ['prompt', { prompt: '' }],
    ['maxAgentRecommendations', { maxAgentRecommendations: 21 }],
    ['maxAgentRecommendations', { maxAgentRecommendations: 0 }],
    ['country', { country: 'Germany' }],
    ['locale', { locale: 'not a language' }],
    ['rankingOnly', { rankingOnly: 'yes' as unknown as boolean }],
  ])('sends nothing whose %s breaks the contract', async (field, broken) => {
    const error = await client.ask({ ...question, ...broken }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ContractError)
    expect((error as ContractError).problems.map((problem) => problem.field)).toEqual([field])
  })

  it('wants country and locale of Shopify merchants', async () => {
    await using shopify = openClient({ shopify: true, country: undefined, locale: undefined })
    const error = await shopify.ask(question).catch((thrown: unknown) => thrown)
    expect((error as ContractError).problems.map(({ field }) => field)).toEqual(['country', 'locale'])
    expectRanking(await shopify.ask({ ...question, country: 'US', locale: 'en' }), 3)
  })

  it('gives a call up', async () => {
    const error = await client
      .ask(question, { signal: AbortSignal.abort('enough') })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ApiCallError)
    expect(error).toMatchObject({ code: 'call-aborted', cause: 'enough', mayHaveTakenEffect: false })
  })
})

function expectRanking({ agentProductRecommendations }: IntentResponse, max: number): void {
  const ranked = agentProductRecommendations ?? []
  if (!target.isReal) expect(ranked.length).toBeGreaterThan(0)
  expect(ranked.length).toBeLessThanOrEqual(max)
  for (const one of ranked) {
    expect(one.productId).toBeTypeOf('string')
    // It can only be written.
    expect(one).not.toHaveProperty('supplier_cost')
    expect(one).not.toHaveProperty('supplierCost')
  }
  expect(new Set(ranked.map(({ productId }) => productId)).size).toBe(ranked.length)
}

async function fillCatalog({ client: { url } }: OpenTarget): Promise<void> {
  await using catalog = new CatalogClient({ url, token: 'products-token' })
  const products = Array.from({ length: 30 }, (_, number) => ({
    product_id: `lamp-${number}`,
    name: `Desk lamp ${number}`,
    url: `https://shop.example/lamp-${number}`,
    image_url: `https://shop.example/lamp-${number}.jpg`,
    availability: 'InStock',
    price: 10 + number,
    price_currency_code: 'EUR',
    supplier_cost: 5,
  }))
  expect((await catalog.upsert(products)).taken).toHaveLength(products.length)
}
