import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { User } from '../../src/api/contract/user.ts'
import { StackClient } from '../../src/api/stack-client.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openServer, type Received, type Reply, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const open = (url: string) => new StackClient({ url, accessToken: 'access-token', stack: 's' })

interface Paging {
  /** How many records there are. */
  total: number
  /** Counts that the server gives, if any. */
  count?: object
  /** More is never on a page. */
  limitMax?: number
}

function paging({ total, count, limitMax = 100 }: Paging) {
  return ({ query }: Received): Reply => {
    const limit = Math.min(limitMax, Number(query.limit ?? 25))
    const from = (Number(query.page ?? 1) - 1) * limit
    const data = Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, at) => ({
      id: String(from + at + 1),
    }))
    return { body: { data, errors: [], ...(count ? { count } : {}) } }
  }
}

async function idsOf(all: AsyncIterable<{ id: number | string }>): Promise<number[]> {
  const ids: number[] = []
  for await (const { id } of all) ids.push(Number(id))
  return ids
}

const upTo = (total: number) => Array.from({ length: total }, (_, index) => index + 1)

describe('all records come, each once, in as few requests as the server allows', () => {
  const text = String
  test.each<[string, Paging, number | undefined, number]>([
    ['none', { total: 0 }, undefined, 1],
    ['none, counted', { total: 0, count: { results_total: '0', total: '0' } }, undefined, 1],
    ['fewer than a page', { total: 7 }, undefined, 1],
    ['exactly a page', { total: 100 }, undefined, 2],
    ['exactly a page, counted', { total: 100, count: { results_total: '100', total: '100' } }, undefined, 1],
    ['several pages', { total: 250 }, undefined, 3],
    ['several pages, counted by a number', { total: 200, count: { total: 200 } }, undefined, 2],
    ['several small pages', { total: 9, count: { total: text(9) } }, 4, 3],
    ['more in the Stack than are listed', { total: 15, count: { results_total: '15', total: '99' } }, 5, 4],
    [
      'pages that the server cuts, counted',
      { total: 120, count: { total: '120' }, limitMax: 50 },
      undefined,
      3,
    ],
  ])('%s', async (_, plan, limit, requests) => {
    await using server = await openServer(paging(plan))
    await using client = open(server.url)
    expect(await idsOf(client.terms.all({ limit }))).toEqual(upTo(plan.total))
    expect(server.requests.length).toBe(requests)
    expect(await idsOf(client.users.all({ limit }))).toEqual(upTo(plan.total))
  })
})

test('users come in the order that is asked for', async () => {
  await using server = await openServer(paging({ total: 3 }))
  await using client = open(server.url)
  await idsOf(client.users.all({ orderBy: 'email', orderByDirection: 'desc', limit: 2 }))
  expect(server.requests.map(({ query }) => query)).toEqual([
    { order_by: 'email', order_by_direction: 'desc', limit: '2', page: '1' },
    { order_by: 'email', order_by_direction: 'desc', limit: '2', page: '2' },
  ])
})

test('no page is asked for before it is needed', async () => {
  await using server = await openServer(paging({ total: 1_000 }))
  await using client = open(server.url)
  const seen: User[] = []
  for await (const user of client.users.all()) if (seen.push(user) === 101) break
  expect(server.requests.length).toBe(2)
})

test('a record that moves to the next page meanwhile comes once', async () => {
  const pages = [[{ id: 1 }, { id: 2 }], [{ id: 2 }, { id: 3 }], [{ id: 4 }]]
  await using server = await openServer(({ query }) => ({ body: pages[Number(query.page) - 1] ?? [] }))
  await using client = open(server.url)
  expect(await idsOf(client.terms.all({ limit: 2 }))).toEqual([1, 2, 3, 4])
})

describe('a server that does not page', () => {
  const same = (length: number, count?: object) => () => ({
    body: { data: upTo(length).map((id) => ({ id })), errors: [], ...(count ? { count } : {}) },
  })

  test.each([7, 130])('and answers all %d at once is understood', async (length) => {
    await using server = await openServer(same(length))
    await using client = open(server.url)
    expect(await idsOf(client.terms.all())).toEqual(upTo(length))
    expect(server.requests.length).toBeLessThanOrEqual(2)
  })

  test.each([
    ['a full page', 100, undefined],
    ['fewer than it counts', 40, { results_total: '90' }],
  ])('and answers %s again and again is an error: there may be more', async (_, length, count) => {
    await using server = await openServer(same(length, count))
    await using client = open(server.url)
    const error = await thrownBy(() => idsOf(client.terms.all()))
    expect(error).toMatchObject({
      code: 'incomplete',
      message: expect.stringContaining(`after ${length} records`),
    })
    expect(server.requests.length).toBe(2)
  })

  test('and counts more than there is ends at an empty page', async () => {
    await using server = await openServer(paging({ total: 150, count: { results_total: '200' } }))
    await using client = open(server.url)
    expect(await idsOf(client.terms.all())).toEqual(upTo(150))
    expect(server.requests.length).toBe(3)
  })
})

test('an error on a later page is thrown after what came before', async () => {
  const page = paging({ total: 300 })
  await using server = await openServer((request) =>
    request.query.page === '3' ? { status: 500 } : page(request),
  )
  await using client = open(server.url)
  const ids: unknown[] = []
  const error = await thrownBy(async () => {
    for await (const { id } of client.terms.all()) ids.push(id)
  })
  expect(error).toMatchObject({ status: 500 })
  expect(ids).toEqual(upTo(200))
})

test('the signal ends the listing', async () => {
  await using server = await openServer(paging({ total: 300 }))
  await using client = open(server.url)
  const giveUp = new AbortController()
  const error = await thrownBy(async () => {
    for await (const { id } of client.terms.all({}, { signal: giveUp.signal })) if (id === 100) giveUp.abort()
  })
  expect(error).toMatchObject({ code: 'call-aborted' })
  expect(server.requests.length).toBe(1)
})
