import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IdTableBuilder, openTextHash } from '../../src/records/id-table.ts'
import { HashTable } from '../../src/records/partitioned-table.ts'

describe('the table of ids', () => {
  it('holds a million ids and the last record of those that repeat', async () => {
    const ids = await IdTableBuilder.open()
    const count = 1_000_000
    for (let index = 0; index < count; index++) ids.add(`SKU-${index}`, index + 1)
    for (let index = 0; index < count; index += 10) ids.add(`SKU-${index}`, count + index + 1)
    expect([ids.size, ids.repeated]).toEqual([count, count / 10])
    let wrong = 0
    for (let index = 0; index < count; index += 7) {
      const id = `SKU-${index}`
      const isLast = index % 10 !== 0
      if (!ids.has(id) || ids.isLast(id, index + 1) !== isLast) wrong += 1
      if (index % 10 === 0 && !ids.isLast(id, count + index + 1)) wrong += 1
      if (ids.has(`sku-${index}`)) wrong += 1
    }
    expect(wrong).toBe(0)
  })

  it('equals a map, also for hashes that share slots or are zero', () => {
    const words = fc.constantFrom(0, 1, 2, 3, 256, 512, 4096, 0xffff_ffff)
    fc.assert(
      fc.property(fc.array(fc.tuple(words, words, fc.nat(1000)), { maxLength: 80 }), (entries) => {
        const table = new HashTable({ withValues: true })
        // The hash 0 shares the slot of 1: one more accident of the same kind as two ids with one hash.
        const key = (low: number, high: number) => `${low === 0 && high === 0 ? 1 : low} ${high}`
        const map = new Map<string, number>()
        for (const [low, high, value] of entries) {
          expect(table.put(low, high, value)).toBe(!map.has(key(low, high)))
          map.set(key(low, high), value)
        }
        expect(table.size).toBe(map.size)
        for (const [low, high] of entries) expect(table.get(low, high)).toBe(map.get(key(low, high)))
        expect(table.has(77, 77)).toBe(false)
      }),
    )
  })

  it('keeps everything when it grows', () => {
    const table = new HashTable({ withValues: true })
    for (let index = 1; index <= 50_000; index++) table.put(index, index % 7, index * 2)
    for (let index = 1; index <= 50_000; index++) expect(table.get(index, index % 7)).toBe(index * 2)
  })

  it('keeps a mark on an id when it grows', async () => {
    const table = await IdTableBuilder.open()
    const hash = await openTextHash()
    const add = (from: number, to: number) => {
      for (let n = from; n < to; n++) table.add(`P${n}`, n)
    }
    const isNew = (n: number) => table.mark(hash(`P${n}`))
    add(0, 10_000)
    for (let n = 0; n < 10_000; n += 2) expect(isNew(n)).toBe(true)
    add(10_000, 100_000)
    for (let n = 0; n < 20_000; n++) expect(isNew(n)).toBe(n >= 10_000 || n % 2 === 1)
    expect(isNew(100_000)).toBeUndefined()
  })
})
