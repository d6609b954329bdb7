import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openTestStack } from './stack-harness.ts'

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

const numRuns = Number(process.env.STACK_FUZZ_RUNS ?? 1_500)

describe('any rule', () => {
  it('is refused, or taken and then applied or refused', { timeout: 300_000 }, async () => {
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
