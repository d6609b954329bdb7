import { request as ask, type Dispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpoints } from '../../src/api/contract/endpoints.ts'
import { isObject } from '../../src/api/contract/json-value.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import type { Fact, ParameterFact } from '../api/contract/facts/fact.ts'
import { facts, nameOf } from '../api/contract/facts/facts.ts'
import { type FactRequest, validBodies } from '../api/contract/facts/request.ts'
import { acceptedAndRefused } from '../api/contract/facts/requests.ts'
import { product } from './harness.ts'
import { credentialsFor, formatQuery, toWireRequest } from './wire-request.ts'

interface Answer {
  status: number
  text: string
}

const rate = { requests: 1_000_000, perMs: 1_000 }

async function send(sandbox: Sandbox, request: FactRequest): Promise<Answer> {
  const { method, path, query, body } = toWireRequest(request, await existingId(sandbox, request))
  const { group } = endpoints[request.endpoint]
  const credentials = credentialsFor(group, sandbox, request.credentials)
  const response = await ask(`${sandbox.url}${path}${formatQuery(credentials.query, query)}`, {
    method: method as Dispatcher.HttpMethod,
    headers: {
      ...credentials.headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.statusCode, text: await response.body.text() }
}

async function existingId(sandbox: Sandbox, { existing }: FactRequest): Promise<number | undefined> {
  if (existing === undefined) return undefined
  if (existing === 'seeded user') {
    const { body } = await ask(`${sandbox.url}/sandbox/users`)
    const { users } = (await body.json()) as { users: { id: number }[] }
    // Some facts delete: the first one stays to the last.
    return users.at(-1)?.id
  }
  const { status, text } = await send(sandbox, { ...existing, outcome: 'accepted' })
  expect(status, text).toBe(200)
  return (JSON.parse(text) as { data: { id: number } }).data.id
}

/** The contract names no types of rules, and real servers know two: the one place where strict is stricter. */
function isOtherRuleType({ body }: FactRequest): boolean {
  return isObject(body) && body.type === 'Some words' && !Object.hasOwn(body, 'network')
}

function isFixed(fact: Fact): boolean {
  return fact.about === 'field' && fact.create === true && fact.update === undefined
}

/** What a server answers in words, whatever the envelope. */
function namesField(text: string, field: string): boolean {
  return new RegExp(`\\b${field.replaceAll('$', '\\$')}\\b`).test(text)
}

describe.each([
  ['lenient', false],
  ['strict', true],
] as const)('a sandbox that is %s', (_, strict) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await openSandbox({ port: 0, productsToken: 'products', strict, rate })
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  it.each(facts.map((fact) => [nameOf(fact), fact] as const))('keeps to %s', async (__, fact) => {
    const requests = acceptedAndRefused(fact)
    expect(requests.length).toBeGreaterThan(0)
    for (const request of requests) {
      const { status, text } = await send(sandbox, request)
      const { strictOnly } = request
      const outcome: FactRequest['outcome'] =
        strict && isOtherRuleType(request) ? { refused: 'type' } : request.outcome
      const shown = `${JSON.stringify(request).slice(0, 300)}\nanswered ${status}: ${text.slice(0, 500)}`
      // Lenient: what the service keeps is ignored, but nobody is to believe that a fixed field was changed.
      const isIgnored = strictOnly && !strict && !(isFixed(fact) && status === 400)
      if (outcome === 'accepted' || isIgnored) {
        expect(status, shown).toBe(200)
        continue
      }
      expect(status, shown).toBe(outcome.status ?? 400)
      if (outcome.status === undefined) expect(namesField(text, outcome.refused), shown).toBe(true)
      else expect(text.length, shown).toBeGreaterThan(20)
    }
  })
})

const withDefault = facts.filter(
  (fact): fact is ParameterFact => fact.about === 'parameter' && fact.default !== undefined,
)

describe('a default', () => {
  it.each(withDefault.map((fact) => [nameOf(fact), fact] as const))(
    'is what holds when nothing is given: %s',
    async (_, { endpoint, parameter, default: byDefault }) => {
      await using sandbox = await openSandbox({ port: 0, productsToken: 'products', rate })
      for (let number = 1; number <= 30; number += 1) {
        await send(sandbox, { endpoint: 'createTerm', body: validBodies.term, outcome: 'accepted' })
      }
      const without = await send(sandbox, { endpoint, outcome: 'accepted' })
      const given = { [parameter]: byDefault }
      const asked = await send(sandbox, { endpoint, query: given, outcome: 'accepted' })
      expect(asked).toEqual(without)
      expect((JSON.parse(without.text) as { data: unknown[] }).data).toHaveLength(25)
    },
  )

  it('of how many products are recommended is 3', async () => {
    await using sandbox = await openSandbox({ port: 0, productsToken: 'products', strict: true })
    const lamps = Array.from({ length: 30 }, (_, number) =>
      product(String(number), { name: `Lamp ${number}` }),
    )
    await send(sandbox, { endpoint: 'upsertProducts', body: lamps, outcome: 'accepted' })
    const counts = [undefined, null, 3, 20].map(async (maxAgentRecommendations) => {
      const body = { ...validBodies['intent-request'], maxAgentRecommendations }
      const { text } = await send(sandbox, { endpoint: 'askIntent', body, outcome: 'accepted' })
      return (JSON.parse(text) as { agentProductRecommendations: unknown[] }).agentProductRecommendations
        .length
    })
    expect(await Promise.all(counts)).toEqual([3, 3, 3, 20])
  })
})
