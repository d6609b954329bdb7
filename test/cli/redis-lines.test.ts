import { expect, test } from 'vitest'
import { formatStatus } from '../../src/cli/status-format.ts'
import { formatStory } from '../../src/cli/story-format.ts'
import type { ExplainedProduct } from '../../src/operations/explain-product.ts'
import { parseServerInfo } from '../../src/redis/server-info.ts'

const nowMs = Date.parse('2026-11-24T01:28:40Z')

test('status says since when this Redis runs', () => {
  const info = parseServerInfo('# Server\r\nrun_id:abc\r\nuptime_in_seconds:25\r\n')
  const redis = { up: true as const, since: 0, address: 'localhost:6379', info }
  expect(formatStatus({ daemon: null, redis, configuration: null, catalogs: [] }, nowMs)).toContain(
    'redis     up at localhost:6379, since 2026-11-24 01:28:15Z (25 s ago)',
  )
})

test.each([
  ['asked', '(offered to Redis)'],
  ['away', '(waits for Redis)'],
] as const)('a due product, and Redis was %s: %s', (redis, wanted) => {
  const state = { state: 'due', lane: 'urgent', since: '2026-11-24T01:28:30Z', isOffered: true }
  const lists = { blocks: [], feeds: [], rejected: [], fields: [], announced: [], changes: [], calls: [] }
  const none = { document: null, absentSince: null, callsLookedThrough: 0 }
  const delivery = { acceptedAt: null, queuedAt: null, sentAt: null, acknowledgedAt: null, call: null }
  const named = { kind: 'known', productId: 'p1', catalog: 'main', endpoint: 'older' }
  const story = { ...named, ...lists, ...none, delivery, redis, state: { ...state, isDoubtful: false } }
  expect(formatStory(story as unknown as ExplainedProduct, { nowMs, columns: 100 })).toContain(wanted)
})
