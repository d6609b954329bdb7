import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CellReader } from '../../src/records/cells.ts'
import type { Dialect, RecordSlice } from '../../src/records/model.ts'
import { csvParseOptions, parseCsv } from '../../src/records/parse-csv.ts'
import { RecordSplitter } from '../../src/records/splitter.ts'

// csv-parse over the whole text is the truth; whatever the splitter and the cell reader say must equal it.

/** Wider than any generated record, so that no empty cell at the end is cut off. */
const manyColumns = Array.from({ length: 500 }, (_, index) => `c${index}`)

function dialectOf(part: Pick<Dialect, 'delimiter' | 'quote' | 'lineEnd'>): Dialect {
  const basis = { type: 'detected', encoding: 'detected', delimiter: 'detected', quote: 'detected' } as const
  return { type: 'csv', compression: 'none', encoding: 'utf-8', ...part, basis }
}

const dialects = fc
  .record({
    delimiter: fc.constantFrom(',', ';', '\t', '|', '§', '💶'),
    quote: fc.constantFrom('"', '"', "'", undefined),
    lineEnd: fc.constantFrom('\n', '\n', '\r\n', '\r'),
  })
  .map((part) => dialectOf(part as Pick<Dialect, 'delimiter' | 'quote' | 'lineEnd'>))

/** Text made of what matters to a CSV parser; `piece` numbers are turned into the dialect's own characters. */
const pieces = fc.array(
  fc.constantFrom(
    'q',
    'q',
    'q',
    'd',
    'd',
    'n',
    'r',
    'rn',
    'qd',
    'dq',
    'qq',
    'qrn',
    'qn',
    'nq',
    '\0',
    ' ',
    'a',
    'b',
    'é',
    '\u00a0',
    '\ufeff',
    '"',
    "'",
    ',',
    '\u00a7',
    '\xa7',
  ),
  { maxLength: 60 },
)

function textOf(parts: readonly string[], { delimiter, quote }: Dialect): Buffer {
  const letter: Record<string, string> = { q: quote ?? '"', d: delimiter, n: '\n', r: '\r' }
  const text = parts.map((part) =>
    /^[qdnr]+$/.test(part) ? [...part].map((char) => letter[char]).join('') : part,
  )
  return Buffer.from(text.join(''))
}

const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 })

interface Taken {
  rows: readonly (readonly unknown[])[]
  readAll: readonly (readonly string[])[]
  slices: readonly Omit<RecordSlice, 'bytes'>[]
  texts: readonly string[]
}

function takeAll(
  text: Buffer,
  dialect: Dialect,
  cutsOf: readonly number[],
  batchRecords: number,
  keep = () => true,
): Taken {
  const splitter = new RecordSplitter({
    ...dialect,
    name: 'feed.csv',
    recordBytes: 1_000_000,
    firstRecord: 1,
    hasCells: false,
    batch: { records: batchRecords, bytes: 1_000_000 },
  })
  const reader = new CellReader(dialect)
  const taken = {
    rows: [] as unknown[][],
    readAll: [] as string[][],
    slices: [] as Omit<RecordSlice, 'bytes'>[],
    texts: [] as string[],
  }
  const take = (all: readonly RecordSlice[]) => {
    const batch = all.filter(keep)
    for (const result of parseCsv(batch, dialect, manyColumns)) {
      taken.rows.push([...('parsed' in result ? result.parsed : result.rejected).cells])
    }
    for (const { bytes, ...rest } of batch) {
      taken.readAll.push(reader.readAll(bytes))
      taken.slices.push(rest)
      taken.texts.push(bytes.toString())
      expect(reader.count(bytes)).toBe(taken.readAll.at(-1)?.length)
    }
  }
  for (let at = 0, turn = 0; at < text.length; turn++) {
    const size = cutsOf[turn % cutsOf.length] as number
    for (const batch of splitter.push(text.subarray(at, at + size))) take(batch)
    at += size
  }
  for (const batch of splitter.end()) take(batch)
  return taken
}

function expected(text: Buffer, dialect: Dialect): string[][] | undefined {
  try {
    return parse(text, csvParseOptions(dialect))
  } catch (error) {
    expect((error as { code?: string }).code).toBe('CSV_QUOTE_NOT_CLOSED')
    return undefined
  }
}

describe('records and cells equal csv-parse over the whole text', () => {
  it('for any text, cut anywhere', () => {
    fc.assert(
      fc.property(
        dialects,
        pieces,
        cuts,
        fc.integer({ min: 1, max: 5 }),
        (dialect, parts, cutsOf, batchRecords) => {
          const text = textOf(parts, dialect)
          const rows = expected(text, dialect)
          if (rows === undefined) {
            expect(() => takeAll(text, dialect, cutsOf, batchRecords)).toThrow(/never closed/)
            return
          }
          const taken = takeAll(text, dialect, cutsOf, batchRecords)
          expect(taken.rows).toEqual(rows)
          expect(taken.readAll).toEqual(rows)
          expect(taken.slices.map(({ record }) => record)).toEqual(rows.map((_, index) => index + 1))
        },
      ),
      { numRuns: 6000 },
    )
  })

  it('for single cells and for any selection of records', () => {
    fc.assert(
      fc.property(
        dialects,
        pieces,
        cuts,
        fc.func(fc.boolean()),
        fc.array(fc.nat(8), { minLength: 1, maxLength: 4 }),
        (dialect, parts, cutsOf, keep, indices) => {
          const text = textOf(parts, dialect)
          const rows = expected(text, dialect)
          if (rows === undefined) return
          const kept = rows.filter((_, index) => keep(index + 1))
          const taken = takeAll(text, dialect, cutsOf, 1000, ((slice: RecordSlice) =>
            keep(slice.record)) as () => boolean)
          expect(taken.rows).toEqual(kept)
          const reader = new CellReader(dialect)
          const cells = taken.texts.map((record) => reader.readCells(Buffer.from(record), indices))
          expect(cells).toEqual(kept.map((row) => indices.map((index) => row[index])))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('and lines and offsets are those of the text', () => {
    fc.assert(
      fc.property(dialects, pieces, cuts, (dialect, parts, cutsOf) => {
        const text = textOf(parts, dialect)
        if (expected(text, dialect) === undefined) return
        const lineEnds = dialect.lineEnd === '\r' ? /\r\n|\n|\r/g : /\n/g
        const taken = takeAll(text, dialect, cutsOf, 3)
        taken.slices.forEach(({ offset, line }, index) => {
          const record = Buffer.from(taken.texts[index] as string)
          expect(text.subarray(offset, offset + record.length).equals(record)).toBe(true)
          expect(line).toBe(1 + (text.toString('utf8', 0, offset).match(lineEnds)?.length ?? 0))
        })
      }),
      { numRuns: 2000 },
    )
  })
})

it('records that only look like neighbours are parsed each from its own memory', () => {
  const memory = (text: string) => Buffer.from(new Uint8Array(Buffer.from(text)).buffer)
  const dialect = dialectOf({ delimiter: ',', quote: '"', lineEnd: '\n' })
  const slices = [
    { bytes: memory('a,b\nc,d').subarray(0, 3), record: 1, line: 1, offset: 0 },
    { bytes: memory('x,x\ne,f').subarray(4), record: 2, line: 2, offset: 4 },
  ]
  const results = parseCsv(slices, dialect, ['x', 'y'])
  expect(results).toMatchObject([{ parsed: { cells: ['a', 'b'] } }, { parsed: { cells: ['e', 'f'] } }])
})
