import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiResponseError, ContractError } from '../../src/api/api-error.ts'
import type { RuleCreate } from '../../src/api/contract/rule.ts'
import type { TermCreate } from '../../src/api/contract/term.ts'
import type { StackClientOptions } from '../../src/api/stack-calls.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { leakCheck } from '../support/leak-check.ts'
import { everythingIn, openServer, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const open = (url: string, options: Partial<StackClientOptions> = {}) =>
  new StackClient({ url, accessToken: 'access-token', stack: 'my stack & co', ...options })

const rule: RuleCreate = {
  name: 'Reds',
  trigger: { $or: [{ tags: { $in: ['red'] } }] },
  action: [{ type: '$set', field: 'status', value: 'published' }],
  enabled: 1,
  type: 'tile',
}
const term: TermCreate = { name: 'T', type: 'hashtag', network: 'twitter', term: 'red', active: true }
const view = { view_name: 'Queue', columns_tags_col: true }

type Call = (client: StackClient) => Promise<unknown>

const calls: [string, Call, { method: string; path: string; body?: unknown; query?: object }][] = [
  ['rules.list', ({ rules }) => rules.list(), { method: 'GET', path: '/api/tilerules/' }],
  [
    'rules.create',
    ({ rules }) => rules.create(rule),
    { method: 'POST', path: '/api/tilerules/', body: rule },
  ],
  ['rules.get', ({ rules }) => rules.get('a b/c'), { method: 'GET', path: '/api/tilerules/a%20b%2Fc' }],
  [
    'rules.update',
    ({ rules }) => rules.update(7, { enabled: 0 }),
    { method: 'PUT', path: '/api/tilerules/7', body: { enabled: 0 } },
  ],
  ['rules.delete', ({ rules }) => rules.delete(7), { method: 'DELETE', path: '/api/tilerules/7' }],
  ['rules.apply', ({ rules }) => rules.apply(7), { method: 'PUT', path: '/api/tilerules/7/apply' }],
  ['views.list', ({ views }) => views.list(), { method: 'GET', path: '/api/moderationviews' }],
  [
    'views.create',
    ({ views }) => views.create(view),
    { method: 'POST', path: '/api/moderationviews', body: view },
  ],
  ['views.get', ({ views }) => views.get(7), { method: 'GET', path: '/api/moderationviews/7' }],
  [
    'views.update',
    ({ views }) => views.update(7, view),
    { method: 'PUT', path: '/api/moderationviews/7', body: view },
  ],
  ['views.delete', ({ views }) => views.delete(7), { method: 'DELETE', path: '/api/moderationviews/7' }],
  ['users.list', ({ users }) => users.list(), { method: 'GET', path: '/api/users', query: {} }],
  [
    'users.list with all parameters',
    ({ users }) => users.list({ page: 2, limit: 100, orderBy: 'email', orderByDirection: 'desc' }),
    {
      method: 'GET',
      path: '/api/users',
      query: { page: '2', limit: '100', order_by: 'email', order_by_direction: 'desc' },
    },
  ],
  ['users.get', ({ users }) => users.get('7'), { method: 'GET', path: '/api/users/7' }],
  [
    'users.update',
    ({ users }) => users.update(7, { name: 'Jo', acl_groups: '1,3' }),
    { method: 'PUT', path: '/api/users/7', body: { name: 'Jo', acl_groups: '1,3' } },
  ],
  ['users.delete', ({ users }) => users.delete(7), { method: 'DELETE', path: '/api/users/7' }],
  [
    'terms.list',
    ({ terms }) => terms.list({ page: 3, limit: 1 }),
    { method: 'GET', path: '/api/terms', query: { page: '3', limit: '1' } },
  ],
  ['terms.create', ({ terms }) => terms.create(term), { method: 'POST', path: '/api/terms', body: term }],
  ['terms.get', ({ terms }) => terms.get(7), { method: 'GET', path: '/api/terms/7' }],
  [
    'terms.update',
    ({ terms }) => terms.update(7, { active: 0 }),
    { method: 'PUT', path: '/api/terms/7', body: { active: 0 } },
  ],
  ['terms.delete', ({ terms }) => terms.delete(7), { method: 'DELETE', path: '/api/terms/7' }],
]

test.each(calls)('%s', async (_, call, expected) => {
  await using server = await openServer(() => ({ body: { data: { id: 7 }, errors: [] } }))
  await using client = open(server.url)
  await call(client).catch(() => {})
  expect(server.requests).toMatchObject([expected])
  const [request] = server.requests
  expect(request?.headers['content-type'] ?? 'none').toBe('body' in expected ? 'application/json' : 'none')
  if (!('body' in expected)) expect(request?.text).toBe('')
})

test('credentials are in the query of every request', async () => {
  await using server = await openServer()
  await using client = open(server.url, { accessToken: 'a+b/c=d e' })
  for (const [, call] of calls) await call(client).catch(() => {})
  expect(server.requests.length).toBeGreaterThanOrEqual(calls.length)
  for (const { target } of server.requests) {
    const { searchParams } = new URL(target, server.url)
    expect([searchParams.get('access_token'), searchParams.get('stack')]).toEqual([
      'a+b/c=d e',
      'my stack & co',
    ])
  }
})

describe('an answer', () => {
  const terms = [
    { id: '12', name: 'A', created: '1700000000', odd: { x: 1 } },
    { id: 13, modified: null },
  ]

  test('that is only a part of what is counted is an error where there are no pages', async () => {
    const body = { data: [{ id: 1 }, { id: 2 }], errors: [], count: { results_total: '3', total: '4' } }
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    for (const list of [() => client.rules.list(), () => client.views.list()]) {
      expect(await thrownBy(list)).toMatchObject({
        code: 'incomplete',
        serverMessage: '2 records where it counts 3',
      })
    }
    body.count.results_total = '2'
    expect(await client.rules.list()).toEqual([{ id: 1 }, { id: 2 }])
  })

  test.each([
    ['in an envelope', { data: terms, errors: [] }],
    ['with counts', { data: terms, errors: [], count: { results_total: '2', total: '9' } }],
    ['with counts alone', { data: terms, count: { total: '9' } }],
    ['bare', terms],
    ['by position', { data: { 0: terms[0], 1: terms[1] }, errors: [] }],
  ])('%s is a list', async (_, body) => {
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    const { records } = await client.terms.list()
    expect(records).toEqual([
      { id: 12, name: 'A', created: '1700000000', odd: { x: 1 } },
      { id: 13, modified: null },
    ])
  })

  test('says which page it is, and of how many records', async () => {
    await using server = await openServer(() => ({
      body: { data: terms, errors: [], count: { total: '9' } },
    }))
    await using client = open(server.url)
    expect(await client.terms.list()).toMatchObject({ page: 1, limit: 25, total: 9 })
    expect(await client.users.list({ page: 3, limit: 2 })).toMatchObject({ page: 3, limit: 2, total: 9 })
  })

  test.each([{ data: [], errors: [] }, [], { data: null, errors: [] }])(
    'of nothing (%j) is an empty list',
    async (body) => {
      await using server = await openServer(() => ({ body }))
      await using client = open(server.url)
      expect(await client.rules.list()).toEqual([])
    },
  )

  test.each([{ data: [], errors: null }, { data: {}, errors: '' }, { data: null, errors: {} }, []])(
    'that is an empty list: %j',
    async (body) => {
      await using server = await openServer(() => ({ body }))
      await using client = open(server.url)
      expect(await client.views.list()).toEqual([])
    },
  )

  test('whose errors are null is an envelope all the same', async () => {
    const record = { id: 7, name: 'x' }
    await using server = await openServer(() => ({ body: { data: record, errors: null } }))
    await using client = open(server.url)
    expect(await client.users.get(7)).toEqual(record)
  })

  test.each([{ data: 5, errors: [] }, 'text', '', 'null', {}, [1, 2], { data: { id: 1 }, errors: [] }])(
    'that is no list (%j) is an error where one is asked for',
    async (body) => {
      await using server = await openServer(() => ({ body }))
      await using client = open(server.url)
      expect(await thrownBy(() => client.views.list())).toMatchObject({ code: 'no-list', status: 200 })
    },
  )

  test.each([
    ['in an envelope', { data: { id: '7', name: 'x', more: [1] }, errors: [] }],
    ['bare', { id: 7, name: 'x', more: [1] }],
    ['in a list of one', { data: [{ id: 7, name: 'x', more: [1] }], errors: [] }],
    ['without its id', { data: { name: 'x', more: [1] } }],
  ])('%s is a record, with all its fields', async (_, body) => {
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    expect(await client.users.get(7)).toEqual({ id: 7, name: 'x', more: [1] })
  })

  test('keeps ids that no number holds, and fields of other forms than expected', async () => {
    const body = '{"data":{"id":12345678901234567890,"email":5,"price":1.5},"errors":[]}'
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    expect(await client.users.get(7)).toEqual({ id: '12345678901234567890', email: 5, price: 1.5 })
  })

  test.each([{ data: [], errors: [] }, '', {}])('without the record (%j) is an error', async (body) => {
    await using server = await openServer(() => ({ body }))
    await using client = open(server.url)
    expect(await thrownBy(() => client.rules.get(7))).toMatchObject({ code: 'no-record' })
    expect(await thrownBy(() => client.terms.create(term))).toMatchObject({
      code: 'no-record',
      message: expect.stringContaining('was taken'),
    })
  })

  test('without the record after a change: it is asked for', async () => {
    await using server = await openServer(({ method }) =>
      method === 'PUT' ? { body: '' } : { body: { id: 7, name: 'N' } },
    )
    await using client = open(server.url)
    expect(await client.terms.update(7, { name: 'N' })).toEqual({ id: 7, name: 'N' })
    expect(server.requests.map(({ method }) => method)).toEqual(['PUT', 'GET'])
  })

  test('to apply is passed on as it is', async () => {
    await using server = await openServer((_, count) => ({
      body: count === 1 ? { data: { changed: 3 }, errors: [] } : '',
    }))
    await using client = open(server.url)
    expect(await client.rules.apply(7)).toEqual({ changed: 3 })
    expect(await client.rules.apply(7)).toBeUndefined()
  })

  test('of status 200 with errors is an error', async () => {
    const errors = [
      { message: 'Term not found', code: 404, error_code: 1080404, message_id: 'term:not_found' },
    ]
    await using server = await openServer(() => ({ body: { data: [], errors } }))
    await using client = open(server.url)
    const error = await thrownBy(() => client.terms.delete(7))
    expect(error).toBeInstanceOf(ApiResponseError)
    expect(error).toMatchObject({ status: 200, code: 'errors', serverMessage: 'Term not found', errors })
  })

  test('may be many megabytes long', async () => {
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id, name: 'x'.repeat(200) }))
    await using server = await openServer(() => ({ body: { data: many, errors: [] } }))
    await using client = open(server.url)
    expect((await client.rules.list()).length).toBe(20_000)
  })

  test('that names a token of another Stack is explained', async () => {
    await using server = await openServer(() => ({
      status: 403,
      body: { errors: [{ message: 'no access' }] },
    }))
    await using client = open(server.url)
    expect(await thrownBy(() => client.rules.list())).toMatchObject({
      status: 403,
      hint: expect.stringContaining('name of the Stack'),
    })
  })
})

describe('nothing is sent', () => {
  test.each<[string, Call, string]>([
    ['a limit above 100', ({ users }) => users.list({ limit: 101 }), 'limit'],
    [
      'an option of users by its wire name',
      ({ users }) => users.list({ order_by: 'email' } as object),
      'order_by',
    ],
    ['an unknown option of all users', async ({ users }) => users.all({ page: 2 } as object).next(), 'page'],
    ['an unknown option of terms', ({ terms }) => terms.list({ orderBy: 'id' } as object), 'orderBy'],
    [
      'an unknown option of all terms',
      async ({ terms }) => terms.all({ constructor: 2 } as object).next(),
      'constructor',
    ],
    ['a limit above 100 of all', ({ terms }) => terms.all({ limit: 101 }).next(), 'limit'],
    ['a limit of 0', ({ terms }) => terms.list({ limit: 0 }), 'limit'],
    ['a page of 0', ({ terms }) => terms.list({ page: 0 }), 'page'],
    ['an unknown order', ({ users }) => users.list({ orderBy: 'age' as 'id' }), 'order_by'],
    [
      'an unknown direction',
      ({ users }) => users.all({ orderByDirection: 'up' as 'asc' }).next(),
      'order_by_direction',
    ],
    ['a rule without a name', ({ rules }) => rules.create({ ...rule, name: '' }), 'name'],
    ['a rule without $or', ({ rules }) => rules.update(1, { trigger: {} as never }), 'trigger'],
    ['a term of a wrong network', ({ terms }) => terms.create({ ...term, network: 'rss' }), 'network'],
    ['a change of a type', ({ terms }) => terms.update(1, { type: 'user' } as never), 'type'],
    ['a user name', ({ users }) => users.update(1, { username: 'x' } as never), 'username'],
    ['a column that there is not', ({ views }) => views.create({ columns_x: true } as never), 'columns_x'],
    ['nothing at all', ({ terms }) => terms.create(undefined as never), 'type'],
    ['an empty id', ({ terms }) => terms.get(''), 'id'],
    ['an id that climbs', ({ rules }) => rules.delete('..'), 'id'],
  ])('for %s', async (_, call, field) => {
    await using server = await openServer()
    await using client = open(server.url)
    const error = await thrownBy(() => call(client))
    expect(error).toBeInstanceOf(ContractError)
    expect((error as ContractError).problems.map((problem) => problem.field)).toContain(field)
    expect(server.requests).toEqual([])
  })

  test.each(['', ' ', undefined, null, 5])('without the name of a Stack (%j)', async (stack) => {
    await using server = await openServer()
    await using client = open(server.url, { stack: stack as string })
    expect(await thrownBy(() => client.rules.list())).toMatchObject({ code: 'no-stack', exitCode: 2 })
    expect(server.requests).toEqual([])
  })
})

test('an address that is written is not shown, also where it does not look like one', async () => {
  await using server = await openServer(({ text }) => ({ status: 400, body: `refused: ${text}` }))
  await using client = open(server.url)
  const error = await thrownBy(() => client.users.update(7, { email: 'o/hara@localhost' }))
  expect(error.message).toContain('refused: ')
  expect(everythingIn(error)).not.toMatch(/hara|o\//)
})

test('further fields are sent where that is wanted', async () => {
  await using server = await openServer(() => ({ body: { id: 1 } }))
  await using client = open(server.url, { unknownFields: 'tolerate' })
  await client.rules.create({ ...rule, pinned: true } as RuleCreate)
  expect(server.requests[0]?.body).toEqual({ ...rule, pinned: true })
})
