import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { dump } from './dump.ts'
import { idOf, writeOf } from './writes.ts'

// What was written last may have reached the disk in part. The log is what is written while a chunk is committed, so any
// part of it may be the new one, and the rest is as it was before.

interface Change {
  products: number[]
  price: string
  /** The log is moved into the file before, and begins anew. */
  checkpoint: boolean
  /** How much of the write reached the disk: 0 none, 1 all. */
  share: number
}

const change: fc.Arbitrary<Change> = fc.record({
  products: fc.uniqueArray(fc.nat(40), { minLength: 1, maxLength: 12 }),
  price: fc.stringMatching(/^[0-9]{1,600}$/),
  checkpoint: fc.boolean(),
  share: fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
})

it('a power cut at any byte keeps every committed chunk, and nothing of a half one', async () => {
  await using dir = await tempDir('power-cut')
  let runs = 0
  fc.assert(
    fc.property(fc.array(change, { minLength: 2, maxLength: 8, size: 'max' }), (changes) => {
      const file = dir.join(`${runs++}.db`)
      using store = MirrorStore.open({ file, isExpected: false })
      let committed = dump(file)
      for (const { checkpoint, share, ...each } of changes) {
        if (checkpoint) moveLog(file)
        const [database, before] = [readFileSync(file), readFileSync(`${file}-wal`)]
        commit(store, chunkOf(each))
        const after = readFileSync(`${file}-wal`)
        const written = cutAt(before, after, share)
        writeFileSync(`${file}.cut`, database)
        const torn = Buffer.concat([after.subarray(0, written), before.subarray(written)])
        writeFileSync(`${file}.cut-wal`, torn)
        const next = dump(file)
        MirrorStore.open({ file: `${file}.cut`, isExpected: true, takesCopy: true })[Symbol.dispose]()
        const found = dump(`${file}.cut`)
        if (share === 0) expect(found).toEqual(committed)
        else if (share === 1) expect(found).toEqual(next)
        else expect([committed, next]).toContainEqual(found)
        committed = next
      }
    }),
    { numRuns: 30 },
  )
})

/** Inside of what the commit has written. */
function cutAt(before: Buffer, after: Buffer, share: number): number {
  let [first, end] = [0, after.length]
  while (first < before.length && before[first] === after[first]) first += 1
  while (end > first && end <= before.length && before[end - 1] === after[end - 1]) end -= 1
  return first + Math.round((end - first) * share)
}

function chunkOf({ products, price }: Pick<Change, 'products' | 'price'>): MirrorChunk {
  const feed = 'products' as FeedName
  return {
    writes: products.map((n) => writeOf(n, price, 'urgent')),
    heldIds: { feed, clear: true, add: products.map(idOf) },
    progress: { feed, value: price },
    counts: { claim: 'c1', add: { changed: products.length } },
  }
}

function commit(store: MirrorStore, chunk: MirrorChunk): void {
  const chunks = [chunk]
  store.commit(() => chunks.pop(), 1_000)
}

function moveLog(file: string): void {
  using database = new DatabaseSync(file)
  database.exec('PRAGMA wal_checkpoint(RESTART)')
}
