import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Encoding } from '../../src/config/format-model.ts'
import { encodingNames, encodingOf } from '../../src/lib/encoding.ts'
import { createDecoder } from '../../src/records/decode.ts'
import { encodeText } from '../../src/records/rejects-text.ts'
import { openRejectsWriter } from '../../src/records/rejects-writer.ts'
import { encode, FeedFolder, judge, judgeAndRead } from './feed-file.ts'
import { productTexts } from './product-texts.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

const all = encodingNames as readonly Encoding[]
const isWide = (encoding: Encoding) => /^utf-(16|32)/.test(encoding)

function decodeWhole(bytes: Buffer, encoding: Encoding): Buffer {
  const decoder = createDecoder(encoding, 'feed')
  return Buffer.concat([decoder.write(Buffer.from(bytes)), decoder.end()])
}

describe('every encoding', () => {
  it.each(all)('%s: what is written can be read again', (encoding) => {
    const text = Object.values(productTexts)
      .flatMap((one) => one.texts)
      .join('\n')
    const again = decodeWhole(encodeText(text, encoding), encoding).toString()
    expect(again).toHaveLength(text.length)
    const kept = new Set(again)
    expect(again).toBe([...text].map((character) => (kept.has(character) ? character : '?')).join(''))
    if (encoding.startsWith('utf') || encoding === 'gb18030') expect(again).toBe(text)
    expect(encodeText('a👕b', encoding).length).toBeGreaterThan(2)
  })

  it('decodes in pieces as it does at once, with the platform as the second opinion', () => {
    const encodings = fc.constantFrom<Encoding>(...all.filter((encoding) => !isWide(encoding)))
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), encodings, sizes, (array, encoding, pieces) => {
        const bytes = Buffer.from(array)
        const decoder = createDecoder(encoding, 'feed')
        const parts: Buffer[] = []
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = pieces[turn % pieces.length] as number
          parts.push(Buffer.from(decoder.write(Buffer.from(bytes.subarray(at, at + size)))))
          at += size
        }
        expect(Buffer.concat([...parts, decoder.end()])).toEqual(decodeWhole(bytes, encoding))
      }),
      { numRuns: 300 },
    )
  })

  it('goes by the names that people and declarations use', () => {
    const names = [
      'Latin1',
      'CP1252',
      'win1251',
      'Shift-JIS',
      'GBK',
      'ISO8859-2',
      'ISO_8859-15',
      'UTF8',
      'cp932',
      'ebcdic',
      'constructor',
      '__proto__',
    ]
    expect(names.map(encodingOf)).toEqual([
      ...[
        'windows-1252',
        'windows-1252',
        'windows-1251',
        'shift_jis',
        'gb18030',
        'iso-8859-2',
        'iso-8859-15',
        'utf-8',
      ],
      ...['shift_jis', undefined, undefined, undefined],
    ])
  })
})

describe('the encoding of product texts', () => {
  const cases = Object.entries(productTexts).flatMap(([language, { encodings, header, texts }]) =>
    encodings.map((encoding) => ({ language, encoding, header, texts })),
  )

  it.each(cases)('$language in $encoding is recognised', async ({ encoding, header, texts }) => {
    const text = `id;${header}\r\n${texts.map((one, at) => `${at};"A-${at}";"${one.replaceAll('"', '""')}";9,90`).join('\r\n')}\r\n`
    const bytes = encodeText(text, encoding)
    const source = await folder.write('feed.csv', bytes)
    const { judgement, records, rejected } = await judgeAndRead(source)
    expect(records.map(({ cells }) => cells[2])).toEqual(texts)
    expect(rejected).toEqual([])
    expect(judgement.dialect.basis.encoding).toBe('detected')
    expect(judgement.warnings.filter((warning) => warning.includes('encoding'))).toEqual([])
  })

  it.each([
    'Café au lait',
    'Piqué polo',
    '20 °C',
    'Brand® name™',
    '€ 5',
    '½ inch',
    '2 m² rug',
    'It’s “new” – really',
    'Crème brûlée',
    'Übergröße',
    'São Paulo',
    '5 µm',
    'Ø 28 mm',
    'Señor',
    'Æbleskive',
    'naïve',
    'Façade à 100 €',
  ])('with one word beyond ASCII is Windows-1252: %s', async (text) => {
    const plain = Array.from({ length: 20 }, (_, at) => `${at},plain text\n`).join('')
    for (const rows of ['', plain]) {
      const source = await folder.write('a.csv', encodeText(`id,name\n${rows}x,${text}\n`, 'windows-1252'))
      const { judgement, records } = await judgeAndRead(source)
      expect(judgement.dialect.encoding).toBe('windows-1252')
      expect(records.at(-1)?.cells[1]).toBe(text)
    }
  })

  it('is warned about, with the other readings, where it is uncertain', async () => {
    const text = 'id;nazwa\n1;Męska koszula z długim rękawem\n'
    const { warnings, dialect } = await judge(await folder.write('a.csv', encodeText(text, 'windows-1250')))
    expect(dialect.encoding).toBe('windows-1252')
    const [warning] = warnings
    expect(warning).toMatch(
      /^the encoding was guessed and is uncertain: "Mêska .* \(windows-1252\) is read, it could be/,
    )
    expect(warning).toMatch(/"Męska koszula z długim rękawem" \(windows-1250\).*; set format\.encoding/)
  })

  it('is found in the rest of the file where the beginning is ASCII', async () => {
    const plain = Array.from({ length: 30_000 }, (_, at) => `${at};plain text\n`).join('')
    const { texts } = productTexts.Russian ?? { texts: [] }
    const rest = encodeText(texts.map((text, at) => `r${at};${text}\n`).join(''), 'windows-1251')
    const { judgement, records } = await judgeAndRead(
      await folder.write('a.csv', Buffer.concat([Buffer.from(`id;name\n${plain}`), rest])),
    )
    expect(judgement.dialect.encoding).toBe('windows-1251')
    expect(records.slice(-texts.length).map(({ cells }) => cells[1])).toEqual(texts)
  })

  it.each<Encoding>(['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'])(
    'is %s without a mark',
    async (encoding) => {
      for (const { texts, header } of Object.values(productTexts)) {
        const text = `id;${header}\r\n${texts.map((one, at) => `${at};A-${at};${one.replaceAll('"', '')};9,90`).join('\r\n')}\r\n`
        const { judgement, records } = await judgeAndRead(
          await folder.write('a.csv', encodeText(text, encoding)),
        )
        expect(judgement.dialect.encoding).toBe(encoding)
        expect(records[0]?.cells[2]).toBe(texts[0]?.replaceAll('"', ''))
      }
    },
  )

  it.each<Encoding>(['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be', 'gb18030'])(
    'is %s by its mark',
    async (encoding) => {
      const bytes = encodeText('\ufeffid,name\n1,ä日\n', encoding)
      const { judgement, records } = await judgeAndRead(await folder.write('a.csv', bytes))
      expect(judgement.dialect).toMatchObject({ encoding, basis: { encoding: 'bom' } })
      expect(judgement.columns).toEqual(['id', 'name'])
      expect(records[0]?.cells).toEqual(['1', 'ä日'])
    },
  )

  it('rejects the records with bytes that mean nothing in it', async () => {
    for (const encoding of [
      'shift_jis',
      'euc-jp',
      'gb18030',
      'big5',
      'euc-kr',
      'iso-8859-2',
      'windows-1253',
    ] as const) {
      const wrong =
        encoding === 'windows-1253' ? Buffer.of(0xff) : Buffer.of(encoding === 'iso-8859-2' ? 0x80 : 0xff)
      const bytes = Buffer.concat([Buffer.from('id,name\n1,'), wrong, Buffer.from('\n2,ok\n')])
      const source = await folder.write('a.csv', bytes)
      const { records, rejected } = await judgeAndRead(source, { format: { encoding } })
      expect([encoding, records.map(({ cells }) => cells[0])]).toEqual([encoding, ['2']])
      expect(rejected[0]?.issues[0]).toMatchObject({ code: 'invalid-encoding' })
    }
  })

  it('ends in the middle of a character when it was cut off', async () => {
    const bytes = encodeText('id,name\n1,a\n', 'utf-32le')
    const source = await folder.write('a.csv', bytes.subarray(0, bytes.length - 1))
    await expect(judge(source, { format: { encoding: 'utf-32le' } })).rejects.toMatchObject({
      code: 'truncated',
    })
  })
})

describe('the file of rejected records', () => {
  async function rejectsOf(text: string, encoding: Encoding, format = {}) {
    const source = await folder.write('a.csv', encodeText(text, encoding))
    const { judgement, records } = await judgeAndRead(source, { format })
    const path = folder.path('rejects.csv')
    await using writer = openRejectsWriter({ ...judgement, path })
    const [record] = records
    if (record) await writer.write({ ...record, issues: [] })
    await writer[Symbol.asyncDispose]()
    return folder.write('again.csv', await readFile(path))
  }

  it('has a mark where the encoding was guessed: one record is too little to guess it again', async () => {
    const { texts } = productTexts.Polish ?? { texts: [] }
    const text = `id;nazwa\n${texts.map((one, at) => `${at};${one}\n`).join('')}`
    const again = await judgeAndRead(await rejectsOf(text, 'windows-1250'))
    expect(again.judgement.dialect).toMatchObject({ encoding: 'utf-8', basis: { encoding: 'bom' } })
    expect(again.records[0]?.cells.at(-1)).toBe(texts[0])
  })

  it.each<Encoding>(['shift_jis', 'windows-1251', 'utf-32be', 'gb18030'])(
    'keeps the configured encoding %s',
    async (encoding) => {
      const text = encoding === 'windows-1251' ? 'Куртка' : '商品'
      const source = await rejectsOf(`id;name\n1;${text}\n`, encoding, { encoding })
      const again = await judgeAndRead(source, { format: { encoding } })
      expect(again.records[0]?.cells.at(-1)).toBe(text)
    },
  )
})

describe('an XML declaration', () => {
  const rss = (encoding: string, title: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>\n<rss><channel><item><id>1</id><title>${title}</title></item></channel></rss>\n`

  it.each([
    ['ISO-8859-1', 'windows-1252', 'Größe'],
    ['windows-1251', 'windows-1251', 'Куртка'],
    ['Shift_JIS', 'shift_jis', '商品'],
  ] as const)('says %s', async (label, encoding, title) => {
    const { dialect } = await judge(await folder.write('a.xml', encodeText(rss(label, title), encoding)))
    expect(dialect).toMatchObject({ encoding, basis: { encoding: 'declared' } })
  })

  it('gives way to what the whole file is', async () => {
    const latin = await judge(await folder.write('a.xml', rss('ISO-8859-1', 'Größe')))
    expect(latin.dialect.encoding).toBe('utf-8')
    expect(latin.warnings).toEqual([
      expect.stringMatching(/declaration says windows-1252, but .* valid UTF-8/),
    ])
    const wide = await judge(await folder.write('a.xml', rss('utf-16', 'Größe')))
    expect(wide.dialect.encoding).toBe('utf-8')
    const real = await judge(
      await folder.write('a.xml', encode(rss('utf-16', 'Größe'), 'utf-16le', { mark: false })),
    )
    expect(real.dialect.encoding).toBe('utf-16le')
  })

  it('gives way to the configuration', async () => {
    const source = await folder.write('a.xml', encodeText(rss('utf-8', 'Größe'), 'windows-1252'))
    const { dialect } = await judge(source, { format: { encoding: 'windows-1252' } })
    expect(dialect.basis.encoding).toBe('configured')
  })
})

it('the second opinion agrees about the encodings of several bytes', () => {
  for (const { encodings, texts } of Object.values(productTexts)) {
    for (const encoding of encodings) {
      if (encoding === 'windows-874' || encoding === 'iso-8859-5') continue
      const bytes = iconv.encode(texts.join('\n'), encoding)
      expect(decodeWhole(bytes, encoding).toString()).toBe(new TextDecoder(encoding).decode(bytes))
    }
  }
})
