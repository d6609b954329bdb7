import { access, readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Encoding } from '../../src/config/format-model.ts'
import type { RejectedRecord } from '../../src/records/model.ts'
import { reasonColumn } from '../../src/records/model.ts'
import { rejectColumns } from '../../src/records/reject-columns.ts'
import { openRejectsWriter } from '../../src/records/rejects-writer.ts'
import { encode, FeedFolder, judge, judgeAndRead, read } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

function rejected(cells: readonly unknown[], record = 1, rest: Partial<RejectedRecord> = {}): RejectedRecord {
  const message = 'has "a", b;\tor | c\nand é'
  const issue = {
    record,
    line: record + 1,
    field: 'price',
    code: 'bad',
    message,
    severity: 'reject',
    value: '=1+1',
  } as const
  return { record, line: record + 1, cells, issues: [issue], ...rest }
}

async function writeRejects(
  source: { path: string; bytes: number; name: string },
  records: readonly RejectedRecord[],
) {
  const judgement = await judge(source)
  const path = folder.path('rejects.csv')
  await using writer = openRejectsWriter({ ...judgement, path })
  for (const record of records) await writer.write(record)
  expect(writer.count).toBe(records.length)
  await writer[Symbol.asyncDispose]()
  const content = await readFile(path)
  return { path, bytes: content.length, name: 'rejects.csv', content }
}

const header = 'id,na"me,price'
const own = rejectColumns.length
const encodings: [Encoding, boolean][] = [
  ['utf-8', false],
  ['utf-8', true],
  ['utf-16le', true],
  ['utf-16be', false],
  ['windows-1252', false],
]

describe('a file of rejected records', () => {
  it.each(encodings)('comes back as it was, in its own dialect (%s, mark: %s)', async (encoding, mark) => {
    const cells = [
      ['1', 'é "quoted"', '1;5'],
      ['2', ' two\r\nlines ', '', 'one too many'],
      ['3'],
      ['4', "'", '|'],
    ]
    const start = encode(`${header.replaceAll(',', ';')}\r\n1;é;2\r\n`, encoding, { mark })
    const source = await folder.write('a.csv', start)
    const rejects = await writeRejects(
      source,
      cells.map((row, index) => rejected(row, index + 1)),
    )
    const again = await judgeAndRead(rejects)
    expect(again.judgement.dialect).toMatchObject({ encoding, delimiter: ';', lineEnd: '\r\n' })
    expect(again.judgement.dialect.basis.encoding).toBe(mark ? 'bom' : 'detected')
    expect(again.judgement.columns).toEqual([...rejectColumns, 'id', 'na"me', 'price'])
    const rows = [...again.records, ...again.rejected].sort((a, b) => a.record - b.record)
    expect(rows.map((row) => row.cells.slice(own))).toEqual(cells)
    const said = ['2', 'price', "'=1+1", 'has "a", b; or | c and é', '']
    expect(rows[0]?.cells.slice(0, own)).toEqual(said)
  })

  it('comes back whatever the cells hold', async () => {
    const source = await folder.write('a.csv', 'id,name,price\n1,2,3\n')
    const { dialect } = await judge(source)
    const cell = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', 'a', "'", 'é', '\0') })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
        async (rows) => {
          const rejects = await writeRejects(
            source,
            rows.map((cells, index) => rejected(cells, index + 1)),
          )
          const wide = Array.from({ length: 20 }, (_, index) => `${index}`)
          const again = await read(rejects, { dialect, columns: wide })
          expect(again.rejected.map(({ cells }) => cells.slice(own))).toEqual(rows)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('holds only the newest reason when it is rejected again', async () => {
    const source = await folder.write('a.csv', `id,${reasonColumn},name\n1,"old, reason",x\n`)
    const rejects = await writeRejects(source, [rejected(['1', 'old, reason', 'x'])])
    const { judgement, records } = await judgeAndRead(rejects)
    expect(judgement.columns).toEqual([...rejectColumns, 'id', 'name'])
    expect(records[0]?.cells.slice(own)).toEqual(['1', 'x'])
  })

  it('says of each problem on a line of its own what and where it is, and what to do', async () => {
    const source = await folder.write('a.csv', 'id,price\n1,2\n')
    const place = { record: 1, line: 7, severity: 'reject', code: 'bad' } as const
    const issues = [
      { ...place, field: 'price', message: 'price: found "x"; y", expected a number; do this (column "p")' },
      { ...place, field: undefined, message: 'has 3 cells: check the quoting', remedy: 'check the quoting' },
    ]
    const [first, second] = issues
    const warning = { ...place, severity: 'warn', field: 'brand', message: 'odd' } as const
    const rejects = await writeRejects(source, [
      {
        record: 1,
        line: 7,
        cells: ['@a', '-1'],
        issues: [
          { ...first, value: 'x"; y', remedy: 'do this' },
          warning,
          second,
        ] as RejectedRecord['issues'],
      },
    ])
    const { records } = await judgeAndRead(rejects)
    expect(records[0]?.cells).toEqual([
      ...['7', 'price\n', 'x"; y\n', 'found "x"; y", expected a number (column "p")\nhas 3 cells'],
      ...['do this\ncheck the quoting', '@a', '-1'],
    ])
  })

  it('of an earlier version has its reason replaced, and a record too short for it is kept', async () => {
    const source = await folder.write('a.csv', `${reasonColumn},id,name\nold,1,x\n`)
    const judgement = await judge(source)
    const path = folder.path('newer.csv')
    {
      await using writer = openRejectsWriter({ ...judgement, path })
      await writer.write({ ...rejected(['"old,1,x']), cells: ['"old,1,x'] })
      await writer.write(rejected(['old', '1', 'x']))
    }
    const [top, short, whole] = (await readFile(path, 'utf8')).split(/\n(?=2|$|c)/)
    expect(top).toBe(`${rejectColumns.join(',')},id,name`)
    expect(short).toMatch(/,"""old,1,x"$/)
    expect(whole).toMatch(/,1,x\n?$/)
  })

  it('does not bring in undecodable text when it is dropped again uncorrected', async () => {
    const good = Array.from({ length: 9 }, (_, index) => `${index},ä\n`).join('')
    const text = Buffer.concat([Buffer.from(`id,name\n${good}9,caf`), Buffer.of(0xe9), Buffer.from('\n')])
    const source = await folder.write('a.csv', text)
    const first = await judgeAndRead(source)
    expect(first.rejected.map(({ record }) => record)).toEqual([10])
    const again = await judgeAndRead(await writeRejects(source, first.rejected))
    expect([again.records.length, again.rejected.length]).toEqual([0, 1])
    expect(again.issues).toMatchObject([{ code: 'replacement-character', severity: 'reject' }])
  })

  it('has no cell broken by its reason where there are no quotes', async () => {
    const source = await folder.write('a.csv', 'id|name\n"1|x"\n')
    const judgement = await judge(source, { format: { quote: 'none' } })
    const path = folder.path('none.csv')
    {
      await using writer = openRejectsWriter({ ...judgement, path })
      await writer.write(rejected(['"1', 'x"']))
    }
    expect(await readFile(path, 'utf8')).toBe(
      `${rejectColumns.join('|')}|id|name\n2|price|'=1+1|has "a", b; or   c and é||"1|x"\n`,
    )
  })

  it('holds NDJSON records whole, and lines that were none as text', async () => {
    const source = await folder.write(
      'a',
      '{"id":"1","__proto__":{"x":1},"more":[1,null]}\n{"id":\n{"id":"3"}\n',
    )
    const { records } = await judgeAndRead(source)
    const first = rejected([], 1, { source: records[0]?.source as Record<string, unknown> })
    const rejects = await writeRejects(source, [first, rejected([], 2, { source: '{"id":' })])
    const lines = rejects.content.toString().trimEnd().split('\n')
    const said = (line: number) =>
      `{"catalogd_line":${line},"catalogd_field":"price","catalogd_value":"=1+1","${reasonColumn}":"has \\"a\\", b; or | c and é","catalogd_remedy":""`
    expect(lines[0]).toBe(`${said(2)},"id":"1","__proto__":{"x":1},"more":[1,null]}`)
    expect(lines[1]).toBe(`${said(3)},"catalogd_text":"{\\"id\\":"}`)
    expect((await judge(rejects)).columns).toContain(reasonColumn)
  })

  it('does not exist when nothing was rejected, and replaces that of an earlier try', async () => {
    const source = await folder.write('a.csv', 'id,name\n1,x\n')
    const path = folder.path('never.csv')
    {
      await using writer = openRejectsWriter({ ...(await judge(source)), path })
      expect(writer.count).toBe(0)
    }
    await expect(access(path)).rejects.toThrow()
    const many = Array.from({ length: 3000 }, (_, index) => rejected([`${index}`, 'x'.repeat(30)], index + 1))
    await writeRejects(source, many)
    const rejects = await writeRejects(source, many.slice(0, 2000))
    expect((await judge(rejects)).records).toBe(2000)
  })

  it('that cannot be written is an operating failure', async () => {
    const source = await folder.write('a.csv', 'id,name\n1,x\n')
    const writer = openRejectsWriter({ ...(await judge(source)), path: folder.path('a.csv/rejects.csv') })
    await writer.write(rejected(['1', 'x']))
    await expect(writer[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'rejects-not-written' })
  })
})
