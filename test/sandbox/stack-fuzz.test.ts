import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestStack, type TestStack } from './stack-harness.ts'

const path = fc.oneof(
  ...['tilerules', 'moderationviews', 'users', 'terms'].flatMap((resource) => [
    fc.constant(`/api/${resource}`),
    fc.constant(`/api/${resource}/`),
    fc
      .constantFrom(
        '1',
        '2',
        '3',
        '0',
        '-1',
        '1e3',
        '99999999999999999999',
        'x',
        '%00',
        '..',
        '%2e%2e',
        '1/apply',
        '1/apply/',
        '%F0%9F',
      )
      .map((id) => `/api/${resource}/${id}`),
  ]),
)

const awkwardText = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '1',
    'true',
    'null',
    '[]',
    '{}',
    '{"$or":[]}',
    '[{}]',
    '1e999',
    '-0',
    '__proto__',
    '[1,',
    '2',
    'asc',
    'desc',
    'page',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

const fieldName = fc.oneof(
  fc.constantFrom(
    ...[
      'name',
      'trigger',
      'action',
      'enabled',
      'type',
      'network',
      'term',
      'tags',
      'active',
      'email',
      'acl_groups',
    ],
    ...[
      'view_name',
      'columns_tags_col',
      'columns___proto__',
      'date_range_from',
      'id',
      'created',
      'kind',
      'status',
    ],
    ...[
      'page',
      'limit',
      'order_by',
      'order_by_direction',
      'minimum_followers',
      'source_user_id',
      'constructor',
    ],
  ),
  fc.string({ maxLength: 6 }),
)

const operator = fc.constantFrom(
  ...[
    '$eq',
    '$ne',
    '$gt',
    '$lte',
    '$not',
    '$exists',
    '$type',
    '$regex',
    '$options',
    '$all',
    '$elemMatch',
    '$size',
  ],
  ...['$or', '$where', '$in', '$'],
)
const field = fc.constantFrom(
  ...['tags', 'location', 'location.country', 'hotspot', 'hotspot.x', 'hotspot.0', 'status', 'text', 'votes'],
  ...['stackla_sentiment_score', 'tags.0.0', 'a..b', 'toString', 'constructor.name', '$eq', ''],
)
const scalar = fc.constantFrom<unknown>(
  ...[null, 0, 1, -1, 0.5, 1e308, true, '', 'summer', 'DE', 'published', '(a+)+$', '[', '(?=a)', 'i', 'x'],
  ...['string', 'array', 2, 99, [], ['summer'], [[]], [null]],
)

const { condition } = fc.letrec<{ condition: unknown; operand: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    tie('operand'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('condition'),
  ),
  operand: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.dictionary(operator, tie('value'), { minKeys: 1, maxKeys: 2 }),
  ),
  condition: fc.oneof(
    { depthSize: 'small' },
    fc.dictionary(field, tie('operand'), { maxKeys: 2 }),
    fc.dictionary(fc.constantFrom('$and', '$or', '$nor'), fc.array(tie('condition'), { maxLength: 3 }), {
      maxKeys: 2,
    }),
  ),
}))

const action = fc.record(
  {
    type: fc.constantFrom('$set', '$addToSet', '$unset', 7),
    field: fc.constantFrom(
      'tags',
      'location.country',
      'hotspot.0.x',
      '__proto__.x',
      'a.constructor',
      'text.x',
      'id',
      '',
      5,
    ),
    value: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
)

const rule = fc.record(
  {
    name: fc.constant('r'),
    trigger: fc.oneof(fc.record({ $or: fc.array(condition, { maxLength: 3 }) }), condition),
    action: fc.oneof(fc.array(action, { maxLength: 3 }), fc.jsonValue({ maxDepth: 1 })),
    enabled: fc.constantFrom(0, 1),
    type: fc.constantFrom('tile', 'asset', 'post'),
  },
  { requiredKeys: ['name', 'trigger', 'action', 'type', 'enabled'] },
)

const pairs = fc.array(
  fc.tuple(fieldName, fc.constantFrom('', '[]', '[0]', '[a][b]', '[$or][0][tags]', '[[', ']'), awkwardText),
  { maxLength: 5 },
)
const form = pairs.map((all) =>
  all.map(([name, suffix, value]) => `${encode(name)}${suffix}=${encode(value)}`).join('&'),
)

const multipart = pairs.chain((all) =>
  fc
    .constantFrom('\r\n', '\n', '')
    .map((end) =>
      [
        ...all.map(
          ([name, suffix, value]) =>
            `--b\r\ncontent-disposition: form-data; name="${name}${suffix}"${end}\r\n\r\n${value}`,
        ),
        '--b--',
      ].join('\r\n'),
    ),
)

const body = fc.oneof(
  fc.constant(undefined),
  rule.map((one) => JSON.stringify(one)),
  fc.dictionary(fieldName, fc.jsonValue({ maxDepth: 3 })).map((one) => JSON.stringify(one)),
  fc.json(),
  form,
  multipart,
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(
    '{"name":1e999}',
    `${'['.repeat(50_000)}`,
    `{"a":${'{"b":'.repeat(5_000)}1${'}'.repeat(5_001)}`,
    '{"__proto__":{"x":1}}',
    '\ufeff{}',
  ),
)

const query = fc.oneof(
  form,
  fc.constantFrom(
    '',
    'page=99999999999999999999',
    'page=1&page=2',
    'limit=0',
    'limit[a]=1',
    'order_by[]=id',
    '%',
    '&&=&',
    `a${'[b]'.repeat(60)}=1`,
  ),
)

const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=b',
      'multipart/form-data',
      'text/plain',
      'nonsense',
      'application/vnd.api+json; charset=latin1',
    ),
    'content-encoding': fc.constantFrom('identity', 'gzip', ''),
    'x-access-token': fc.constantFrom('right', 'right', 'right', 'wrong'),
  },
  { requiredKeys: [] },
)

const request = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'),
  path,
  query,
  body,
  headers,
  signedIn: fc.boolean(),
})

const numRuns = Number(process.env.STACK_FUZZ_RUNS ?? 1_500)

describe('any request', () => {
  let stack: TestStack
  beforeAll(async () => {
    stack = await openTestStack({ rate: { requests: 1_000_000, perMs: 1_000 } })
  })
  afterAll(() => stack[Symbol.asyncDispose]())

  it('is answered below 500, in the envelope of this group', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, query, body, headers, signedIn }) => {
        const credentials = signedIn ? stack.credentials : ''
        const sent = method === 'GET' || method === 'HEAD' ? undefined : body
        const answer = await stack.send(method, `${path}?${credentials}&${query}`, {
          headers: {
            ...headers,
            ...(headers['x-access-token'] === 'right' ? { 'x-access-token': stack.token } : {}),
          },
          ...(sent === undefined ? {} : { body: sent }),
        })
        expect(answer.status, answer.text).toBeLessThan(500)
        // fetch itself resolves a step upwards, which then leaves the group.
        if (!/\.\.|%2e/.test(path)) expect([200, 400, 401, 403, 404]).toContain(answer.status)
      }),
      { numRuns },
    )
  })
})

describe('any rule', () => {
  it('is refused, or taken and then applied or refused', { timeout: 60_000 }, async () => {
    await using stack = await openTestStack({ rate: { requests: 1_000_000, perMs: 1_000 } })
    const statuses: number[] = []
    await fc.assert(
      fc.asyncProperty(rule, async (one) => {
        const created = await stack.call('POST', '/api/tilerules/', one)
        expect([200, 400]).toContain(created.status)
        if (created.status === 400) return
        const { id } = created.data as { id: number }
        const applied = await stack.call('PUT', `/api/tilerules/${id}/apply`)
        statuses.push(applied.status)
        expect([200, 400]).toContain(applied.status)
      }),
      { numRuns },
    )
    // Neither answer may be so rare that the other is all that was tried.
    for (const status of [200, 400])
      expect(statuses.filter((one) => one === status).length).toBeGreaterThan(10)
  })
})

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
