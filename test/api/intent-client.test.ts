import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ContractError } from '../../src/api/api-error.ts'
import { IntentClient, type IntentClientOptions, type IntentQuestion } from '../../src/api/intent-client.ts'
import { leakCheck } from '../support/leak-check.ts'
import { question, token } from './clients.ts'
import { openServer, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const open = (url: string, options: Partial<IntentClientOptions> = {}) =>
  new IntentClient({ url, token, ...options })

const answer = {
  agentInsight: 'This one.',
  agentProductRecommendations: [
    { productId: 'a', name: 'Kettle', price: 12.5, skus: [{ id: 's', size: 'L' }], score: 0.9 },
    { productId: 'b', name: null, price: null, skus: null },
  ],
  traceId: 't-1',
}

test('asks with the token and what is given, and nothing else', async () => {
  await using server = await openServer(() => ({ body: answer }))
  await using client = open(server.url)
  await client.ask(question)
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    path: '/api',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  expect(server.requests[0]?.body).toEqual(question)
})

test('sends every field of the contract', async () => {
  await using server = await openServer(() => ({ body: answer }))
  await using client = open(server.url)
  const whole: IntentQuestion = {
    ...question,
    country: 'DE',
    locale: 'de-DE',
    rankingOnly: true,
    maxAgentRecommendations: 20,
    giveAgentContext: true,
    responseFormat: 'markdown',
  }
  await client.ask(whole)
  await client.ask({ ...question, maxAgentRecommendations: null })
  expect(server.requests.map(({ body }) => body)).toEqual([
    whole,
    { ...question, maxAgentRecommendations: null },
  ])
})

test('partner, country and locale of the client stand in for what is left out', async () => {
  await using server = await openServer(() => ({ body: answer }))
  await using client = open(server.url, { partnerId: 'mine', country: 'DE', locale: 'de' })
  const { partnerId: _, ...rest } = question
  await client.ask(rest)
  await client.ask({ ...rest, partnerId: 'other', country: 'FR', locale: undefined })
  expect(server.requests.map(({ body }) => body)).toEqual([
    { ...rest, partnerId: 'mine', country: 'DE', locale: 'de' },
    { ...rest, partnerId: 'other', country: 'FR', locale: 'de' },
  ])
})

describe('the answer', () => {
  test.each([
    ['bare', answer],
    ['in an envelope', { data: answer, errors: [] }],
    ['in an envelope without a list of errors', { data: answer, errors: null }],
  ])('%s is kept whole, unknown fields too', async (_, body) => {
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    expect(await client.ask(question)).toEqual(answer)
  })

  test('may be of another form than the contract shows', async () => {
    const odd = { agentInsight: 5, agentProductRecommendations: [{ productId: 17, price: '12 EUR' }] }
    await using server = await openServer(() => ({ body: odd }))
    await using client = open(server.url)
    expect(await client.ask(question)).toEqual({
      agentInsight: 5,
      agentProductRecommendations: [{ productId: '17', price: '12 EUR' }],
    })
  })

  test.each(['', 'fine', '[]', '"text"'])('that is no object (%j) is an error', async (body) => {
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    expect(await thrownBy(() => client.ask(question))).toMatchObject({ status: 200, code: 'no-json' })
  })

  test.each([{}, { ok: true }, { agentProductRecommendations: {} }])(
    'that is none to a question (%j) is an error',
    async (body) => {
      await using server = await openServer(() => ({ body }))
      await using client = open(server.url)
      expect(await thrownBy(() => client.ask(question))).toMatchObject({ status: 200, code: 'no-api' })
    },
  )

  test('may hold elements that are no products', async () => {
    await using server = await openServer(() => ({
      body: { agentProductRecommendations: [null, { productId: 1 }, 'x'] },
    }))
    await using client = open(server.url)
    expect(await client.ask(question)).toEqual({ agentProductRecommendations: [{ productId: '1' }] })
  })

  test('that is longer than is read is an error', async () => {
    await using server = await openServer(() => ({ body: { agentInsight: 'x'.repeat(1_100_000) } }))
    await using client = open(server.url)
    expect(await thrownBy(() => client.ask(question))).toMatchObject({ status: 200, code: 'too-long' })
  })

  test('may say that there is none', async () => {
    await using server = await openServer(() => ({ body: { agentProductRecommendations: null } }))
    await using client = open(server.url)
    expect(await client.ask(question)).toEqual({ agentProductRecommendations: null })
  })
})

describe('nothing is sent', () => {
  test.each<[string, object]>([
    ['prompt', { prompt: '' }],
    ['customerId', { customerId: undefined }],
    ['partnerId', { partnerId: undefined }],
    ['chatId', { chatId: '' }],
    ['country', { country: 'Germany' }],
    ['locale', { locale: 'deutsch!' }],
    ['maxAgentRecommendations', { maxAgentRecommendations: 21 }],
    ['maxAgentRecommendations', { maxAgentRecommendations: 0 }],
    ['rankingOnly', { rankingOnly: 'yes' }],
    ['giveAgentContext', { giveAgentContext: 1 }],
    ['responseFormat', { responseFormat: '' }],
    ['maxRecommendations', { maxRecommendations: 3 }],
  ])('when %s is wrong', async (field, wrong) => {
    await using server = await openServer(() => ({ body: answer }))
    await using client = open(server.url)
    const error = await thrownBy(() => client.ask({ ...question, ...wrong } as IntentQuestion))
    expect(error).toBeInstanceOf(ContractError)
    expect((error as ContractError).problems.map((problem) => problem.field)).toContain(field)
    expect(server.requests).toEqual([])
  })

  test.each([undefined, null, 'shoes', []])('when %j is asked', async (nothing) => {
    await using server = await openServer()
    await using client = open(server.url)
    expect(await thrownBy(() => client.ask(nothing as never))).toBeInstanceOf(ContractError)
    expect(server.requests).toEqual([])
  })

  test.each(['country', 'locale'])('when a Shopify merchant names no %s', async (field) => {
    await using server = await openServer(() => ({ body: answer }))
    const both = { country: 'US', locale: 'en' }
    await using client = open(server.url, { shopify: true, ...both, [field]: undefined })
    expect(await thrownBy(() => client.ask(question))).toMatchObject({ problems: [{ field }] })
    expect(server.requests).toEqual([])
    await client.ask({ ...question, ...both })
    expect(server.requests.length).toBe(1)
  })

  test('when there is no token: then it is not enabled', async () => {
    await using server = await openServer()
    await using client = new IntentClient({ url: server.url })
    expect(await thrownBy(() => client.ask(question))).toMatchObject({
      code: 'no-token',
      hint: expect.stringMatching(/no shopper intent enabled/),
    })
    expect(server.requests).toEqual([])
  })
})

test.each([401, 403])('%d is explained', async (status) => {
  await using server = await openServer(() => ({ status, body: 'no' }))
  await using client = open(server.url)
  const { hint } = (await thrownBy(() => client.ask(question))) as unknown as { hint: string }
  expect(hint).toMatch(/API_LIM/)
  expect(hint).toMatch(/one merchant/)
  expect(hint).toMatch(/master account/)
  expect(hint).toMatch(/enabled/)
})

test.each([
  ['7', 7_000],
  [undefined, undefined],
])('429 with Retry-After %s is told, not waited for', async (after, retryAfterMs) => {
  await using server = await openServer(() => ({
    status: 429,
    headers: after ? { 'retry-after': after } : {},
  }))
  await using client = open(server.url)
  expect(await thrownBy(() => client.ask(question))).toMatchObject({ status: 429, retryAfterMs })
  expect(server.requests.length).toBe(1)
})

test.each([500, 503])('%d is never asked again', async (status) => {
  await using server = await openServer(() => ({ status }))
  await using client = open(server.url)
  await thrownBy(() => client.ask(question))
  expect(server.requests.length).toBe(1)
})
