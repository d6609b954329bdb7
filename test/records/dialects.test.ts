import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Encoding } from '../../src/config/format-model.ts'
import type { Dialect } from '../../src/records/model.ts'
import { compress, encode, FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

const rows = [
  ['id', 'name', 'price', 'note'],
  [
    'a-1',
    'Größe “M” – 12 €'.replace(/[“”]/g, ''),
    '12,50',
    'with "quotes", commas; semicolons | pipes\ttabs',
  ],
  ['a-2', 'Crème brûlée', '', 'two\nlines'],
  ['a-3', '', '7', "it's"],
]

function csv(delimiter: string, lineEnd: string): string {
  const cell = (text: string) => (/["\n,;|\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return rows.map((row) => row.map(cell).join(delimiter) + lineEnd).join('')
}

const ndjson = rows
  .slice(1)
  .map((row) => `${JSON.stringify(Object.fromEntries(row.map((cell, index) => [rows[0]?.[index], cell])))}\n`)
  .join('')

const encodings: { encoding: Encoding; mark: boolean }[] = [
  { encoding: 'utf-8', mark: false },
  { encoding: 'utf-8', mark: true },
  { encoding: 'utf-16le', mark: false },
  { encoding: 'utf-16le', mark: true },
  { encoding: 'utf-16be', mark: false },
  { encoding: 'utf-16be', mark: true },
  { encoding: 'windows-1252', mark: false },
]
const compressions: Dialect['compression'][] = ['none', 'gzip', 'zstd']
const kinds = [
  ...[',', ';', '\t', '|'].flatMap((delimiter) =>
    ['\n', '\r\n', '\r'].map((lineEnd) => ({ type: 'csv', delimiter, lineEnd }) as const),
  ),
  { type: 'ndjson', delimiter: ',', lineEnd: '\n' } as const,
]
const cases = encodings.flatMap((encoding) =>
  compressions.flatMap((compression) => kinds.map((kind) => ({ ...encoding, compression, ...kind }))),
)

describe('a file of any dialect is read as it was written', () => {
  it.each(cases)('$type $delimiter $lineEnd, $encoding (mark: $mark), $compression', async (wanted) => {
    const { type, delimiter, lineEnd, encoding, mark, compression } = wanted
    const text = type === 'csv' ? csv(delimiter, lineEnd) : ndjson
    // The name lies on purpose.
    const source = await folder.write('feed.bin', compress(encode(text, encoding, { mark }), compression))
    const neededColumns = ['id', 'name', 'price', 'note']
    const { judgement, records, issues } = await judgeAndRead(source, { neededColumns })
    expect(judgement.dialect).toMatchObject({ type, delimiter, lineEnd, encoding, compression })
    expect(judgement.dialect.basis.encoding).toBe(mark ? 'bom' : 'detected')
    expect(judgement.columns).toEqual(rows[0])
    expect(records.map(({ cells }) => cells)).toEqual(rows.slice(1))
    expect(issues).toEqual([])
    expect(judgement).toMatchObject({ records: 3, unreadableIds: 0 })
    // Three words of French read as well in the encodings of its neighbours.
    const isGuess = encoding === 'windows-1252' && !mark
    expect(judgement.warnings.filter((text) => !isGuess || !text.includes('set format.encoding'))).toEqual([])
    expect([judgement.ids.size, judgement.ids.has('a-2'), judgement.ids.has('a-4')]).toEqual([3, true, false])
  })
})

describe('detection', () => {
  it('prefers the delimiter under which the needed columns are found', async () => {
    const text = 'id,x;name,y;price,z\n1,x;n,y;2,z\n2,x;n,y;3,z\n'
    const source = await folder.write('a.csv', text)
    expect((await judge(source, { neededColumns: ['id,x', 'name,y'] })).dialect.delimiter).toBe(';')
    expect((await judge(source, { neededColumns: ['id', 'y;price'] })).dialect.delimiter).toBe(',')
  })

  it('is not misled by decimal commas and by commas in quoted text', async () => {
    const rest = Array.from({ length: 50 }, (_, index) => `${index};"a, b, c";12,50\n`).join('')
    const source = await folder.write('a.csv', `sku;text;amount\n${rest}`)
    expect((await judge(source)).dialect.delimiter).toBe(';')
  })

  it('takes a name as a hint only where the content does not decide', async () => {
    const one = await folder.write('a.tsv', 'id\n1\n2\n')
    expect((await judge(one)).dialect.delimiter).toBe('\t')
    const csvContent = await folder.write('b.tsv.gz', 'id,name\n1,x\n')
    expect((await judge(csvContent)).dialect).toMatchObject({ delimiter: ',', compression: 'none' })
    const jsonContent = await folder.write('c.csv', '{"id":"1"}\n')
    expect((await judge(jsonContent)).dialect.type).toBe('ndjson')
  })

  it('says what was configured, and lets it win', async () => {
    const source = await folder.write('a.csv', "id|'name'\n1|'it''s'\n")
    const format = { type: 'csv', delimiter: '|', quote: "'", encoding: 'windows-1252' } as const
    const { judgement, records } = await judgeAndRead(source, { format })
    const configured = 'configured'
    expect(judgement.dialect.basis).toEqual({
      type: configured,
      delimiter: configured,
      quote: configured,
      encoding: configured,
    })
    expect(records[0]?.cells).toEqual(['1', "it's"])
  })

  it('reads quotes as characters with quote: none', async () => {
    const source = await folder.write('a.csv', 'id,size\n1,"5 inch\n2,6"\n')
    const { records } = await judgeAndRead(source, { format: { quote: 'none' } })
    expect(records.map(({ cells }) => cells)).toEqual([
      ['1', '"5 inch'],
      ['2', '6"'],
    ])
  })

  it('takes comments in all cells above the header for no record', async () => {
    const comments = '"# Required | an id, your own",# Required | a title,,# Optional'
    const source = await folder.write('a.csv', `${comments}\r\nid,title,price,was\r\n1,Cup,5,6\r\n`)
    const { judgement, records } = await judgeAndRead(source, { neededColumns: ['id'] })
    expect(judgement.columns).toEqual(['id', 'title', 'price', 'was'])
    expect(records).toMatchObject([{ record: 1, line: 3, cells: ['1', 'Cup', '5', '6'] }])
  })

  it.each(['# id,title', '# id', '#id,#title', 'id,# title'])('takes %j for a header', async (header) => {
    const cells = header.split(',')
    const source = await folder.write('a.csv', `${header}\n${cells.map(() => '1').join(',')}\n`)
    const { judgement } = await judgeAndRead(source, { neededColumns: cells.slice(0, 1) })
    expect(judgement.columns).toEqual(cells)
  })

  it.each(['sep=^\r\n', '"sep=^"\n', 'SEP=^\r'])(
    'takes %j before the header for no record',
    async (first) => {
      const lineEnd = first.replace(/[^\r\n]/g, '')
      const source = await folder.write(
        'a.csv',
        `\ufeff${first}${['id^name', '1^a,b;c'].join(lineEnd)}${lineEnd}`,
      )
      const { judgement, records } = await judgeAndRead(source, { neededColumns: ['id'] })
      expect(judgement.columns).toEqual(['id', 'name'])
      expect(records).toMatchObject([{ record: 1, line: 3, cells: ['1', 'a,b;c'] }])
    },
  )

  it('detects single quotes where the header has them', async () => {
    const source = await folder.write('a.csv', "'id','name'\n'1','a,b'\n")
    expect((await judgeAndRead(source)).records[0]?.cells).toEqual(['1', 'a,b'])
  })
})
