import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startChild } from '../support/child.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'
import { deflated, repeated, writeGzip, writeSparse, writeText, writeZip, writeZstd } from './bombs.ts'

// What would fill the memory is refused with a reason while the process stays small. The sizes are those of real bombs
// where nobody has to write them out; CATALOGD_BOMB_BYTES makes the written ones as long as wanted (1000000000).

const gigabyte = 1e9
const writtenBytes = Number(process.env.CATALOGD_BOMB_BYTES ?? 50_000_000)
const megabytesMax = 256

interface Outcome {
  path: string
  code?: string
  message?: string
  hint?: string
  records?: number
  rejected?: number
  columns?: string[]
  megabytes: number
  milliseconds: number
}

interface Bomb {
  title: string
  write: (path: string) => Promise<void>
  code: string | RegExp
}

const zeros = Buffer.alloc(2 ** 16)
const small = (text: string) => deflated('', text, text.length)
const relations = (type: string, target: string) =>
  `<Relationship Id="r${type}" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/${type}" Target="${target}"/>`

function workbook(sheet: ReturnType<typeof deflated>, strings = small('<sst/>')) {
  return {
    '[Content_Types].xml': small('<Types/>'),
    '_rels/.rels': small(`<Relationships>${relations('officeDocument', 'xl/workbook.xml')}</Relationships>`),
    'xl/workbook.xml': small('<workbook><sheets><sheet name="a" r:id="rworksheet"/></sheets></workbook>'),
    'xl/_rels/workbook.xml.rels': small(
      `<Relationships>${relations('worksheet', 's.xml')}${relations('sharedStrings', 'ss.xml')}</Relationships>`,
    ),
    'xl/s.xml': sheet,
    'xl/ss.xml': strings,
  }
}

const bombs: readonly Bomb[] = [
  {
    title: '10 GB of zeros in gzip',
    write: (path) => writeGzip(path, deflated('', zeros, 10 * gigabyte)),
    code: 'expands-too-much',
  },
  {
    title: '10 GB of equal lines in gzip',
    write: (path) => writeGzip(path, deflated('id,name\n', '1,a\n', 10 * gigabyte)),
    code: 'expands-too-much',
  },
  {
    title: '10 GB of zeros in zstd',
    write: (path) => writeZstd(path, Buffer.alloc(2 ** 26), 160),
    code: 'expands-too-much',
  },
  {
    title: '10 GB of zeros in zip',
    write: (path) => writeZip(path, { 'a.csv': deflated('', zeros, 10 * gigabyte) }),
    code: 'expands-too-much',
  },
  {
    title: 'a zip that lies about its length',
    write: (path) =>
      writeZip(path, { 'a.csv': { ...deflated('id\n', '1\n', 10 * gigabyte), saidBytes: 5000 } }),
    code: 'damaged-archive',
  },
  {
    title: 'a zip in a zip',
    write: (path) => writeZip(path, { 'a.zip': deflated('PK\x03\x04', zeros, gigabyte / 10) }),
    code: /nested-archive|expands-too-much/,
  },
  {
    title: 'a thousand members of a zip over the same data',
    write: async (path) => {
      const first = deflated('id\n', '1\n', 2 ** 24)
      const names = Array.from({ length: 1000 }, (_, at) => `m${String(at).padStart(4, '0')}.csv`)
      await writeZip(
        path,
        Object.fromEntries(names.map((name) => [name, { ...first, sameAs: names[0] ?? '' }])),
      )
    },
    code: 'damaged-archive',
  },
  {
    title: '10 GB of zeros as they are',
    write: (path) => writeSparse(path, 'id,name\n', 10 * gigabyte),
    code: 'record-too-long',
  },
  {
    title: 'a quoted cell without an end',
    write: (path) => writeText(path, 'id,name\n1,"', repeated('text ', writtenBytes)),
    code: 'record-too-long',
  },
  {
    title: 'a JSON object without an end',
    write: (path) => writeText(path, '[{"id":"1","name":"', repeated('text ', writtenBytes)),
    code: 'record-too-long',
  },
  {
    title: 'an NDJSON line without an end',
    write: (path) => writeText(path, '{"id":"1"}\n{"id":"2","name":"', repeated('text ', writtenBytes)),
    code: 'record-too-long',
  },
  {
    title: 'an XML element without an end',
    write: (path) =>
      writeText(path, '<rss><channel><item><id>1</id><title>', repeated('text ', writtenBytes)),
    code: 'record-too-long',
  },
  {
    title: 'an XML tag without an end',
    write: (path) =>
      writeText(path, '<rss><channel><item><id>1</id><title ', repeated('a="1" ', writtenBytes)),
    code: /record-too-long|too-deep/,
  },
  {
    title: 'the billion laughs',
    write: (path) =>
      writeText(
        path,
        '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><rss><item><id>&b;</id></item></rss>',
      ),
    code: 'doctype',
  },
  {
    title: 'a million columns',
    write: (path) => writeText(path, 'id', repeated(',c', 2_000_000), '\n1\n'),
    code: 'too-many-columns',
  },
  {
    title: 'a spreadsheet of a billion cells',
    write: (path) =>
      writeZip(
        path,
        workbook(deflated('<worksheet><sheetData>', '<row><c><v>0</v></c></row>', 26 * gigabyte)),
      ),
    code: 'expands-too-much',
  },
  {
    title: 'a spreadsheet that lies about its length',
    write: (path) =>
      writeZip(
        path,
        workbook({
          ...deflated('<worksheet><sheetData>', '<row><c><v>0</v></c></row>', gigabyte),
          saidBytes: 99,
        }),
      ),
    code: 'damaged-archive',
  },
  {
    title: 'a row of a spreadsheet without an end',
    write: (path) =>
      writeZip(path, workbook(deflated('<worksheet><sheetData><row>', '<c><v>0</v></c>', 2 ** 24))),
    code: 'too-many-columns',
  },
  {
    title: 'a spreadsheet that repeats a long text',
    write: (path) => {
      const long = small(`<sst><si><t>${'x'.repeat(200_000)}</t></si></sst>`)
      return writeZip(
        path,
        workbook(deflated('<worksheet><sheetData><row>', '<c t="s"><v>0</v></c>', 2 ** 24), long),
      )
    },
    code: 'record-too-long',
  },
  {
    title: 'a spreadsheet with more texts than fit',
    write: (path) => {
      const texts = Array.from({ length: 10_000 }, (_, at) => `<si><t>${at}${'x'.repeat(500)}</t></si>`)
      return writeZip(path, workbook(small('<worksheet/>'), deflated('<sst>', texts.join(''), 2e8)))
    },
    code: 'spreadsheet-too-large',
  },
  {
    title: 'a text of a spreadsheet without an end',
    write: (path) =>
      writeZip(path, workbook(small('<worksheet/>'), deflated('<sst><si><t>', 'text ', 1.5e7))),
    code: 'record-too-long',
  },
]

let dir: TempDir
/** In the order of the bombs, with what is no bomb at the end. */
let outcomes: readonly Outcome[] = []

beforeAll(async () => {
  dir = await tempDir('bombs')
  const paths = bombs.map((_, at) => dir.join(`bomb-${at}`))
  for (const [at, { write }] of bombs.entries()) await write(paths[at] as string)
  const wide = dir.join('wide.csv')
  await writeText(wide, 'id,name\n1,a\n2', repeated(',c', 2_000_000), '\n')
  const harmless = dir.join('harmless.csv')
  await writeText(harmless, 'id,__proto__,constructor\n1,{"polluted":1},x\n')
  // One process for all: what it takes at its end is the most that any of them took.
  await using child = await startChild('test/bad-input/bomb-judge.ts', { args: [...paths, wide, harmless] })
  const { code, signal } = await child.ended()
  expect({ code, signal, stderr: child.stderr }).toMatchObject({ code: 0, signal: null })
  outcomes = child.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}, 120_000)
afterAll(() => dir[Symbol.asyncDispose]())

describe('a bomb is refused with a reason', () => {
  it.each(bombs.map((bomb, at) => ({ ...bomb, at })))('$title', ({ title, code, at }) => {
    const outcome = outcomes[at]
    if (process.env.CATALOGD_BOMB_TIMES)
      process.stdout.write(`${title}: ${outcome?.milliseconds} ms, ${outcome?.megabytes} MB\n`)
    expect(outcome?.code, JSON.stringify(outcome)).toMatch(code)
    expect(outcome?.message).toMatch(/^bomb/)
    expect(outcome?.hint).not.toBe('')
  })

  it('while the process stays small', () => {
    expect(outcomes.at(-1)?.megabytes).toBeLessThan(megabytesMax)
  })

  it('but a record of a million cells is rejected alone', () => {
    expect(outcomes.at(-2)).toMatchObject({ records: 1, rejected: 1 })
  })

  it('and a header of __proto__ harms nobody', () => {
    expect(outcomes.at(-1)).toMatchObject({ records: 1, columns: ['id', '__proto__', 'constructor'] })
  })
})
