import { afterEach, beforeEach, expect, it } from 'vitest'
import { viewColumns } from '../../src/api/contract/moderation-view.ts'
import { openTestStack, type TestStack } from './stack-harness.ts'

let stack: TestStack
let nowMs = Date.UTC(2026, 5, 1)
const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }

beforeEach(async () => {
  stack = await openTestStack({ clock })
})
afterEach(() => stack[Symbol.asyncDispose]())

const columns = Object.fromEntries(viewColumns.map((name, index) => [name, index % 2 === 0]))
const filter = {
  ...{
    content_search: 'boots',
    origin: 'twitter,rss',
    media: 'image',
    abuse: false,
    filter_by_claimed: 'claimed_only',
  },
  ...{ filter_by_geolocation: 1, tags: '1,2', terms: '3' },
}
const other = { all_content_length: 50, live_updates: true, display: 'table' }
const date = { from: '2026-01-01T00:00:00Z', to: '2026-02-01' }
const head = { view_name: 'Queue', type: 'user', access_type: 'public', sort_by: 'newest' }

const prefixed = (prefix: string, fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]))
const written = {
  ...head,
  ...prefixed('columns_', columns),
  ...prefixed('filter_value_', filter),
  ...prefixed('other_', other),
  ...prefixed('date_range_', date),
}

it('a view is written flat and read in groups', async () => {
  const seconds = nowMs / 1000
  const times = { created_at: seconds, updated_at: seconds }
  const owned = { stack_id: expect.any(Number), owner_id: expect.any(Number) }
  const created = { id: 1, ...head, column: columns, filter, other, date, ...owned, ...times }
  expect((await stack.call('POST', '/api/moderationviews', written)).data).toEqual(created)
  expect((await stack.call('GET', '/api/moderationviews/1')).data).toEqual(created)

  nowMs += 9_000
  const changes = { sort_by: 'oldest', type: true, columns_pin_col: true, other_all_content_length: 10 }
  const changed = {
    ...created,
    ...{ sort_by: 'oldest', type: true, updated_at: seconds + 9 },
    column: { ...columns, pin_col: true },
    other: { ...other, all_content_length: 10 },
  }
  expect((await stack.call('PUT', '/api/moderationviews/1', changes)).data).toEqual(changed)
  const empty = { column: {}, filter: {}, other: {}, date: {} }
  expect((await stack.call('POST', '/api/moderationviews', {})).data).toMatchObject({ id: 2, ...empty })
  const listed = await stack.call('GET', '/api/moderationviews')
  expect(listed.data).toMatchObject([changed, { id: 2 }])
  expect(listed.count).toEqual({ results_total: '2', total: '2' })

  expect((await stack.call('DELETE', '/api/moderationviews/1')).status).toBe(200)
  const gone = await stack.call('GET', '/api/moderationviews/1')
  expect(gone.errors).toMatchObject([{ error_code: 1060404, message_id: 'moderationview:not_found' }])
})

it('a view that was read can be sent back', async () => {
  const { data } = await stack.call('POST', '/api/moderationviews', written)
  const sent = {
    ...(data as object),
    owner_id: 77,
    stack_id: 78,
    column: { pin_col: 'x' },
    view_name: 'Again',
  }
  const again = await stack.call('PUT', '/api/moderationviews/1', sent)
  expect(again.data).toEqual({ ...(data as object), view_name: 'Again' })
})

it('a view keeps what the contract does not have, also in its groups', async () => {
  const fields = { colour: 'red', columns_new_col: 1, columns___proto__: 1 }
  const { data } = await stack.call('POST', '/api/moderationviews', fields)
  expect(data).toMatchObject({ colour: 'red', column: { new_col: 1 } })
  const text = (await stack.call('GET', '/api/moderationviews/1')).text
  expect(text).toContain('"__proto__":1')
})

it.each([
  ['view_name', ''],
  ['columns_tags_col', 'perhaps'],
  ['filter_value_abuse', 2],
  ['other_all_content_length', 1.5],
  ['date_range_from', 'yesterday'],
  ['date_range_to', '2026-02-30'],
  ['type', {}],
])('a view is refused with a %s that is %j', async (field, value) => {
  const { status, errors } = await stack.call('POST', '/api/moderationviews', { [field]: value })
  expect(status).toBe(400)
  expect(errors[0]?.message).toMatch(new RegExp(`^${field}: `))
  expect(errors[0]?.message_id).toBe('moderationview:invalid')
})

it.each([{ owner_id: 1 }, { column: {} }, { columns_new_col: true }, { columns_tags_col: 'true' }])(
  'a view is refused with %j in strict mode',
  async (fields) => {
    await using strict = await openTestStack({ strict: true })
    expect((await strict.call('POST', '/api/moderationviews', written)).status).toBe(200)
    const { status, errors } = await strict.call('PUT', '/api/moderationviews/1', fields)
    expect(status).toBe(400)
    expect(errors[0]?.message).toContain(`${Object.keys(fields)[0]}: `)
  },
)
