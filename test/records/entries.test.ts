import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EntryList, readEntries } from '../../src/records/entries.ts'
import { numbersPerEntry } from '../../src/records/entry-matcher.ts'
import { openBytesHash } from '../../src/records/id-table.ts'
import { tempDir } from '../support/temp-dir.ts'

// More than one part of the checksum.
const count = 150_000

describe('a list of entries', () => {
  it('is read as it was written, and not at all when a byte of it is another one', async () => {
    const hash = await openBytesHash('test')
    await using dir = await tempDir('entries')
    const first = new EntryList(dir.join('first'), hash)
    for (let entry = 0; entry < count; entry++) first.add([entry, ~entry >>> 0], [entry * 7, 1])
    const list = new EntryList(dir.join('list'), hash)
    list.copy(first.numbers(), 0, count - 2)
    list.copy(first.numbers(), (count - 2) * numbersPerEntry, 2)
    const path = list.finish()
    const entries = (await readEntries(path, hash)) ?? new Uint32Array()
    expect(entries.length).toBe(count * numbersPerEntry)
    let wrong = 0
    for (let entry = 0; entry < count; entry++) {
      const read = entries.subarray(entry * numbersPerEntry, (entry + 1) * numbersPerEntry)
      const written = [entry, ~entry >>> 0, entry * 7, 1]
      if (written.some((number, place) => number !== read[place])) wrong += 1
    }
    expect(wrong).toBe(0)

    const bytes = readFileSync(path)
    for (const at of [0, 2 ** 20 - 1, 2 ** 20, 2 * 2 ** 20 + 5, bytes.length - 9, bytes.length - 1]) {
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ 4
      writeFileSync(path, damaged)
      expect(await readEntries(path, hash)).toBeUndefined()
    }
    for (const length of [0, 4, bytes.length - 16, 2 ** 20]) {
      writeFileSync(path, bytes.subarray(0, length))
      expect(await readEntries(path, hash)).toBeUndefined()
    }
  })

  it('may be empty', async () => {
    const hash = await openBytesHash('test')
    await using dir = await tempDir('entries')
    expect(await readEntries(new EntryList(dir.join('list'), hash).finish(), hash)).toHaveLength(0)
  })
})
