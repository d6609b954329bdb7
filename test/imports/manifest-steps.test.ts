import { expect, test } from 'vitest'
import { appliedStep, appliedUpTo, type ImportStep, stepsAfter } from '../../src/imports/manifest-steps.ts'
import type { AcceptSequence, FeedName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { openTestMirror } from '../support/mirror.ts'
import { tempDir } from '../support/temp-dir.ts'
import { feed, openImports, row } from './harness.ts'

const clock = systemClock
const shop = 'shop' as FeedName
const other = 'other' as FeedName

/** A mirror that has applied all of one manifest, which began with `common` of these claims, and another manifest. */
async function openHistories(dir: string, claims: { applied: string[]; found: string[] }) {
  const stack = new AsyncDisposableStack()
  const write = async (name: string, all: readonly string[]) => {
    const manifest = stack.use(await openManifest({ dir: `${dir}/${name}`, clock }))
    for (const claim of all) {
      const feedName = claim.startsWith('o') ? other : shop
      const at = '2026-11-22T00:00:00Z'
      const line = { claim, feed: feedName, mode: 'full', name: 'a.csv', bytes: 1, asOf: at } as const
      await manifest.append([{ kind: 'accept', ...line, acceptedAt: at }])
    }
    return manifest
  }
  const before = await write('before', claims.applied)
  const manifest = await write('now', claims.found)
  const mirror = stack.use(await openTestMirror(`${dir}/catalog.db`, { clock }))
  for (const step of before.after(0 as AcceptSequence)) {
    await mirror.update([], () => ({ writes: [], applied: appliedStep((step as AcceptLine).feed, step) }))
  }
  const claimOf = (step: ImportStep) => (step as AcceptLine).claim
  return {
    upTo: (scope: FeedName) => appliedUpTo(mirror, manifest, scope),
    next: (scope: FeedName) => {
      const after = appliedUpTo(mirror, manifest, scope)
      return [...stepsAfter({ book: mirror, manifest, scope, after })].map(claimOf)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test.each([
  ['what was applied comes no more', ['s1', 's2'], ['s1', 's2', 's3'], ['s3']],
  [
    'an older manifest goes on with other files under the same numbers',
    ['s1', 's2', 's3'],
    ['s1', 's7', 's8'],
    ['s7', 's8'],
  ],
  [
    'a file that was applied under another number stays applied',
    ['s1', 's2', 's3'],
    ['s1', 's3', 's9'],
    ['s9'],
  ],
  [
    'a manifest that has nothing in common is done whole',
    ['s1', 's2'],
    ['s5', 's6', 's7'],
    ['s5', 's6', 's7'],
  ],
  ['a manifest that is shorter waits for the next file', ['s1', 's2', 's3'], ['s1'], []],
])('%s', async (_, applied, found, next) => {
  await using dir = await tempDir('steps')
  await using histories = await openHistories(dir.path, { applied, found })
  expect(histories.next(shop)).toEqual(next)
})

test('files of other feeds stand between the steps of a feed', async () => {
  await using dir = await tempDir('steps')
  const applied = ['s1', 'o2', 's3']
  await using histories = await openHistories(dir.path, { applied, found: ['s1', 'o2', 's4', 'o5'] })
  expect([histories.upTo(shop), histories.next(shop)]).toEqual([1, ['s4']])
  expect([histories.upTo(other), histories.next(other)]).toEqual([2, ['o5']])
})

test('a state folder that is older than its mirror skips no file because of its number', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { atMost: 100% } }')
  await box.import('products', feed(row('a', { price: '1' })))
  await box.saveManifest()
  await box.import('products', feed(row('a', { price: '2' })))
  await box.import('products', feed(row('a', { price: '3' })))
  await box.restoreManifest()
  const report = await box.import('products', feed(row('a', { price: '4' })))
  expect(report).toMatchObject({ sequence: 2, outcome: 'imported', changes: { changed: 1 } })
  expect(await box.document('a')).toMatchObject({ price: 4 })
  expect(box.failures).toEqual([])
})
