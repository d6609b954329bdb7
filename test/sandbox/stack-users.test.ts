import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { userOrders } from '../../src/api/contract/paging.ts'
import { userSchema } from '../../src/api/contract/user.ts'
import { openTestStack, type TestStack } from './stack-harness.ts'

interface User {
  id: number
  name: string
  surname: string
  acl_groups: string
  display_timezone: string
  distances: string
  created_at: number
  [field: string]: unknown
}

let stack: TestStack
const nowMs = Date.UTC(2026, 5, 1)
const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }

beforeEach(async () => {
  stack = await openTestStack({ clock })
})
afterEach(() => stack[Symbol.asyncDispose]())

const list = async (query = '') => (await stack.send('GET', `/api/users${query}`)).data as User[]

describe('users', () => {
  it('are seeded, the same every time, with every kind of person', async () => {
    const all = await list('?limit=100')
    await using second = await openTestStack()
    expect((await second.send('GET', '/api/users?limit=100')).data).toEqual(all)
    expect(all.length).toBeGreaterThanOrEqual(30)
    for (const user of all) expect(userSchema.safeParse(user).success).toBe(true)
    const kinds = (field: string) => new Set(all.map((user) => user[field])).size
    expect(kinds('username')).toBe(all.length)
    expect(kinds('email')).toBe(all.length)
    expect(kinds('acl_groups')).toBeGreaterThan(3)
    expect(kinds('display_timezone')).toBeGreaterThan(4)
    expect(kinds('distances')).toBe(2)
    expect(kinds('name')).toBeLessThan(all.length)
    expect(all.some((user) => user.last_login === null)).toBe(true)
    expect(await stack.inspect('/sandbox/users')).toEqual({ total: all.length, offset: 0, users: all })
    expect(await stack.inspect('/sandbox/users/3')).toEqual(all[2])
  })

  it('come by page, 25 at first', async () => {
    const all = await list('?limit=100')
    expect(await list()).toEqual(all.slice(0, 25))
    expect(await list('?page=2')).toEqual(all.slice(25, 50))
    expect(await list('?page=4&limit=7')).toEqual(all.slice(21, 28))
    expect((await stack.send('GET', '/api/users?limit=1')).count?.total).toBe(String(all.length))
  })

  it.each(userOrders)('are ordered by %s, both ways, the equal ones by id', async (order) => {
    const field = order === 'created' ? 'created_at' : order
    const both = await Promise.all(
      ['asc', 'desc'].map((direction) =>
        list(`?limit=100&order_by=${order}&order_by_direction=${direction}`),
      ),
    )
    for (const [index, users] of both.entries()) {
      const sign = index === 0 ? 1 : -1
      for (const [position, user] of users.entries()) {
        const next = users[position + 1]
        if (next === undefined) continue
        const [a, b] = [user[field], next[field]] as [string, string] | [number, number]
        expect(a === b ? user.id < next.id : sign * (a < b ? -1 : 1) < 0, `${a} ${b}`).toBe(true)
      }
    }
    expect(await list(`?limit=100&order_by=${order}`)).toEqual(both[0])
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => list(`?limit=10&page=${page}&order_by=${order}`)),
    )
    expect(pages.flat()).toEqual(both[0])
  })

  it.each([
    ...[
      'limit=101',
      'limit=0',
      'limit=-1',
      'page=0',
      'limit=many',
      'order_by=created_at',
      'order_by=password',
    ],
    ...['order_by_direction=up', 'order_by=ID', 'order_by[]=id&order_by[]=name'],
  ])('are not listed with %s', async (query) => {
    const { status, errors } = await stack.send('GET', `/api/users?${query}`)
    expect(status).toBe(400)
    expect(errors[0]).toMatchObject({ error_code: 1070400, message_id: 'user:invalid_query' })
    expect(errors[0]?.message).toContain(query.split(/[=[]/, 1)[0])
  })

  it('can be changed in the fields that are theirs, and removed', async () => {
    const before = (await list())[4] as User
    const path = `/api/users/${before.id}`
    const written = {
      ...{ name: 'Eva', surname: 'Brandt', email: 'eva@stack.example', description: 'Lead' },
      ...{ display_timezone: 'Pacific/Auckland', distances: 'imperial', acl_groups: [1, 3] },
    }
    const changed = { ...before, ...written, updated_at: nowMs / 1000 }
    const kept = { id: 99, username: 'other', last_login: 'x', created_at: 1, updated_at: 2 }
    expect((await stack.call('PUT', path, { ...written, ...kept })).data).toEqual(changed)
    expect((await stack.call('GET', path)).data).toEqual(changed)
    expect((await stack.call('PUT', path, { acl_groups: '2,3' })).data).toMatchObject({ acl_groups: '2,3' })
    expect((await stack.send('PUT', `${path}?acl_groups=1%2C2&name=Q`)).data).toMatchObject({
      acl_groups: '1,2',
      name: 'Q',
    })
    expect((await stack.call('DELETE', path)).status).toBe(200)
    expect((await stack.call('GET', path)).errors).toMatchObject([{ message_id: 'user:not_found' }])
    expect((await list('?limit=100')).some(({ id }) => id === before.id)).toBe(false)
  })

  it.each([
    ['email', 'nobody'],
    ['display_timezone', 'Berlin'],
    ['display_timezone', '+01:00'],
    ['distances', 'miles'],
    ['acl_groups', '4'],
    ['acl_groups', [1, 5]],
    ['name', { a: 1 }],
  ])('are not changed to a %s that is %j', async (field, value) => {
    const { status, errors } = await stack.call('PUT', '/api/users/1', { [field]: value })
    expect(status).toBe(400)
    expect(errors[0]?.message).toMatch(new RegExp(`^${field}`))
  })

  it.each([{ username: 'x' }, { id: 1 }, { last_login: 'x' }, { colour: 'red' }])(
    'are not changed with %j in strict mode',
    async (fields) => {
      await using strict = await openTestStack({ strict: true })
      const { status, errors } = await strict.call('PUT', '/api/users/1', fields)
      expect(status).toBe(400)
      expect(errors[0]?.message).toContain(`${Object.keys(fields)[0]}: `)
    },
  )
})

describe('seeded tiles and assets', () => {
  it.each([
    ['tiles', ['tags', 'location', 'status', 'hotspot', 'network', 'text', 'author']],
    ['assets', ['tags', 'collections', 'workflow_status', 'right_status', 'expired_at']],
  ])('are at least 200 %s, shown by offset and limit and one by one', async (kind, fields) => {
    const read = async (query: string) =>
      (await stack.inspect(`/sandbox/${kind}${query}`)) as Record<string, unknown>
    const first = await read('')
    expect(first.total).toBeGreaterThanOrEqual(200)
    expect(first[kind]).toHaveLength(100)
    const all = (await read('?limit=10000'))[kind] as Record<string, unknown>[]
    expect(all).toHaveLength(first.total as number)
    for (const record of all) for (const field of fields) expect(record).toHaveProperty(field)
    expect((await read('?offset=5&limit=3'))[kind]).toEqual(all.slice(5, 8))
    expect(await read('/7')).toEqual(all[6])
    for (const id of ['0', 'x', '99999', '%00']) {
      expect((await fetch(`${stack.url}/sandbox/${kind}/${id}`)).status).toBe(404)
    }
    await using second = await openTestStack()
    expect(((await second.inspect(`/sandbox/${kind}?limit=10000`)) as typeof first)[kind]).toEqual(all)
  })
})
