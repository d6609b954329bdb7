import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestStack, type StackReply, type TestStack } from './stack-harness.ts'

let stack: TestStack
let nowMs = Date.UTC(2026, 5, 1)
const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }

beforeEach(async () => {
  stack = await openTestStack({ clock })
})
afterEach(() => stack[Symbol.asyncDispose]())

const rule = {
  name: 'Mark happy tiles',
  trigger: { $or: [{ stackla_sentiment_score: { $gt: 0.5 } }] },
  action: [{ type: '$addToSet', field: 'tags', value: 'happy' }],
  enabled: 1,
  type: 'tile',
}

async function create(more: Record<string, unknown> = {}): Promise<number> {
  const { status, data, text } = await stack.call('POST', '/api/tilerules/', { ...rule, ...more })
  expect(status, text).toBe(200)
  return (data as { id: number }).id
}

const apply = (id: number): Promise<StackReply> => stack.call('PUT', `/api/tilerules/${id}/apply`)
const tile = async (id: number) => (await stack.inspect(`/sandbox/tiles/${id}`)) as Record<string, unknown>

describe('a rule', () => {
  it('is created, read, listed, changed and removed', async () => {
    const id = await create()
    const seconds = nowMs / 1000
    const created = { id, ...rule, created_at: seconds, updated_at: seconds }
    expect((await stack.call('GET', `/api/tilerules/${id}`)).data).toEqual(created)

    nowMs += 5_000
    const changed = { ...created, name: 'Other', enabled: 0, updated_at: seconds + 5 }
    expect((await stack.call('PUT', `/api/tilerules/${id}`, { name: 'Other', enabled: 0 })).data).toEqual(
      changed,
    )
    const second = await create({ name: 'Other' })
    expect(second).toBe(id + 1)
    const listed = await stack.call('GET', '/api/tilerules/')
    expect(listed.data).toMatchObject([changed, { id: second, name: 'Other' }])
    expect(listed.count).toEqual({ results_total: '2', total: '2' })

    expect(await stack.call('DELETE', `/api/tilerules/${id}`)).toMatchObject({
      status: 200,
      data: [],
      errors: [],
    })
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const gone = await stack.call(method, `/api/tilerules/${id}`, method === 'GET' ? undefined : {})
      expect(gone.status).toBe(404)
      expect(gone.data).toEqual([])
      expect(gone.errors).toMatchObject([{ code: 404, error_code: 1050404, message_id: 'rule:not_found' }])
    }
    expect(await create()).toBe(second + 1)
  })

  it.each(Object.keys(rule))('needs its %s', async (field) => {
    const { [field as keyof typeof rule]: _, ...others } = rule
    const { status, errors } = await stack.call('POST', '/api/tilerules/', others)
    expect(status).toBe(400)
    expect(errors).toHaveLength(1)
    expect(errors[0]?.message).toMatch(new RegExp(`^${field}: found nothing`))
  })

  it.each([
    ['name', ['a']],
    ['name', ''],
    ['trigger', []],
    ['trigger', { and: [] }],
    ['trigger', { $or: {} }],
    ['trigger', { $or: ['tags'] }],
    ['action', {}],
    ['action', [[]]],
    ['enabled', 2],
    ['enabled', 'yes'],
    ['type', ''],
  ])('is refused with a %s that is %j', async (field, value) => {
    const { status, errors } = await stack.call('POST', '/api/tilerules/', { ...rule, [field]: value })
    expect(status).toBe(400)
    expect(errors[0]?.message).toMatch(new RegExp(`^${field}`))
  })

  it('keeps what the contract does not describe', async () => {
    const more = {
      type: 'poster',
      colour: { deep: [1, null] },
      trigger: { $or: [{ odd: { structure: ['yes'] } }], note: 'kept' },
      action: [{ notify: 'moderators' }, { type: '$pull', field: 'tags' }],
    }
    const id = await create(more)
    expect((await stack.call('GET', `/api/tilerules/${id}`)).data).toMatchObject(more)
    const { status, errors } = await apply(id)
    expect(status).toBe(400)
    expect(errors[0]?.message).toContain('found "poster", expected tile or asset')
  })

  it.each([
    ['__proto__.polluted', '__proto__ is no field'],
    ['a.constructor.prototype', 'constructor is no field'],
    ['tags.prototype', 'prototype is no field'],
    ['id', 'the id of a record cannot be changed'],
    ['', 'empty'],
  ])('with an action on the field %j is refused', async (field, message) => {
    const action = [{ type: '$set', field, value: 1 }]
    const { status, errors } = await stack.call('POST', '/api/tilerules/', { ...rule, action })
    expect(status).toBe(400)
    expect(errors[0]?.message).toContain(`action[0].field: `)
    expect(errors[0]?.message).toContain(message)
    expect({}).not.toHaveProperty('polluted')
  })

  it('cannot name what the service keeps', async () => {
    const id = await create({ id: 77, created_at: 1, updated_at: 1 })
    expect(id).toBe(1)
    const { data } = await stack.call('PUT', `/api/tilerules/${id}`, { id: 9, created_at: 1 })
    expect(data).toMatchObject({ id, created_at: nowMs / 1000 })
  })
})

describe('applying a rule', () => {
  it('changes the records that match, and none the second time', async () => {
    const before = (await stack.inspect('/sandbox/tiles?limit=1000')) as { tiles: Record<string, unknown>[] }
    const matching = before.tiles.filter(({ stackla_sentiment_score: score }) => Number(score ?? 0) > 0.5)
    const id = await create()
    const expected = { id, type: 'tile', records: before.tiles.length, matched: matching.length }
    expect((await apply(id)).data).toEqual({ ...expected, changed: matching.length })
    expect((await apply(id)).data).toEqual({ ...expected, changed: 0 })

    const after = (await stack.inspect('/sandbox/tiles?limit=1000')) as typeof before
    const ids = new Set(matching.map((one) => one.id))
    expect(after.tiles).toEqual(
      before.tiles.map((one) =>
        ids.has(one.id) ? { ...one, tags: [...(one.tags as string[]), 'happy'] } : one,
      ),
    )
  })

  it('of two at the same time loses nothing', async () => {
    const ids = [
      await create(),
      await create({ action: [{ type: '$set', field: 'status', value: 'disabled' }] }),
    ]
    const [first, second] = await Promise.all(ids.map(apply))
    expect(first?.status).toBe(200)
    expect(second?.status).toBe(200)
    const { tiles } = (await stack.inspect('/sandbox/tiles?limit=1000')) as {
      tiles: Record<string, unknown>[]
    }
    const happy = tiles.filter(({ stackla_sentiment_score: score }) => Number(score ?? 0) > 0.5)
    expect(
      happy.every(({ tags, status }) => (tags as string[]).includes('happy') && status === 'disabled'),
    ).toBe(true)
  })

  it('that is not active is done all the same: who asks for it means it', async () => {
    const id = await create({ enabled: 0 })
    expect((await apply(id)).data).toMatchObject({ matched: expect.any(Number) })
  })

  it('reads no body, in whatever form', async () => {
    const id = await create()
    const path = `/api/tilerules/${id}/apply?${stack.credentials}`
    const headers = { 'content-type': 'application/json' }
    for (const body of [undefined, '', '{"broken', '[]']) {
      expect(
        (await stack.send('PUT', path, { headers, ...(body === undefined ? {} : { body }) })).status,
      ).toBe(200)
    }
  })

  it.each([
    ['$set', 'status', 'queued', (one: Record<string, unknown>) => one.status],
    ['$set', 'location', null, (one: Record<string, unknown>) => one.location],
    [
      '$set',
      'note.by.whom',
      'me',
      (one: Record<string, unknown>) => (one as { note: { by: { whom: string } } }).note.by.whom,
    ],
    [
      '$set',
      'author.verified',
      true,
      (one: Record<string, unknown>) => (one.author as { verified: boolean }).verified,
    ],
    ['$set', 'tags.0', 'first', (one: Record<string, unknown>) => (one.tags as string[])[0]],
    ['$addToSet', 'flags', { a: 1 }, (one: Record<string, unknown>) => (one.flags as unknown[])[0]],
  ])('performs %s of %s', async (type, field, value, read) => {
    const id = await create({ trigger: { $or: [{ votes: { $gte: 0 } }] }, action: [{ type, field, value }] })
    expect((await apply(id)).status).toBe(200)
    for (const one of [1, 2, 240]) expect(read(await tile(one))).toEqual(value)
  })

  it('adds each of several values once, and a list as one element', async () => {
    const action = [
      { type: '$addToSet', field: 'marks', value: { $each: ['a', 'b', 'a'] } },
      { type: '$addToSet', field: 'marks', value: ['a'] },
      { type: '$addToSet', field: 'marks', value: 'b' },
    ]
    await apply(await create({ trigger: { $or: [{}] }, action }))
    expect((await tile(3)).marks).toEqual(['a', 'b', ['a']])
  })

  it.each([
    ['action[2]: status is no list', { type: '$addToSet', field: 'status', value: 1 }],
    [
      'action[2]: status.inner lies below a value that has no fields',
      { type: '$set', field: 'status.inner', value: 1 },
    ],
    ['action[2]: tags.900 names no element of the list', { type: '$set', field: 'tags.900', value: 1 }],
    ['action[2].type: found the text "$unset"', { type: '$unset', field: 'status', value: 1 }],
    ['action[2].value: found nothing', { type: '$set', field: 'status' }],
    ['action[2].value: the value is too large', { type: '$set', field: 'status', value: 'x'.repeat(20_000) }],
  ])('changes nothing at all when one action cannot be done: %s', async (message, action) => {
    const before = await stack.inspect('/sandbox/tiles?limit=1000')
    const first = [...rule.action, { type: '$set', field: 'tags.0', value: 'x' }]
    const id = await create({ trigger: { $or: [{}] }, action: [...first, action] })
    const { status, errors } = await apply(id)
    expect(status).toBe(400)
    expect(errors[0]?.message).toContain(message)
    expect(await stack.inspect('/sandbox/tiles?limit=1000')).toEqual(before)
  })

  it('keeps records small, however often values are added', async () => {
    const grow = async (mark: number) => {
      const value = `${mark}${'x'.repeat(9_000)}`
      return apply(
        await create({ trigger: { $or: [{}] }, action: [{ type: '$addToSet', field: 'tags', value }] }),
      )
    }
    expect((await grow(1)).status).toBe(200)
    expect((await grow(2)).status).toBe(200)
    expect((await grow(3)).errors[0]?.message).toContain('would have more than 20000 characters')
  })

  it('works on assets', async () => {
    const action = [{ type: '$addToSet', field: 'collections', value: 'Winter' }]
    const trigger = { $or: [{ workflow_status: 'approved', right_status: 'granted' }] }
    const id = await create({ type: 'asset', trigger, action })
    const { data } = await apply(id)
    const { assets } = (await stack.inspect('/sandbox/assets?limit=1000')) as {
      assets: Record<string, unknown>[]
    }
    const winter = assets.filter(({ collections }) => (collections as string[]).includes('Winter'))
    expect(winter.length).toBeGreaterThan(0)
    expect(winter.every((one) => one.workflow_status === 'approved' && one.right_status === 'granted')).toBe(
      true,
    )
    expect(data).toEqual({
      id,
      type: 'asset',
      records: assets.length,
      matched: winter.length,
      changed: winter.length,
    })
  })
})

describe('strict', () => {
  beforeEach(async () => {
    await stack[Symbol.asyncDispose]()
    stack = await openTestStack({ clock, strict: true })
  })

  it('takes what the contract and the known forms have', async () => {
    const id = await create()
    expect((await apply(id)).status).toBe(200)
    expect((await stack.call('PUT', `/api/tilerules/${id}`, { type: 'asset' })).status).toBe(200)
  })

  it.each([
    [{ type: 'poster' }, 'type: found "poster"'],
    [{ colour: 1 }, 'colour: '],
    [{ id: 4 }, 'id: '],
    [{ enabled: '1' }, 'enabled: '],
    [{ action: [{ notify: 1 }] }, 'action[0].type: '],
    [{ action: [{ type: '$set', field: 'colour', value: 1 }] }, 'action[0].field: "colour" is no field'],
    [
      { type: 'asset', action: [{ type: '$set', field: 'stackla_sentiment_score', value: 1 }] },
      'action[0].field: ',
    ],
    [{ action: [{ type: '$set', field: 'status' }] }, 'action[0].value: '],
  ])('refuses %j', async (more, message) => {
    const { status, errors } = await stack.call('POST', '/api/tilerules/', { ...rule, ...more })
    expect(status).toBe(400)
    expect(errors[0]?.message).toContain(message)
  })
})
