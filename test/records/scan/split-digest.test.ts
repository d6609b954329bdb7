import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import openWabt from 'wabt'
import xxhash from 'xxhash-wasm'
import { BlankTest } from '../../../src/records/blank-test.ts'
import { openBytesHash } from '../../../src/records/id-table.ts'
import { type FoundRecord, SplitDigest } from '../../../src/records/scan/split-digest.ts'
import { RecordSplitter } from '../../../src/records/splitter.ts'

const folder = new URL('../../../src/records/scan/', import.meta.url)
// More with CASES=5000000, say.
const cases = Number(process.env.CASES ?? 3000)

describe('the module that splits and digests', () => {
  it('is what its source says', async () => {
    const wabt = await openWabt()
    const source = readFileSync(new URL('split-digest.wat', folder), 'utf8')
    const module = wabt.parseWat('split-digest.wat', source, { simd: true })
    module.resolveNames()
    module.validate()
    const built = Buffer.from(module.toBinary({}).buffer)
    // node_modules/.bin/wat2wasm writes it.
    expect(built.equals(readFileSync(new URL('split-digest.wasm', folder)))).toBe(true)
  })

  it('finds the records that the splitter finds, with their digests, whatever the chunks', async () => {
    const hash = await openBytesHash('seed')
    const seed = (await xxhash()).h64('seed')
    const pieces = fc.constantFrom(
      ...['"', ',', '\n', 'a', '\r\n', '\r', ' ', '""', '","', '"\n"', 'x"', ',"'],
      'a text that is longer than sixteen bytes, and than thirty-two',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom('"', '"', "'", undefined),
        (texts, chunks, quote) => {
          const bytes = Buffer.from(texts.join('').replaceAll('"', quote ?? '"'))
          const expected = splitBySplitter(bytes, quote)?.map((slice) => {
            const [low, high] = hash(slice.bytes)
            return { offset: slice.offset, length: slice.bytes.length, line: slice.line - 1, low, high }
          })
          const splitter = new SplitDigest({ delimiter: 0x2c, quote: quote?.charCodeAt(0), seed }, 0)
          const found: FoundRecord[] = []
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const chunk = bytes.subarray(at, at + (chunks[turn % chunks.length] ?? 1))
            splitter.room.set(chunk)
            splitter.take(chunk.length, (record) => found.push({ ...record }))
            splitter.shift()
            at += chunk.length
          }
          const { isClosed, ...rest } = splitter.rest
          expect(isClosed).toBe(expected !== undefined)
          if (!expected) return
          if (rest.length > 0) {
            const [low, high] = hash(bytes.subarray(rest.offset))
            found.push({ ...rest, low, high })
          }
          const blank = new BlankTest({ delimiter: ',', quote })
          const isBlank = ({ offset, length }: FoundRecord) =>
            blank.isBlank(bytes.subarray(offset, offset + length))
          expect(found.filter((record) => !isBlank(record))).toEqual(expected)
        },
      ),
      { numRuns: cases },
    )
  })
})

/** Undefined where a quote is never closed. */
function splitBySplitter(bytes: Buffer, quote: string | undefined) {
  const splitter = new RecordSplitter({
    ...{ delimiter: ',', quote, lineEnd: '\n' as const, name: 'file', recordBytes: 1_000_000 },
    ...{ hasCells: false, firstRecord: 1 },
  })
  try {
    return [...splitter.push(bytes), ...splitter.end()].flat()
  } catch {
    return undefined
  }
}
