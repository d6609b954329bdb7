import { writeFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  numbersPerMiss,
  type RangeOptions,
  type RangeResult,
  scanRange,
} from '../../../src/records/scan/scan-range.ts'
import { tempDir } from '../../support/temp-dir.ts'

const syntax = { delimiter: 0x2c, quote: 0x22, seed: 7n }

describe('ranges of a file', () => {
  it('find together what one finds, or say that they cannot', async () => {
    await using dir = await tempDir('ranges')
    const path = dir.join('file.csv')
    let split = 0
    const text = fc.array(row, { minLength: 2, maxLength: 40 }).map((rows) => rows.join(''))
    await fc.assert(
      fc.asyncProperty(text, text, fc.array(fc.nat(600), { maxLength: 3 }), async (first, more, places) => {
        // Most of the file stands in the index; some of it stands there twice.
        await writeFile(path, first)
        const index = scan(path, { bytes: Buffer.byteLength(first), cuts: [0] }, [])
        const entries = index.flatMap(missesOf).flatMap(({ low, high, offset }) => [low, high, offset, 1])
        await writeFile(path, first + more)
        const bytes = Buffer.byteLength(first + more)
        const cuts = [0, ...places.filter((place) => place > 0 && place < bytes).sort((a, b) => a - b)]
        const [whole] = scan(path, { bytes, cuts: [0] }, entries)
        const ranges = scan(path, { bytes, cuts: [...new Set(cuts)] }, entries)
        if (ranges.some(({ failed }) => failed !== undefined)) return
        expect(whole?.failed).toBeUndefined()
        if (ranges.filter(({ records }) => records > 0).length > 1) split += 1
        expect(sumOf(ranges, 'records')).toBe(whole?.records)
        expect(sumOf(ranges, 'lines')).toBe(whole?.lines)
        const [all] = scan(path, { bytes, cuts: [0] }, [])
        const found = ranges.flatMap((each, range) => {
          const before = ranges.slice(0, range)
          const [line, record] = [sumOf(before, 'lines'), sumOf(before, 'records')]
          return missesOf(each).map((miss) => ({
            ...miss,
            line: miss.line + line,
            record: miss.record + record,
          }))
        })
        expect(all && missesOf(all)).toEqual(expect.arrayContaining(found))
        const last = ranges.findLast(({ records }) => records > 0)
        expect(last?.openEnded ?? false).toBe(whole?.openEnded)
      }),
      { numRuns: 300 },
    )
    expect(split).toBeGreaterThan(20)
  })
})

/** The last range first, since each asks the next one where it begins. */
function scan(
  path: string,
  { bytes, cuts }: Pick<RangeOptions, 'bytes' | 'cuts'>,
  entries: readonly number[],
): RangeResult[] {
  const shared = {
    ...{ path, bytes, cuts, syntax, entries: Uint32Array.from(entries) },
    matched: new Uint8Array(entries.length / 4),
    begins: new Float64Array(new SharedArrayBuffer(cuts.length * 8)),
    areKnown: new Int32Array(new SharedArrayBuffer(cuts.length * 4)),
  }
  const ranges = cuts.map((_, range) => range).reverse()
  return ranges.map((range) => scanRange({ ...shared, range }, () => undefined)).reverse()
}

function sumOf(ranges: readonly RangeResult[], what: 'lines' | 'records'): number {
  return ranges.reduce((sum, each) => sum + each[what], 0)
}

function missesOf({ misses }: RangeResult) {
  return Array.from({ length: misses.length / numbersPerMiss }, (_, miss) => {
    const numbers = misses.subarray(miss * numbersPerMiss)
    const [offset = 0, length = 0, line = 0, record = 0, low = 0, high = 0] = numbers
    return { offset, length, line, record, low, high }
  })
}

const row = fc.constantFrom(
  ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((id) => `${id},plain,1\n`),
  ...['i', 'j', 'k'].map((id) => `${id},"of\ntwo, ""lines""\n",1\n`),
  ...['l,"a,plain,1\nb,plain,1\n",2\n', 'm,5" screen,3\n', '\n', 'n,last,1'],
)
