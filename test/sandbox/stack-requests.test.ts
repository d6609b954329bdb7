import { describe, expect, it } from 'vitest'
import { StackStore, stackDataSchema } from '../../src/sandbox/stack/stack-store.ts'
import { openTestStack } from './stack-harness.ts'

const term = { name: 'Holidays', type: 'hashtag', network: 'instagram', term: '#holidays' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const json = { 'content-type': 'application/json' }

describe('a body', () => {
  it('is JSON, a form, a multipart form or, when it is empty, fields of the query', async () => {
    await using stack = await openTestStack()
    const text = 'name=Holidays&type=hashtag&network=instagram&term=%23holidays&active=1&tags[]=5&tags[]=6'
    const multipart = new FormData()
    for (const [name, value] of new URLSearchParams(text)) multipart.append(name, value)
    const expected = { ...term, active: 1, tags: ['5', '6'] }
    const sent = [
      { json: { ...term, active: 1, tags: ['5', '6'] } },
      { body: text, headers: form },
      { body: multipart },
      { body: text, headers: { 'content-type': 'text/plain' } },
      { body: JSON.stringify(expected), headers: form },
      { body: `\ufeff${JSON.stringify(expected)}`, headers: { 'content-type': 'application/vnd.api+json' } },
      { body: JSON.stringify(expected), headers: { 'content-type': '' } },
    ]
    for (const request of sent) {
      const { status, data, text } = await stack.send('POST', '/api/terms', request)
      expect(status, text).toBe(200)
      expect(data).toMatchObject(expected)
    }
    const query =
      '/api/terms/1/?display_name=Holi%20days&minimum_followers=&merchant-id=7&retweet_enable=true&tags[]=9'
    for (const headers of [{}, { ...json, 'content-length': '0' }, form]) {
      const { status, data, text } = await stack.send('PUT', query, { headers })
      expect(status, text).toBe(200)
      expect(data).toMatchObject({ id: 1, display_name: 'Holi days', retweet_enable: true, tags: ['9'] })
      expect(data).not.toHaveProperty('merchant-id')
    }
  })

  it.each([
    ['a form', form],
    ['a query', undefined],
  ])('of an update that is %s means false, 0 and no tags by empty fields', async (_, headers) => {
    await using stack = await openTestStack()
    const full = { network: 'twitter', active: true, partial_match: 1, tags: ['5'], minimum_followers: 7 }
    await stack.send('POST', '/api/terms', { json: { ...term, ...full, filter: 'a' } })
    const fields = 'active=&partial_match=&tags=&minimum_followers=&filter=&moderate_text='
    const { status, text } = headers
      ? await stack.send('PUT', '/api/terms/1', { body: fields, headers })
      : await stack.send('PUT', `/api/terms/1?${fields}`)
    expect(status, text).toBe(200)
    const { data } = await stack.call('GET', '/api/terms/1')
    expect(data).toMatchObject({
      active: false,
      partial_match: false,
      tags: [],
      minimum_followers: 0,
      filter: '',
    })
    expect(data).not.toHaveProperty('moderate_text')
    // JSON has other words for them.
    await stack.send('PUT', '/api/terms/1', { json: { active: true, minimum_followers: 3 } })
    await stack.send('PUT', '/api/terms/1', { json: { active: '', minimum_followers: '' } })
    expect((await stack.call('GET', '/api/terms/1')).data).toMatchObject({
      active: true,
      minimum_followers: 3,
    })
  })

  it('of a rule may be nested in a form', async () => {
    await using stack = await openTestStack()
    const nested = [
      ['name', 'Nested'],
      ['trigger[$or][0][tags][$eq]', 'sale'],
      ['trigger[$or][1][$and][0][tags][$size]', '2'],
      ['trigger[$or][1][$and][1][text][$regex]', 'summer'],
      ['action[0][type]', '$addToSet'],
      ['action[0][field]', 'tags'],
      ['action[0][value]', 'marked'],
      ['enabled', '1'],
      ['type', 'tile'],
    ] as const
    const multipart = new FormData()
    for (const [name, value] of nested) multipart.append(name, value)
    const expected = {
      name: 'Nested',
      trigger: {
        $or: [
          { tags: { $eq: 'sale' } },
          { $and: [{ tags: { $size: '2' } }, { text: { $regex: 'summer' } }] },
        ],
      },
      action: [{ type: '$addToSet', field: 'tags', value: 'marked' }],
      enabled: 1,
      type: 'tile',
    }
    const written = { name: 'Nested', enabled: '1', type: 'tile' }
    const asText = new URLSearchParams({
      ...written,
      trigger: JSON.stringify(expected.trigger),
      action: JSON.stringify(expected.action),
    })
    for (const body of [new URLSearchParams(nested.map(([...pair]) => pair)), multipart, asText]) {
      const { status, data, text } = await stack.send('POST', `/api/tilerules?${stack.credentials}`, { body })
      expect(status, text).toBe(200)
      expect(data).toMatchObject(expected)
      const applied = await stack.call('PUT', `/api/tilerules/${(data as { id: number }).id}/apply/`)
      expect((applied.data as { matched: number }).matched).toBeGreaterThan(0)
    }
  })

  it.each([
    ['no JSON', '{"name":', json, 'not JSON'],
    ['a list', '[]', json, 'the body is a list'],
    ['null', 'null', json, 'the body is null'],
    ['text', '"name"', json, 'the body is a string'],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), json, 'not valid UTF-8'],
    ['a form without UTF-8', new Uint8Array([0x61, 0x3d, 0xff]), form, 'not valid UTF-8'],
    ['many levels', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`, json, 'levels'],
    ['very many levels', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, json, 'levels'],
    ['a number beyond all', '{"name":1e999}', json, 'too large'],
    ['a reserved name', '{"__proto__":{}}', json, 'reserved'],
    ['many fields', Array.from({ length: 6_000 }, (_, index) => `a${index}=1`).join('&'), form, 'too many'],
    [
      'a broken multipart form',
      '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nb',
      { 'content-type': 'multipart/form-data; boundary=b' },
      'multipart',
    ],
    ['a multipart form without boundary', 'a', { 'content-type': 'multipart/form-data' }, 'boundary'],
    ['a compressed body', '{}', { ...json, 'content-encoding': 'gzip' }, 'compressed'],
    ['neither', 'hello', { 'content-type': 'text/plain' }, 'neither JSON nor a form'],
    ['too much', `{"a":"${'x'.repeat(1_000_000)}"}`, json, 'larger than'],
  ])('that is %s is refused', async (_, body, headers, message) => {
    await using stack = await openTestStack()
    const { status, data, errors } = await stack.send('POST', '/api/terms', { body, headers })
    expect(status).toBe(400)
    expect(data).toEqual([])
    expect(errors[0]?.message).toContain(message)
    expect(errors[0]?.message_id).toMatch(/^request:/)
  })

  it('does not come back in the error', async () => {
    await using stack = await openTestStack()
    const bodies = [
      '{"email": "a.person@shop.example" oops',
      'a.person@shop.example',
      '{"email": a.person@shop.example}',
    ]
    for (const body of bodies) {
      const { status, text } = await stack.send('PUT', '/api/users/1', { body, headers: json })
      expect(status).toBe(400)
      expect(text).not.toContain('person')
    }
    const wrong = await stack.call('PUT', '/api/users/1', { email: 'a.person@@shop.example' })
    expect(wrong.status).toBe(400)
    expect(wrong.text).not.toContain('person')
  })
})

describe('credentials', () => {
  const rules = '/api/tilerules/'
  const others = ['/api/moderationviews', '/api/users', '/api/terms', '/api/terms/nothing/here']

  it('are wanted for rules', async () => {
    await using stack = await openTestStack()
    const { token } = stack
    const status = async (query: string, headers = {}) =>
      (await stack.send('GET', rules + query, { headers })).status
    expect(await status('')).toBe(401)
    expect(await status('?access_token=wrong&stack=sandbox')).toBe(401)
    expect(await status(`?access_token=${token}&access_token=${token}&stack=sandbox`)).toBe(401)
    expect(await status(`?access_token=${token}`)).toBe(403)
    expect(await status(`?access_token=${token}&stack=other`)).toBe(403)
    expect(await status('?stack=sandbox', { 'x-access-token': token })).toBe(200)
    expect(await status(`?access_token=${token}&stack=sandbox`, { 'x-access-token': 'wrong' })).toBe(401)
    const wrongKind = await stack.send('GET', `${rules}?access_token=p&stack=sandbox`)
    expect(wrongKind.errors[0]?.message).toContain('this is the API_PRODUCTS token')
    expect(wrongKind.text).not.toContain(token)
  })

  it('are looked at elsewhere when they are given', async () => {
    await using stack = await openTestStack()
    for (const path of others) {
      expect((await stack.send('GET', path)).status).toBe(path.endsWith('here') ? 404 : 200)
      expect((await stack.send('GET', `${path}?access_token=wrong`)).status).toBe(401)
      expect((await stack.send('GET', `${path}?${stack.credentials}x`)).status).toBe(403)
    }
  })

  it('are wanted everywhere with strict authentication', async () => {
    await using stack = await openTestStack({ strictAuth: true })
    for (const path of others) {
      expect((await stack.send('GET', path)).status).toBe(401)
      expect((await stack.call('GET', path)).status).toBe(path.endsWith('here') ? 404 : 200)
    }
  })
})

describe('the rate limit', () => {
  it('is counted down on every answer and refuses what is above it until it resets', async () => {
    let nowMs = 1_000_000
    const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async () => {} }
    await using stack = await openTestStack({ clock, rate: { requests: 3, perMs: 10_000 } })
    const ask = async (path: string) => {
      const { status, headers, errors } = await stack.send('GET', path)
      const [remaining, reset, wait] = [
        'x-api-remaining-requests',
        'x-api-remaining-requests-reset',
        'retry-after',
      ].map((name) => headers.get(name))
      return { status, remaining, reset, wait, id: errors[0]?.message_id }
    }
    expect(await ask('/api/users')).toMatchObject({ status: 200, remaining: '2', reset: '10', wait: null })
    nowMs += 2_500
    expect(await ask('/api/terms/77')).toMatchObject({ status: 404, remaining: '1', reset: '8' })
    expect(await ask('/api/tilerules/')).toMatchObject({ status: 401, remaining: '0', reset: '8' })
    const refused = { status: 429, remaining: '0', reset: '8', wait: '8', id: 'request:rate_limited' }
    expect(await ask('/api/users')).toEqual(refused)
    await stack.inspect('/sandbox/users')
    nowMs += 7_499
    expect(await ask('/api/users')).toEqual({ ...refused, reset: '1', wait: '1' })
    nowMs += 1
    expect(await ask('/api/users')).toMatchObject({ status: 200, remaining: '2', reset: '10' })
  })
})

describe('what the contract does not have', () => {
  it.each([
    ['POST', '/api/users', 405, 'users are never created through the API'],
    ['PATCH', '/api/terms/1', 405, 'there is GET, DELETE, PUT'],
    ['GET', '/api/tilerules/1/apply', 405, 'there is PUT'],
    ['GET', '/api/terms/1/2', 404, 'there is no GET /api/terms/1/2'],
  ])('is refused with an envelope: %s %s', async (method, path, code, message) => {
    await using stack = await openTestStack()
    const { status, data, errors } = await stack.send(method, path)
    expect(status).toBe(code)
    expect(data).toEqual([])
    expect(errors[0]?.message).toContain(message)
  })

  it('says only of a POST that users are not created', async () => {
    await using stack = await openTestStack()
    const { errors } = await stack.send('PATCH', '/api/users')
    expect(errors[0]?.message).toMatch(/there is GET$/)
  })

  it.each(['x', '1.5', '-1', '1e3', '%00', '99999999999999999999'])('the id %s', async (id) => {
    await using stack = await openTestStack()
    for (const kind of ['tilerules', 'moderationviews', 'users', 'terms']) {
      const { status, errors } = await stack.call('GET', `/api/${kind}/${id}`)
      expect([400, 404]).toContain(status)
      expect(errors[0]?.message_id).toMatch(/:(invalid_id|not_found)$/)
    }
  })
})

describe('strict', () => {
  it.each([
    ['another encoding', '/api/terms', { body: new URLSearchParams(term) }, 'application/json'],
    [
      'no content type',
      '/api/terms',
      { body: JSON.stringify(term), headers: { 'content-type': '' } },
      'application/json',
    ],
    ['an empty body', '/api/terms', { headers: json, body: '' }, 'empty'],
    ['an unknown query parameter', '/api/terms?merchant-id=1', { json: term }, 'query.merchant-id: '],
    ['an unknown field', '/api/terms', { json: { ...term, colour: 1 } }, 'colour: '],
    ['a field that the service keeps', '/api/terms', { json: { ...term, id: 1 } }, 'id: '],
    ['a number as text', '/api/terms', { json: { ...term, num_of_backfill: '5' } }, 'num_of_backfill: '],
  ])('refuses %s', async (_, path, request, message) => {
    await using stack = await openTestStack({ strict: true })
    const { status, errors } = await stack.send('POST', path, request)
    expect(status).toBe(400)
    expect(errors[0]?.message).toContain(message)
    expect((await stack.send('POST', '/api/terms', { json: term })).status).toBe(200)
  })
})

describe('the store', () => {
  it('is written to JSON and read back with everything', async () => {
    const store = new StackStore()
    store.tables.terms.add({ name: 'a' })
    store.tables.terms.add({ name: 'b' })
    store.tables.terms.remove(2)
    store.tables.users.remove(3)
    const data = stackDataSchema.parse(JSON.parse(JSON.stringify(store)))
    const again = new StackStore(data)
    expect(again.toJSON()).toEqual(store.toJSON())
    expect(again.tables.terms.add({ name: 'c' }).id).toBe(3)
    const { revision } = again
    again.clear()
    expect(again.revision).toBeGreaterThan(revision)
    expect(again.toJSON()).toEqual(new StackStore().toJSON())
  })

  it('refuses data that is none', () => {
    const data = new StackStore().toJSON()
    expect(stackDataSchema.safeParse({ ...data, terms: undefined }).success).toBe(false)
    expect(stackDataSchema.safeParse({ ...data, terms: { nextId: 1, records: [{ id: 'x' }] } }).success).toBe(
      false,
    )
  })
})
