import fc from 'fast-check'
import { request as send } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ContractError } from '../../src/api/api-error.ts'
import { CatalogClient } from '../../src/api/catalog-client.ts'
import { ConsentClient } from '../../src/api/consent-client.ts'
import { type EndpointName, endpoints } from '../../src/api/contract/endpoints.ts'
import { type Product, productFields } from '../../src/api/contract/product.ts'
import { IntentClient } from '../../src/api/intent-client.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { arbitraryBroken, type Broken } from '../api/contract/arbitrary-breaks.ts'
import { arbitraryProduct, brokenValues, isTolerated } from '../api/contract/arbitrary-products.ts'
import { facts, nameOf } from '../api/contract/facts/facts.ts'
import { type FactRequest, validBodies } from '../api/contract/facts/request.ts'
import { acceptedAndRefused } from '../api/contract/facts/requests.ts'
import { credentialsFor, formatQuery, toWireRequest } from '../sandbox/wire-request.ts'

/** Nobody listens there: whatever is sent fails otherwise than by the contract. */
const nowhere = 'http://127.0.0.1:1'
const catalog = new CatalogClient({ url: nowhere, token: 't' })
const consent = new ConsentClient({ url: nowhere, token: 't' })
const intent = new IntentClient({ url: nowhere, token: 't' })
const stack = new StackClient({ url: nowhere, accessToken: 't', stack: 's' })

interface Call {
  endpoint: EndpointName
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

/** What a program without types might call with. */
const calls: Partial<Record<EndpointName, (call: Call, id: string) => Promise<unknown>>> = {
  createRule: ({ body }) => stack.rules.create(body as never),
  getRule: (_, id) => stack.rules.get(id),
  updateRule: ({ body }, id) => stack.rules.update(id, body as never),
  deleteRule: (_, id) => stack.rules.delete(id),
  applyRule: (_, id) => stack.rules.apply(id),
  createView: ({ body }) => stack.views.create(body as never),
  getView: (_, id) => stack.views.get(id),
  updateView: ({ body }, id) => stack.views.update(id, body as never),
  deleteView: (_, id) => stack.views.delete(id),
  listUsers: ({ query }) => stack.users.list(inClientNames(query)),
  getUser: (_, id) => stack.users.get(id),
  updateUser: ({ body }, id) => stack.users.update(id, body as never),
  deleteUser: (_, id) => stack.users.delete(id),
  listTerms: ({ query }) => stack.terms.list(inClientNames(query)),
  createTerm: ({ body }) => stack.terms.create(body as never),
  getTerm: (_, id) => stack.terms.get(id),
  updateTerm: ({ body }, id) => stack.terms.update(id, body as never),
  deleteTerm: (_, id) => stack.terms.delete(id),
  askIntent: ({ body }) => intent.ask(body as never),
  setConsent: ({ params }) => {
    const flag = params?.consent
    return consent.set(params?.email ?? '', (flag === 'true' || (flag === 'false' ? false : flag)) as boolean)
  },
}

/** Numbers are texts in a query, and numbers for a client. */
function inClientNames({ order_by, order_by_direction, ...paging }: Readonly<Record<string, unknown>> = {}) {
  const numbers = Object.entries(paging).map(([name, value]) => [name, Number(value)] as const)
  const named = { orderBy: order_by, orderByDirection: order_by_direction }
  return { ...Object.fromEntries(numbers), ...named } as object
}

/** The fields that the client refuses without sending anything. */
async function refusedByClient(call: Call): Promise<string[]> {
  if (call.endpoint === 'upsertProducts') {
    const { refused, calls: made } = await catalog.upsert(call.body as Product[])
    expect(made).toBe(0)
    return refused.flatMap(({ by, reasons }) => {
      expect(by).toBe('contract')
      return reasons.map((reason) => reason.split(/[^\w$]/, 1)[0] ?? '')
    })
  }
  const [id = '1'] = Object.values(call.params ?? {})
  const error = await calls[call.endpoint]?.(call, id).catch((thrown: unknown) => thrown)
  expect(error, JSON.stringify(call).slice(0, 500)).toBeInstanceOf(ContractError)
  const { problems, message } = error as ContractError
  for (const problem of problems) expect(message).toContain(problem.message)
  return problems.map(({ field }) => field)
}

describe('what the client is given', () => {
  const breaking = (request: FactRequest) =>
    request.outcome !== 'accepted' &&
    request.outcome.status === undefined &&
    request.credentials === undefined
  const refused = facts
    .map((fact) => [nameOf(fact), acceptedAndRefused(fact).filter(breaking)] as const)
    .filter(([, requests]) => requests.length > 0)

  it.each(refused)('is not sent when it breaks a rule: %s', async (_, requests) => {
    for (const request of requests) {
      if (request.outcome === 'accepted') continue
      expect(new Set(await refusedByClient(request))).toEqual(new Set([request.outcome.refused]))
    }
  })

  it('is not sent when it breaks any one rule, whatever else it holds', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryBroken, async ({ field, ...call }) => {
        expect(new Set(await refusedByClient(call))).toEqual(new Set([field]))
      }),
      { numRuns: 500 },
    )
  })

  it('is not sent when it is a product that breaks any one rule', async () => {
    await fc.assert(
      fc.asyncProperty(brokenProduct, async ({ product, field }) => {
        const fields = await refusedByClient({ endpoint: 'upsertProducts', body: [product] })
        expect(new Set(fields)).toEqual(new Set([field]))
      }),
      { numRuns: 300 },
    )
  })
})

const breaks = productFields.flatMap((field) => brokenValues[field].map((value) => ({ field, value })))
const productWith = (some: typeof breaks) =>
  fc
    .tuple(arbitraryProduct, fc.constantFrom(...some))
    .map(([product, { field, value }]) => ({ product: { ...product, [field]: value }, field }))
const brokenProduct = productWith(breaks)
const brokenForAll = productWith(breaks.filter(({ field, value }) => !isTolerated(field, value)))

describe.each([
  ['lenient', false],
  ['strict', true],
] as const)('a sandbox that is %s refuses over HTTP', (_, strict) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    const rate = { requests: 1_000_000, perMs: 1_000 }
    sandbox = await openSandbox({ port: 0, productsToken: 'p', strict, rate })
    for (const endpoint of ['createTerm', 'createRule', 'createView'] as const) {
      const kind = ({ createTerm: 'term', createRule: 'rule', createView: 'view' } as const)[endpoint]
      expect(await answerTo({ endpoint, body: validBodies[kind] })).toMatchObject({ status: 200 })
    }
  })
  afterAll(() => sandbox[Symbol.asyncDispose]())

  async function answerTo(call: Call): Promise<{ status: number; text: string }> {
    const { method, path, query, body } = toWireRequest({ ...call, outcome: 'accepted' } as FactRequest)
    const { query: credentials, headers } = credentialsFor(endpoints[call.endpoint].group, sandbox)
    const { statusCode, body: answered } = await send(sandbox.url + path + formatQuery(credentials, query), {
      method: method as 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: statusCode, text: await answered.text() }
  }

  it('a body that breaks any one rule, and names the field', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryBroken, async (broken: Broken) => {
        const { status, text } = await answerTo(broken)
        expect(status, text).toBe(400)
        const { errors } = JSON.parse(text) as { errors: { message: string }[] }
        const fields = errors.map(({ message }) => message.split(/[^\w$]/, 1)[0])
        expect(new Set(fields)).toEqual(new Set([broken.field]))
      }),
      { numRuns: 300 },
    )
  })

  it('a product that breaks any one rule, and names the field', async () => {
    await fc.assert(
      fc.asyncProperty(strict ? brokenProduct : brokenForAll, async ({ product, field }) => {
        const { status, text } = await answerTo({ endpoint: 'upsertProducts', body: [product] })
        expect(status, text).toBe(400)
        const { type, errors } = JSON.parse(text) as { type: string; errors: { errors: string }[] }
        expect(type).toBe('has_errors')
        expect(errors).toHaveLength(1)
        // Every reason ends with a comma and a blank, and begins with its place.
        for (const { errors: reasons } of errors) expect(reasons).toMatch(new RegExp(`^${field}\\b.*, $`))
      }),
      { numRuns: 200 },
    )
  })
})
