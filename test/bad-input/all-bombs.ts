import { deflated, repeated, writeGzip, writeSparse, writeText, writeZip, writeZstd } from './bombs.ts'

// What would fill the memory or keep the daemon from its work for long. The sizes are those of real bombs where nobody
// has to write them out; CATALOGD_BOMB_BYTES makes the written ones as long as wanted (1000000000).

export interface Bomb {
  title: string
  write: (path: string) => Promise<void>
  /** Undefined: the file is read, and its record of that kind rejected. */
  code: string | RegExp | undefined
}

const gigabyte = 1e9
const writtenBytes = Number(process.env.CATALOGD_BOMB_BYTES ?? 20_000_000)

const zeros = Buffer.alloc(2 ** 16)
const small = (text: string) => deflated('', text, text.length)
const item = (id: number, more: string) => `<item><id>${id}</id>${more}</item>`

/** A million of them. */
function* numbered(text: (at: number) => string): Generator<Buffer> {
  for (let from = 0; from < 1_000_000; from += 10_000) {
    yield Buffer.from(Array.from({ length: 10_000 }, (_, at) => text(from + at)).join(''))
  }
}

/** Title, beginning, and what goes on and on. */
const endless: readonly (readonly [string, string, string])[] = [
  ['a CSV line', 'id,name\n1,', 'text '],
  ['a CSV header', 'id,', 'text '],
  ['an XML text', '<rss><channel><item><id>1</id><title>', 'text '],
  ['an XML text of an unusual element', '<liste><produit><titre>', 'text '],
  ['an XML element', '<rss><channel><item><id>1</id>', '<a/>'],
  ['an XML record of an unusual name', '<liste><objet><id>1</id>', '<a/>'],
  ['a nest of XML elements', '<rss><channel><item><id>1</id>', '<a>'],
  ['an XML attribute', '<rss><channel><item><id a="', 'text '],
  ['an XML attribute of the record', '<liste><produit a="', 'text '],
  ['an XML attribute that looks like tags', '<rss><channel><item><id a="', '>text '],
  ['an XML tag of quotes', '<rss><channel><item><id a=">"', ' a=">"'],
  ['an XML name', '<rss><channel><item><', 'a'],
  ['an XML comment', '<rss><channel><item><!--', 'text '],
  ['an XML comment around records', '<rss><!--', 'text '],
  ['an XML CDATA section', '<rss><channel><item><id><![CDATA[', 'text ]] '],
  ['an XML instruction', '<rss><channel><item><?a ', 'text '],
  ['an XML entity', '<rss><channel><item><id>&', 'text'],
  ['a nest of JSON brackets', '', '['],
  ['a nest of JSON objects', '', '{"a":'],
  ['a nest of JSON brackets in a record', '[{"id":"1","a":', '['],
  ['a nest of JSON brackets in a line', '{"id":"1"}\n{"id":"2","a":', '['],
  ['a JSON key', '[{"id":"1","', 'text '],
  ['a JSON key around records', '{"', 'text '],
  ['a JSON list', '[{"id":"1","a":[0', ',0'],
  ['a JSON number', '[{"id":"1","a":1', '1'],
]

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

const every: readonly Bomb[] = [
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
    title: 'a hundred thousand empty parts of zstd',
    write: (path) => writeZstd(path, Buffer.alloc(0), 100_000),
    code: 'too-many-parts',
  },
  {
    title: 'halves of characters in UTF-16',
    write: (path) => writeText(path, [Buffer.of(0xff, 0xfe)], repeated(Buffer.of(0, 0xd8), writtenBytes * 2)),
    code: 'record-too-long',
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
  ...endless.map(
    ([title, begin, text]): Bomb => ({
      title: `${title} without an end`,
      write: (path) => writeText(path, begin, repeated(text, writtenBytes)),
      code: /record-too-long|too-many-elements|too-deep|path-not-found|not-well-formed/,
    }),
  ),
  {
    title: 'a record of a million keys in JSON lines',
    write: (path) =>
      writeText(
        path,
        '{"id":"1"}\n{"id":"2"',
        numbered((at) => `,"c${at}":1`),
        '}\n',
      ),
    code: undefined,
  },
  {
    title: 'a record of a million keys in JSON',
    write: (path) =>
      writeText(
        path,
        '[{"id":"1"},{"id":"2"',
        numbered((at) => `,"c${at}":1`),
        '}]\n',
      ),
    code: 'too-many-elements',
  },
  {
    title: 'a record of a list of a million values',
    write: (path) => writeText(path, '{"id":"1"}\n{"id":"2","c":[0', repeated(',[0]', 4_000_000), ']}\n'),
    code: undefined,
  },
  {
    title: 'a record of 50,000 elements',
    write: (path) =>
      writeText(path, `<rss><channel>${item(1, '<a/>')}`, item(2, '<a/>'.repeat(50_000)), '</channel></rss>'),
    code: undefined,
  },
  {
    title: 'a million attributes',
    write: (path) =>
      writeText(
        path,
        '<rss><channel><item><id>1</id><a',
        numbered((at) => ` a${at}="1"`),
        '/></item></channel></rss>',
      ),
    code: /record-too-long|too-deep/,
  },
  {
    title: 'a zip with a name that leads out of it',
    write: (path) => writeZip(path, { '../../a.csv': small('id\n1\n') }),
    code: 'member-name',
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
    title: 'a spreadsheet of rows that repeat a long text',
    write: (path) => {
      const long = small(`<sst><si><t>${'x'.repeat(200_000)}</t></si></sst>`)
      return writeZip(
        path,
        workbook(deflated('<worksheet><sheetData>', '<row><c t="s"><v>0</v></c></row>', 2 ** 24), long),
      )
    },
    code: 'expands-too-much',
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

/** Those that CATALOGD_BOMB_ONLY (a regular expression) names, by default all. */
const only = new RegExp(process.env.CATALOGD_BOMB_ONLY ?? '')
export const allBombs: readonly Bomb[] = every.filter(({ title }) => only.test(title))
