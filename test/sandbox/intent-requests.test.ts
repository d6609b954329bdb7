import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { token } from './harness.ts'
import { type IntentSandbox, identity, intentToken, openIntentSandbox } from './intent-client.ts'

let lenient: IntentSandbox
let strict: IntentSandbox

beforeAll(async () => {
  lenient = await openIntentSandbox()
  strict = await openIntentSandbox(undefined, { strict: true })
})
afterAll(async () => {
  await lenient[Symbol.asyncDispose]()
  await strict[Symbol.asyncDispose]()
})

const valid = { ...identity, prompt: 'lamp' }
const json = (more: object = {}) => JSON.stringify({ ...valid, ...more })

describe('the token', () => {
  it('is wanted, and of the right kind', async () => {
    const attempt = (authorization: string) => lenient.post(json(), { authorization })
    expect(await attempt('')).toMatchObject({ status: 401, text: expect.stringContaining('Bearer') })
    expect(await attempt(`Basic ${btoa(`:${intentToken}`)}`)).toMatchObject({ status: 401 })
    expect(await attempt('Bearer else')).toMatchObject({
      status: 401,
      text: expect.stringContaining('not valid'),
    })
    expect(await attempt(`Bearer ${token}`)).toMatchObject({
      status: 401,
      text: expect.stringContaining('this is the API_PRODUCTS token'),
    })
    expect((await attempt(`bearer ${intentToken}`)).status).toBe(200)
  })
})

describe('a request', () => {
  it.each(['prompt', 'customerId', 'partnerId', 'chatId'])(
    'without %s is refused, naming it',
    async (field) => {
      const wrong = [{ [field]: undefined }, { [field]: '' }, { [field]: null }, { [field]: ' ' }]
      for (const sandbox of [lenient, strict]) {
        for (const more of wrong) {
          expect(await sandbox.post(json(more))).toMatchObject({
            status: 400,
            text: expect.stringContaining(field),
          })
        }
      }
    },
  )

  it.each([
    { maxAgentRecommendations: 0 },
    { maxAgentRecommendations: 21 },
    { maxAgentRecommendations: 2.5 },
    { maxAgentRecommendations: 'many' },
    { country: 'Germany' },
    { country: 'ZZ' },
    { locale: 'english' },
    { rankingOnly: 'perhaps' },
    { giveAgentContext: {} },
    { responseFormat: '' },
  ])('with %j is refused, naming the field', async (more) => {
    const [field = ''] = Object.keys(more)
    const isLeftOut = Object.values(more)[0] === ''
    const answer = await strict.post(json(more))
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining(field) })
    if (!isLeftOut) expect((await lenient.post(json(more))).status).toBe(400)
  })

  it.each(['', '{', '[]', 'null', '"x"', '{"prompt":"x"}'])('that is %j is refused', async (body) => {
    const answer = await lenient.post(body)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).message).not.toBe('')
  })

  it.each([
    ['a query', json(), {}, '?merchant-id=7'],
    ['a trailing slash', json(), {}, '/'],
    ['numbers as texts', json({ maxAgentRecommendations: '2', rankingOnly: 'true' }), {}, ''],
    ['numbers as ids', json({ customerId: 7, chatId: 12 }), {}, ''],
    ['unknown fields', json({ sessionId: 'x' }), {}, ''],
    ['null where a default is', json({ rankingOnly: null, country: null, locale: null }), {}, ''],
    ['another type of content', json(), { 'content-type': 'text/plain' }, ''],
    [
      'a form',
      new URLSearchParams({ ...valid, maxAgentRecommendations: '2', giveAgentContext: '1' }).toString(),
      { 'content-type': 'application/x-www-form-urlencoded' },
      '',
    ],
  ])('with %s is taken by a lenient sandbox', async (_, body, headers, query) => {
    expect(await lenient.post(body, headers, query)).toMatchObject({ status: 200 })
  })

  it.each([
    ['unknown fields', json({ sessionId: 'x' }), {}],
    ['numbers as texts', json({ maxAgentRecommendations: '2' }), {}],
    ['another type of content', json(), { 'content-type': 'text/plain' }],
    [
      'a form',
      new URLSearchParams(valid).toString(),
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
  ])('with %s is refused by a strict sandbox', async (_, body, headers) => {
    expect((await strict.post(json())).status).toBe(200)
    expect((await strict.post(body, headers)).status).toBe(400)
  })

  it('of any words is answered, never 5xx', async () => {
    const words = fc.constantFrom(
      ...'red not without under 50 € between and 20 more cheaper instead , $ -1 k 1.2.3 %% 99% stars or lamp but ¦ ß 𝔘 \u0000 anything nothing'.split(
        ' ',
      ),
    )
    const prompt = fc.oneof(
      fc.array(words, { minLength: 1, maxLength: 12 }).map((all) => all.join(' ')),
      fc.string({ minLength: 1 }),
    )
    await fc.assert(
      fc.asyncProperty(prompt, async (text) => {
        const { status } = await lenient.post(
          json({ prompt: text, giveAgentContext: true, responseFormat: 'markdown' }),
        )
        expect([200, 400]).toContain(status)
        expect(status === 400).toBe(text.trim() === '')
      }),
      { numRuns: 300 },
    )
  })
})

describe('faults of the intent endpoint', () => {
  it('belong to its group', async () => {
    await using sandbox = await openIntentSandbox()
    await sandbox.send('POST', '/sandbox/faults', { group: 'intent', status: 503, calls: 1 })
    expect((await sandbox.post(json())).status).toBe(503)
    expect((await sandbox.post(json())).status).toBe(200)
  })
})
