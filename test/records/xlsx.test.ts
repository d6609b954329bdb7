import { readdir, readFile, rm } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rejectsPath } from '../../src/imports/report.ts'
import type { FileRefusedError } from '../../src/lib/errors.ts'
import { describeDialect } from '../../src/records/describe-dialect.ts'
import { readRecords } from '../../src/records/read-records.ts'
import { openRejectsWriter } from '../../src/records/rejects-writer.ts'
import { readSheet } from '../../src/records/xlsx-sheet.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { FeedFolder, judge, judgeAndRead, read } from './feed-file.ts'
import { workbookOf } from './workbook.ts'
import { zipOf } from './zip-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

const inline = (position: string, text: string) =>
  `<c r="${position}" t="inlineStr"><is><t>${text}</t></is></c>`
const header = `<row r="1">${inline('A1', 'id')}${inline('B1', 'name')}</row>`

type Parts = Parameters<typeof workbookOf>[0]

/** The text of the first sheet, or of the one named. */
async function textOf(parts: Parts, sheet?: string): Promise<string> {
  const source = await folder.write('feed.xlsx', await workbookOf(parts))
  return (await buffer(readSheet(source, sheet))).toString()
}

async function refusalOf(
  parts: Parts,
  format = {},
): Promise<Pick<FileRefusedError, 'code' | 'message' | 'hint'>> {
  const source = await folder.write('feed.xlsx', await workbookOf(parts))
  return judge(source, { format }).then(
    () => expect.fail('was not refused'),
    (error) => error,
  )
}

describe('a spreadsheet', () => {
  it('is read like CSV, with its rows as lines', async () => {
    const rows = `${header}
      <row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c></row>
      <row r="4"><c r="A4"/><c r="B4" s="1"/></row>
      <row r="5">${inline('A5', 'x')}</row>`
    const strings = [
      '<t>p-1</t>',
      '<r><t xml:space="preserve">Shirt, </t></r><r><t>&quot;red&quot;</t></r><rPh><t>no</t></rPh>',
    ]
    const source = await folder.write('feed.xlsx', await workbookOf({ rows, strings }))
    const { judgement, records, rejected } = await judgeAndRead(source)
    expect(records.map(({ record, line, cells }) => [record, line, ...cells])).toEqual([
      [1, 3, 'p-1', 'Shirt, "red"'],
      [2, 5, 'x', ''],
    ])
    expect(rejected).toEqual([])
    expect(describeDialect(judgement.dialect)).toBe('XLSX, first sheet')
    expect(judgement.warnings).toEqual([])
  })

  describe('that is compressed once more', () => {
    const rows = (...ids: string[]) =>
      header +
      ids.map((id, at) => `<row>${inline(`A${at + 2}`, id)}${inline(`B${at + 2}`, 'Pan')}</row>`).join('')
    it.each<[string, (inner: Buffer) => Promise<Buffer> | Buffer]>([
      ['gzip', gzipSync],
      ['zstd', zstdCompressSync],
      ['zip', (inner) => zipOf({ 'export/products.xlsx': inner })],
    ])('with %s is read', async (packing, pack) => {
      const inner = await workbookOf({
        rows: header,
        sheets: [{ name: 'One' }, { name: 'Two', rows: rows('p-1') }],
      })
      const source = await folder.write('feed.dat', await pack(inner))
      const format = { sheet: 'Two' }
      const { judgement, records } = await judgeAndRead(source, { format })
      expect(describeDialect(judgement.dialect)).toBe(`XLSX, sheet "Two", ${packing}`)
      expect(records.map(({ cells }) => cells)).toEqual([['p-1', 'Pan']])
    })

    it('is several where they are members of an archive', async () => {
      const of = (...ids: string[]) => workbookOf({ rows: rows(...ids) })
      const members = { 'a.xlsx': await of('1', '2'), 'b.xlsx': await of('3'), '.x': 'hidden' }
      const { records } = await judgeAndRead(await folder.write('feed.zip', await zipOf(members)))
      expect(records.map(({ record, cells }) => [record, cells[0]])).toEqual([
        [1, '1'],
        [2, '2'],
        [3, '3'],
      ])
    })

    it('is unpacked to the folder that it is given, and a disk that does not take it stops the import', async () => {
      const source = await folder.write('feed.gz', gzipSync(await workbookOf({ rows: rows('1') })))
      const spillDir = folder.path('state/tmp')
      const { dialect, columns } = await judge(source, { spillDir })
      expect(await readdir(spillDir)).toEqual([])
      await rm(spillDir, { recursive: true })
      const options = { ...source, dialect, columns, recordBytes: 1000 }
      for await (const batch of readRecords({ ...options, spillDir })) expect(batch.records).toHaveLength(1)
      expect(await readdir(spillDir)).toEqual([])
      const full = { spillDir: `${source.path}/tmp` }
      await expect(judge(source, full)).rejects.toMatchObject({
        name: 'StorageError',
        code: 'spill-not-written',
        message: expect.stringContaining(`to ${full.spillDir} (ENOTDIR)`),
      })
      const again = readRecords({ ...options, ...full })
      await expect(again.next()).rejects.toMatchObject({ code: 'spill-not-written' })
    })

    it('is refused where it is damaged, beside something else, or no spreadsheet after all', async () => {
      const sound = await workbookOf({ rows: rows('1') })
      const refusal = async (content: Buffer) => {
        const error: unknown = await judge(await folder.write('feed.zip', content)).catch((caught) => caught)
        return error
      }
      expect(await refusal(gzipSync(sound.subarray(0, -30)))).toMatchObject({ code: 'truncated' })
      expect(await refusal(await zipOf({ 'a.xlsx': sound, 'b.csv': 'id,name\n1,a\n' }))).toMatchObject({
        code: 'nested-archive',
        message: expect.stringContaining('feed.zip (b.csv)'),
      })
      expect(await refusal(await zipOf({ 'a.csv': 'id,name\n1,a\n', 'b.xlsx': sound }))).toMatchObject({
        code: 'nested-archive',
      })
      const other = await zipOf({ '[Content_Types].xml': '<Types/>', 'word/document.xml': '<a/>' })
      expect(await refusal(gzipSync(other))).toMatchObject({ code: 'unsupported-format' })
      const empty = await zipOf({ '[Content_Types].xml': '<Types/>', 'a.xml': '<a/>' })
      expect(await refusal(gzipSync(empty))).toMatchObject({ code: 'nested-archive' })
    })
  })

  it('is read when its first text is empty', async () => {
    const rows = `${header}<row><c t="s"><v>1</v></c><c t="s"><v>0</v></c></row>`
    expect(await textOf({ rows, strings: ['<t/>', '<t>p-1</t>'] })).toBe('id,name\np-1,\n')
  })

  it.each<[string, Partial<Parts>]>([
    ['of the strict form', { strict: true }],
    ['with prefixed names', { prefix: 'x' }],
  ])('%s is read', async (_, parts) => {
    const p = parts.prefix ? `${parts.prefix}:` : ''
    const rows = `<${p}row><${p}c t="s"><${p}v>0</${p}v></${p}c><${p}c><${p}v>2</${p}v></${p}c></${p}row>`
    expect(await textOf({ ...parts, rows, strings: [`<${p}t>id</${p}t>`] })).toBe('id,2\n')
  })

  it('gives the sheet that is named, else the first that can be seen', async () => {
    const sheets = [
      { name: 'Help', state: 'hidden' },
      { name: 'Products &amp; more', rows: `<row>${inline('A1', 'seen')}</row>` },
      { name: 'Stock', rows: `<row>${inline('A1', 'stock')}</row>` },
    ]
    expect(await textOf({ rows: '', sheets })).toBe('seen\n')
    expect(await textOf({ rows: '', sheets }, 'Stock')).toBe('stock\n')
    expect(await textOf({ rows: '', sheets }, ' products & MORE')).toBe('seen\n')
    expect(await refusalOf({ rows: '', sheets }, { sheet: 'Prices' })).toMatchObject({
      code: 'no-sheet',
      message: expect.stringMatching(/no sheet "Prices", only "Help", "Products & more", "Stock"/),
      hint: expect.stringMatching(/format\.sheet/),
    })
  })

  it.each([
    ['0.30000000000000004', '0.3'],
    ['19.989999999999998', '19.99'],
    ['4006381333931', '4006381333931'],
    ['1.2345678901234567E+19', '12345678901234600000'],
    ['1E-7', '0.0000001'],
    ['-5', '-5'],
    ['1e2', '100'],
  ])('gives the number %s as %s', async (value, text) => {
    expect(await textOf({ rows: `<row><c><v>${value}</v></c></row>` })).toBe(`${text}\n`)
  })

  it.each<[string, number | string, string, string]>([
    ['a built-in date', 14, '45292', '2024-01-01'],
    ['a date and time', 22, '45292.5', '2024-01-01T12:00:00'],
    ['a time', 21, '0.75', '18:00:00'],
    ['a span of time', '[h]:mm', '1.5', '36:00:00'],
    ['a format of its own', 'dd\\.mm\\.yyyy;@', '45292.99', '2024-01-01'],
    ['months alone', '[$-407]mmmm\\ yy', '45292', '2024-01-01'],
    ['minutes after hours', 'hh:mm', '0.5', '12:00:00'],
    ['text that looks like a date format', '0.00 &quot;days&quot;', '2', '2'],
    ['a colour', '[Red]0.00', '2', '2'],
    ['leading zeros', '00000', '42', '00042'],
    ['a negative number with leading zeros', '00000', '-3', '-3'],
    ['decimals with leading zeros', '00000', '0.5', '0.5'],
    ['an early date', 14, '59', '1900-02-28'],
    ['a day that never was', 14, '60', '60'],
    ['the day after it', 14, '61', '1900-03-01'],
    ['no date at all', 14, '-3', '-3'],
  ])('gives %s as it is meant', async (_, format, value, expected) => {
    const id = typeof format === 'number' ? format : 164
    const formats: Record<number, string> = typeof format === 'number' ? {} : { 164: format }
    const rows = `<row><c s="1"><v>${value}</v></c></row>`
    expect(await textOf({ rows, formats, styles: [0, id] })).toBe(`${expected}\n`)
  })

  it('counts days from 1904 where the workbook says so', async () => {
    const rows = '<row><c s="1"><v>43830</v></c></row>'
    expect(await textOf({ rows, styles: [0, 14], date1904: true })).toBe('2024-01-01\n')
  })

  it('gives booleans, ISO dates, results of formulas and control characters', async () => {
    const rows = `<row><c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="d"><v>2024-05-01</v></c>
      <c t="str"><f>A1&amp;"x"</f><v>1x</v></c><c><f>1+1</f><v>2</v></c>${inline('F1', 'a_x000D__x000A_b')}</row>`
    expect(await textOf({ rows })).toBe('TRUE,FALSE,2024-05-01,1x,2,"a\r\nb"\n')
  })

  it('tells errors by their type, whatever they are called', async () => {
    const error = (name: string) => `<c t="e"><v>${name}</v></c>`
    const rows = `<row>${['#N/A', 'Err:502', ''].map(error).join('')}<c><v>1</v></c></row>`
    expect(await textOf({ rows })).toBe('#N/A,#ERROR!,#ERROR!,1\n')
  })

  it('keeps cells of merged ranges in their places', async () => {
    const rows = `<row r="2"><c r="B2"><v>1</v></c><c r="D2"><v>2</v></c></row><row r="3"><c r="D3"><v>4</v></c></row>`
    expect(await textOf({ rows })).toBe('\n,1,,2\n,,,4\n')
  })

  it('rejects records with errors and with formulas that were never calculated', async () => {
    const rows = `${header}<row>${inline('A2', '1')}<c r="B2" t="e"><v>#N/A</v></c></row>
      <row>${inline('A3', '2')}<c r="B3"><f>NOW()</f></c></row><row>${inline('A4', '3')}${inline('B4', 'ok')}</row>`
    const source = await folder.write('feed.xlsx', await workbookOf({ rows }))
    const { judgement, records, rejected } = await judgeAndRead(source)
    expect(records.map(({ cells }) => cells[0])).toEqual(['3'])
    // What the feed does not read may hold anything.
    expect((await read(source, judgement, ['id'])).records).toHaveLength(3)
    expect(rejected.map(({ line, issues }) => [line, issues[0]?.code, issues[0]?.field])).toEqual([
      [2, 'cell-error', 'name'],
      [3, 'cell-error', 'name'],
    ])
  })
})

describe('the file of rejected rows', () => {
  it('is CSV', async () => {
    const rows = `${header}<row>${inline('A2', '1')}${inline('B2', 'a &quot;b&quot;, c')}</row>`
    const { judgement, records } = await judgeAndRead(
      await folder.write('f.xlsx', await workbookOf({ rows })),
    )
    await using writer = openRejectsWriter({ ...judgement, path: folder.path('rejects.csv') })
    for (const record of records) await writer.write({ ...record, issues: [] })
    await writer[Symbol.asyncDispose]()
    expect(await readFile(folder.path('rejects.csv'), 'utf8')).toBe(
      'catalogd_line,catalogd_field,catalogd_value,catalogd_reason,catalogd_remedy,id,name\n2,,,,,1,"a ""b"", c"\n',
    )
  })
})

describe('the file of rejected records is called as it is written', () => {
  it.each([
    ['f.xlsx', 'csv', 'csv'],
    ['f.json.zip', 'json', 'json'],
    ['f.zip', 'xml', 'xml'],
    ['f', 'json', 'json'],
    ['f.json', 'ndjson', 'ndjson'],
    ['f.JSONL', 'ndjson', 'JSONL'],
    ['f.txt.gz', 'xml', 'txt'],
    ['f.tsv', 'csv', 'tsv'],
  ] as const)('%s of %s: %s', (name, type, extension) => {
    const accept = { sequence: 7, feed: 'f', name } as AcceptLine
    expect(rejectsPath(accept, { reportsDir: 'reports', dialect: { type }, files: [] })).toBe(
      `reports/00000007-f.rejects.${extension}`,
    )
  })
})

describe('a spreadsheet is refused', () => {
  it.each<[string, string, string]>([
    ['whose XML is not well-formed', '<row><c></row>', 'damaged-workbook'],
    ['whose rows are not in order', '<row r="2"/><row r="1"/>', 'damaged-workbook'],
    ['whose cells are not in order', '<row><c r="B1"/><c r="A1"/></row>', 'damaged-workbook'],
    ['that refers to no text', '<row><c t="s"><v>5</v></c></row>', 'damaged-workbook'],
    ['with a cell beyond the columns', '<row r="1"><c r="XFD1"><v>1</v></c></row>', 'too-many-columns'],
    ['without a row', '', 'empty-file'],
    ['of deep nesting', '<a>'.repeat(100), 'damaged-workbook'],
  ])('%s', async (_, rows, code) => {
    expect(await refusalOf({ rows })).toMatchObject({ code })
  })

  it('with a DOCTYPE', async () => {
    const rows = '</sheetData></worksheet><!DOCTYPE x [<!ENTITY a "aaaa">]>'
    expect(await refusalOf({ rows })).toMatchObject({ code: 'damaged-workbook' })
  })

  it('that is cut off', async () => {
    const bytes = await workbookOf({ rows: header })
    const source = await folder.write('cut.xlsx', bytes.subarray(0, bytes.length - 40))
    await expect(judge(source)).rejects.toMatchObject({ code: 'truncated' })
  })

  it.each([
    ['d0cf11e0a1b11ae1', /old Excel workbook/],
    ['526172211a0700', /RAR/],
    ['377abcaf271c', /7-Zip/],
    ['255044462d312e37', /PDF/],
  ])('that is none but %s', async (hex, found) => {
    const source = await folder.write('feed.xls', Buffer.from(hex.padEnd(40, '0'), 'hex'))
    await expect(judge(source)).rejects.toMatchObject({
      code: 'unsupported-format',
      message: expect.stringMatching(found),
    })
  })
})
