import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { BlockReader } from '../../src/outbox/fit-documents.ts'

function idsOf(name: string, count: number): ProductId[] {
  return Array.from({ length: count }, (_, n) => `${name}${n}` as ProductId)
}

test('the documents of one call are read after those of another, with turns for others; few are read at once', async () => {
  let ms = 0
  const steps: string[] = []
  const blocks = new BlockReader({ ...systemClock, monotonic: () => ms })
  const reader = {
    readDocuments: (ids: readonly ProductId[]) => {
      // Each block takes longer than the thread may be held up.
      ms += 10
      steps.push(String(ids[0]).slice(0, 1))
      return new Map(ids.map((id) => [id, { document: Buffer.from(id), digest: Buffer.alloc(16) }]))
    },
  }
  let isRead = false
  const all = Promise.all([
    blocks.read(reader, { ids: idsOf('a', 200), digests: [] }),
    blocks.read(reader, { ids: idsOf('b', 200), digests: [] }),
  ]).finally(() => {
    isRead = true
  })
  await blocks.read(reader, { ids: idsOf('c', 2), digests: [] })
  expect(steps).toContain('c')
  expect(steps.length).toBeLessThan(4)
  let turns = 0
  for (; !isRead; turns += 1) await setImmediate()
  expect(turns).toBeGreaterThanOrEqual(6)
  expect(steps.filter((name) => name !== 'c').join('')).toBe('aaaabbbb')
  expect((await all).map((found) => [...found.keys()])).toEqual([idsOf('a', 200), idsOf('b', 200)])
})
