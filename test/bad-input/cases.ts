import { gzipSync } from 'node:zlib'
import { columns, csv, json, row, wire } from './feed-text.ts'

/** A file that is dropped, and what must become of it. */
export interface Case {
  title: string
  file: string
  content: string | Buffer
  /** Default: `any`, a delta feed without a mapping. */
  feed?: string
  outcome: 'imported' | 'refused'
  records?: number
  rejected?: number
  /** Each is found in the report: where, what was found, what to do. */
  says?: readonly RegExp[]
  /** The sandbox holds these documents exactly. */
  delivered?: readonly Record<string, unknown>[]
  /** The sandbox must not know these. */
  withheld?: readonly string[]
}

/** Values of `supplier_cost` in the cases: none of them may be seen anywhere but in the merchant's own data. */
export const secretCosts = ['7391.26', '7391.37', '7391.48'] as const

const noise = Buffer.from(Array.from({ length: 40_000 }, (_, at) => (at * 7919 + ((at * at) >> 3)) & 255))

function cutOff(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length >> 1)
}

const refusedWhole: readonly Case[] = [
  {
    title: 'a file of zero bytes',
    file: 'zero.csv',
    content: '',
    outcome: 'refused',
    says: [/the file is empty/, /Check the export/],
  },
  {
    title: 'blank lines only',
    file: 'blank.csv',
    content: '\n\r\n\n',
    outcome: 'refused',
    says: [/the file is empty/],
  },
  {
    title: 'binary garbage: nothing of it reaches a terminal as it is',
    file: 'garbage.csv',
    content: noise,
    outcome: 'refused',
    says: [/no column \\"product_id\\"/, /Correct fields\.product_id/],
  },
  {
    title: 'an archive under the name of a CSV',
    file: 'zip.csv',
    content: Buffer.concat([Buffer.from('PK\x03\x04'), noise]),
    outcome: 'refused',
    says: [/the zip archive ends before its directory/, /transfer it again/],
  },
  {
    title: 'an error page instead of the export',
    file: 'page.csv',
    content: '<!DOCTYPE html><html><body>502 Bad Gateway</body></html>\n',
    outcome: 'refused',
    says: [/a page of HTML/, /logging in or an error/],
  },
  {
    title: 'gzip that was cut off',
    file: 'cut.csv.gz',
    content: cutOff(gzipSync(csv(Array.from({ length: 500 }, (_, at) => row(`cut-${at}`))))),
    outcome: 'refused',
    says: [/the gzip data ends before its end mark/, /transfer it again/],
    withheld: ['cut-0'],
  },
  {
    title: 'a CSV that was cut off inside quotes',
    file: 'cut-quotes.csv',
    content: `${csv([row('cut-quotes-1')])}cut-quotes-2,"Pan of ""steel`,
    outcome: 'refused',
    says: [/the quoted cell that opens in line 3 is never closed/, /export it again|format\.quote: none/],
    withheld: ['cut-quotes-1', 'cut-quotes-2'],
  },
  {
    title: 'a CSV that was cut off between cells',
    file: 'cut-cells.csv',
    content: `${csv([row('cut-cells-1')])}cut-cells-2,Pan,https`,
    outcome: 'refused',
    says: [/the last record \(2\) ends without a line end and has only 3 of 7 cells/, /cut off/],
    withheld: ['cut-cells-1'],
  },
  {
    title: 'NDJSON that was cut off in its last line',
    file: 'cut.ndjson',
    content: `${json('cut-json-1')}\n${json('cut-json-2').slice(0, 60)}`,
    outcome: 'refused',
    says: [/the last record \(2\) ends without a line end and is no valid JSON/],
    withheld: ['cut-json-1'],
  },
  {
    title: 'one JSON array that is not closed',
    file: 'array.ndjson',
    content: `[\n${json('array-1')}\n`,
    outcome: 'refused',
    withheld: ['array-1'],
  },
  {
    title: 'a file without a header',
    file: 'no-header.csv',
    content: `${row('nh-1')}\n${row('nh-2')}\n`,
    outcome: 'refused',
    says: [/the header has no column \\"product_id\\"/, /it has \\"nh-1\\", \\"Pan\\"/],
  },
  {
    title: 'a gzip bomb',
    file: 'bomb.csv.gz',
    content: gzipSync(Buffer.concat([Buffer.from(csv([])), Buffer.alloc(150_000_000, 'a')])),
    outcome: 'refused',
    says: [/compressed bytes become/, /check where the file comes from/],
  },
  {
    title: 'a record of 40 MB',
    file: 'long.csv',
    content: csv([row('long-1', { name: `"${'x'.repeat(40_000_000)}"` }), row('long-2')]),
    outcome: 'refused',
    says: [/quoted cell opens in line 2/, /format\.recordBytes/],
  },
]

const rejectedRecords: readonly Case[] = [
  {
    title: 'a price with a comma and no locale, words, and notations that are no amounts',
    file: 'prices.csv',
    content: csv([
      row('price-1', { price: '"12,50"' }),
      row('price-2', { price: 'on request' }),
      row('price-3', { price: '1e400' }),
      row('price-4', { price: 'NaN' }),
      row('price-5', { price: '0' }),
      row('price-6', { price: '12.50 EUR' }),
    ]),
    outcome: 'imported',
    records: 6,
    rejected: 4,
    says: [
      /"line": 2[^}]*found the text \\"12,50\\" with a \\",\\"[^}]*set decimal: \\",\\"/,
      /found the text \\"on request\\" which is no number/,
      /found the text \\"1e400\\" in scientific notation/,
    ],
    delivered: [wire('price-5', { price: 0 }), wire('price-6')],
    withheld: ['price-1', 'price-2', 'price-3', 'price-4'],
  },
  {
    title: 'categories with > and a path 300 levels deep',
    file: 'categories.csv',
    content: csv(
      [
        row('cat-1', {}, ',Home > Pans'),
        row('cat-2', {}, ',Home/Pans'),
        row('cat-3', {}, `,${'a/'.repeat(299)}z`),
      ],
      ',categories',
    ),
    outcome: 'imported',
    rejected: 1,
    says: [/\\"Home > Pans\\", whose levels are separated by \\">\\"[^}]*set separator: \\">\\"/],
    delivered: [
      wire('cat-2', { categories: ['Home/Pans'] }),
      wire('cat-3', { categories: [`${'a/'.repeat(299)}z`] }),
    ],
    withheld: ['cat-1'],
  },
  {
    title: 'ragged rows: too few and too many cells; empty ones at the end are none',
    file: 'ragged.csv',
    content: csv([row('rag-1'), 'rag-2,Pan', `${row('rag-3')},more`, `${row('rag-4')},,,`]),
    outcome: 'imported',
    rejected: 2,
    says: [/"line": 3[^}]*has 2 cells, the header has 7/, /"line": 4[^}]*has 8 cells/, /check the quoting/],
    delivered: [wire('rag-1'), wire('rag-4')],
    withheld: ['rag-2', 'rag-3'],
  },
  {
    title: 'addresses that are none',
    file: 'addresses.csv',
    content: csv([
      row('url-1', { url: 'shop' }),
      row('url-2', { url: 'javascript:alert(1)' }),
      row('url-3', { image_url: 'ftp://shop.example/x' }),
    ]),
    outcome: 'imported',
    rejected: 3,
    says: [/\\"shop\\", expected an absolute http or https address/, /start it with https:\/\//],
    withheld: ['url-1', 'url-2', 'url-3'],
  },
  {
    title: 'stock that is negative, broken or a word; a supplier_cost that is none is not shown',
    file: 'stock.csv',
    content: csv(
      [
        row('stock-1', {}, ',-5,'),
        row('stock-2', {}, ',1.5,'),
        row('stock-3', {}, ',many,'),
        row('stock-4', {}, `,3,${secretCosts[0]}abc`),
        row('stock-5', {}, `,3,${secretCosts[1]}`),
      ],
      ',inventory_level,supplier_cost',
    ),
    outcome: 'imported',
    rejected: 3,
    says: [
      /\\"1.5\\", expected a whole number/,
      /\\"many\\" which is no number/,
      /supplier_cost: found a text \(value not shown\)/,
    ],
    delivered: [
      wire('stock-1', { inventory_level: -5 }),
      wire('stock-5', { inventory_level: 3, supplier_cost: Number(secretCosts[1]) }),
    ],
    withheld: ['stock-2', 'stock-3', 'stock-4'],
  },
  {
    title: 'no id, and required fields without a value',
    file: 'required.csv',
    content: csv([row(''), row('   '), row('req-1', { name: '' }), row('req-2')]),
    outcome: 'imported',
    rejected: 2,
    says: [/product_id: found nothing, and a required field is never cleared; give it a value/],
    delivered: [wire('req-2')],
    withheld: ['req-1', ''],
  },
  {
    title: 'NDJSON with lines that are no objects, and ids that are numbers, lists or too large to be exact',
    file: 'lines.ndjson',
    content: [
      json('line-1'),
      '{"product_id": "line-2", broken',
      '[1]',
      '"text"',
      'null',
      json(1234567),
      json(null),
      json({ a: 1 }),
      json('any').replace('"any"', '12345678901234567890'),
      json('line-3', { price: [1] }),
      '',
    ].join('\n'),
    outcome: 'imported',
    records: 10,
    rejected: 8,
    says: [/"line": 2[^}]*is no valid JSON/, /is no JSON object but an array/, /give it as a string/],
    delivered: [wire('line-1'), wire('1234567')],
    withheld: ['line-2', 'line-3', '12345678901234567000', '12345678901234567890'],
  },
  {
    title: 'UTF-8 with a line of Windows-1252',
    file: 'mixed.csv',
    content: Buffer.concat([
      Buffer.from(csv([row('mix-1', { name: 'Café ☕ crème' })])),
      Buffer.from(`${row('mix-2', { name: 'Caf\xe9' })}\n`, 'latin1'),
    ]),
    outcome: 'imported',
    rejected: 1,
    says: [/bytes that mean nothing in the encoding/, /format\.encoding/],
    delivered: [wire('mix-1', { name: 'Café ☕ crème' })],
    withheld: ['mix-2'],
  },
  {
    title: 'a file of another encoding than configured',
    file: 'latin.csv',
    feed: 'utf8',
    content: Buffer.from(csv([row('lat-1', { name: 'Caf\xe9' }), row('lat-2')]), 'latin1'),
    outcome: 'imported',
    rejected: 1,
    says: [/no utf-8/, /set format\.encoding/],
    delivered: [wire('lat-2')],
    withheld: ['lat-1'],
  },
  {
    title: 'every record is rejected',
    file: 'all-bad.csv',
    feed: 'utf8',
    content: csv([row('all-1', { price: 'x' }), row('all-2', { price: 'y' })]),
    outcome: 'imported',
    records: 2,
    rejected: 2,
    withheld: ['all-1', 'all-2'],
  },
]

const strangeButGood: readonly Case[] = [
  {
    title: 'a header and no record',
    file: 'header.csv',
    content: csv([]),
    outcome: 'imported',
    records: 0,
    says: [/the file has a header and no record/],
  },
  {
    title: 'one id several times: the last record counts',
    file: 'repeated.csv',
    content: csv([
      row('rep-1', { price: '1' }),
      row('rep-2'),
      row('rep-1', { price: '2' }),
      row('rep-1', { price: '3' }),
    ]),
    outcome: 'imported',
    rejected: 0,
    says: [/"superseded": 2/],
    delivered: [wire('rep-1', { price: 3 }), wire('rep-2')],
  },
  {
    title: 'UTF-16 without a byte order mark',
    file: 'utf16.csv',
    content: Buffer.from(csv([row('u16-1', { name: 'Crème' })]), 'utf16le'),
    outcome: 'imported',
    says: [/utf-16le \(detected\)/],
    delivered: [wire('u16-1', { name: 'Crème' })],
  },
  {
    title: 'columns and ids that JavaScript objects have already',
    file: 'prototype.csv',
    content: csv(
      [row('__proto__', {}, ',a,b'), row('constructor', {}, ',a,b'), row('hasOwnProperty', {}, ',a,b')],
      ',__proto__,constructor',
    ),
    outcome: 'imported',
    rejected: 0,
    delivered: [wire('__proto__'), wire('constructor'), wire('hasOwnProperty')],
  },
  {
    title: 'a column that comes twice',
    file: 'twice.csv',
    content: csv([row('twice-1', {}, ',Other')], ',name'),
    outcome: 'imported',
    says: [/names column \\"name\\" more than once: the first one is read/],
    delivered: [wire('twice-1')],
  },
  {
    title: '9,900 columns',
    file: 'wide.csv',
    content: csv(
      [row('wide-1', {}, ',x'.repeat(9900))],
      Array.from({ length: 9900 }, (_, at) => `,c${at}`).join(''),
    ),
    outcome: 'imported',
    rejected: 0,
    delivered: [wire('wide-1')],
  },
  {
    title: 'ids with spaces, colons, braces, line ends, tabs, dots and emoji, and of 1 KB',
    file: 'ids.csv',
    content: csv([
      row('an id'),
      row('a:b:{c}'),
      row('"new\nline"'),
      row('"tab\there"'),
      row('../../etc/passwd'),
      row('🍳'),
      row('k'.repeat(1024)),
    ]),
    outcome: 'imported',
    rejected: 0,
    delivered: ['an id', 'a:b:{c}', 'new\nline', 'tab\there', '../../etc/passwd', '🍳', 'k'.repeat(1024)].map(
      (id) => wire(id),
    ),
  },
  {
    title: 'an availability that the contract does not know',
    file: 'availability.csv',
    content: csv([row('av-1', { availability: 'in stock' })]),
    outcome: 'imported',
    rejected: 0,
    says: [/\\"in stock\\" is none of the known words InStock/, /map it with when/],
    delivered: [wire('av-1', { availability: 'in stock' })],
  },
  {
    title: 'a zero byte inside a cell',
    file: 'zero-byte.csv',
    content: csv([row('nul-1', { name: 'Pan\0' })]),
    outcome: 'imported',
    delivered: [wire('nul-1', { name: 'Pan\0' })],
  },
  {
    title: 'a plain file under the name of a compressed one',
    file: 'plain.csv.gz',
    content: csv([row('plain-1')]),
    outcome: 'imported',
    delivered: [wire('plain-1')],
  },
  {
    title: 'a product that needs more than one call may have',
    file: 'large.csv',
    content: csv(
      [row('large-1', {}, `,${'x'.repeat(3_000_000)}`), row('large-2', {}, ',small')],
      ',description',
    ),
    outcome: 'imported',
    rejected: 0,
    delivered: [wire('large-2', { description: 'small' })],
    withheld: ['large-1'],
  },
  {
    title: 'a record without some of the required columns waits for another feed',
    file: 'some-columns.csv',
    content: `${columns.slice(0, 2).join(',')}\nsome-1,Pan\n`,
    outcome: 'imported',
    says: [/"incomplete": 1/],
    withheld: ['some-1'],
  },
]

export const cases: readonly Case[] = [...refusedWhole, ...rejectedRecords, ...strangeButGood]
