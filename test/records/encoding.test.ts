import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Encoding } from '../../src/config/format-model.ts'
import { SingleByteDecoder } from '../../src/records/damage-places.ts'
import { createDecoder } from '../../src/records/decode.ts'
import { encodeText } from '../../src/records/rejects-text.ts'
import { Utf8Tally } from '../../src/records/utf8-tally.ts'
import { encode, FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

function decodeInPieces(bytes: Buffer, encoding: Encoding, sizes: readonly number[]): Buffer {
  const decoder = createDecoder(encoding, 'feed')
  const parts: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    parts.push(Buffer.from(decoder.write(Buffer.from(bytes.subarray(at, at + size)))))
    at += size
  }
  return Buffer.concat([...parts, decoder.end()])
}

const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })

describe('decoding', () => {
  it('does not depend on how the bytes are cut', () => {
    const encodings = fc.constantFrom<Encoding>('utf-8', 'utf-16le', 'utf-16be')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), encodings, sizes, (text, encoding, pieces) => {
        const bytes = encode(text, encoding, { mark: false })
        expect(decodeInPieces(bytes, encoding, pieces).toString()).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  it('reads and writes every Windows-1252 character as the platform does', () => {
    const platform = new TextDecoder('windows-1252')
    const decoder = new SingleByteDecoder('windows-1252')
    for (let byte = 0; byte < 256; byte++) {
      const decoded = decoder.decode(Buffer.of(byte))
      if ([0x81, 0x8d, 0x8f, 0x90, 0x9d].includes(byte)) {
        expect([...decoded]).toEqual([0xff])
        continue
      }
      expect(decoded.toString()).toBe(platform.decode(Buffer.of(byte)))
      expect([...encodeText(decoded.toString(), 'windows-1252')]).toEqual([byte])
    }
    expect(encodeText('日a👕', 'windows-1252').toString('latin1')).toBe('?a?')
  })

  it('counts sequences over chunk borders once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('é', '日', '💶', 'a', '\xff', '\xe9'), { maxLength: 30 }),
        sizes,
        (parts, pieces) => {
          const bytes = Buffer.concat(
            parts.map((part) =>
              Buffer.from(part, /[\xff\xe9]/.test(part) && part !== 'é' ? 'latin1' : 'utf8'),
            ),
          )
          const count = (cut: readonly number[]) => {
            const tally = new Utf8Tally()
            for (let at = 0, turn = 0; at < bytes.length; turn++) {
              const size = cut[turn % cut.length] as number
              tally.add(bytes.subarray(at, at + size))
              at += size
            }
            tally.end()
            return [tally.invalid, tally.invalid > 0 || tally.multiByte > 0]
          }
          expect(count(pieces)).toEqual(count([bytes.length + 1]))
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('the encoding of a file without a byte order mark', () => {
  const plain = Array.from({ length: 30_000 }, (_, index) => `${index},plain text\n`).join('')

  it('is Windows-1252 when only the end of a long file shows it', async () => {
    const text = Buffer.concat([Buffer.from(`id,name\n${plain}`), Buffer.from('x\xe9,caf\xe9\n', 'latin1')])
    const { judgement, records, issues } = await judgeAndRead(await folder.write('a.csv', text))
    expect(judgement.dialect.encoding).toBe('windows-1252')
    expect(records.at(-1)?.cells).toEqual(['xé', 'café'])
    expect(judgement.ids.has('xé')).toBe(true)
    expect(judgement.records).toBe(30_001)
    expect(issues).toEqual([])
  })

  it('is UTF-8 when the beginning looked otherwise but the rest is', async () => {
    const good = Array.from({ length: 30_000 }, (_, index) => `${index},Größe\n`).join('')
    const text = Buffer.concat([
      Buffer.from('id,name\nbad,caf\xe9\n', 'latin1'),
      Buffer.from(plain),
      Buffer.from(good),
    ])
    const { judgement, rejected } = await judgeAndRead(await folder.write('a.csv', text))
    expect(judgement.dialect.encoding).toBe('utf-8')
    expect(rejected).toMatchObject([{ record: 1, line: 2 }])
  })

  it('stays UTF-8 with a few broken bytes, and their records are rejected', async () => {
    const text = Buffer.concat([
      Buffer.from('id,name\n1,Größe\n2,'),
      Buffer.of(0xe9, 0x21),
      Buffer.from('\n3,Maß\n'),
      Buffer.of(0xff),
      Buffer.from('4,"zwei\nZeilen ö"\n5,ä\n6,ö\n'),
      ...Array.from({ length: 20 }, () => Buffer.from('7,ü\n')),
    ])
    const { judgement, records, rejected, issues } = await judgeAndRead(await folder.write('a.csv', text))
    expect(judgement.dialect.encoding).toBe('utf-8')
    expect(records.slice(0, 4).map(({ cells }) => cells[0])).toEqual(['1', '3', '5', '6'])
    expect(rejected.map(({ record, line }) => [record, line])).toEqual([
      [2, 3],
      [4, 5],
    ])
    expect(issues[0]).toMatchObject({ code: 'invalid-encoding', severity: 'reject', record: 2, line: 3 })
    const offset = text.indexOf(0xe9)
    expect(issues[0]?.message).toContain(`byte ${offset} `)
    // The second broken byte stands in the id.
    expect(judgement.unreadableIds).toBe(1)
    expect(judgement.warnings).toEqual([expect.stringMatching(/^2 of 26 records/)])
    expect(JSON.stringify(records)).not.toContain('\ufffd')
  })

  it('is not UTF-16 for a stray zero byte, but may be without ASCII at its beginning', async () => {
    const stray = await judge(await folder.write('a.csv', 'id,na\0me\n1,a\n'))
    expect(stray.dialect.encoding).toBe('utf-8')
    const text = encode('品名,id,价格\r\n衬衫,a-1,12.50\r\n', 'utf-16be', { mark: false })
    const { judgement, records } = await judgeAndRead(await folder.write('a.csv', text))
    expect(judgement.dialect.encoding).toBe('utf-16be')
    expect(records[0]?.cells).toEqual(['衬衫', 'a-1', '12.50'])
  })

  it('rejects records with bytes that Windows-1252 does not define', async () => {
    const text = Buffer.from('id,name\n1,caf\xe9\n2,\x81\n', 'latin1')
    const { records, rejected } = await judgeAndRead(await folder.write('a.csv', text))
    expect(records.map(({ cells }) => cells)).toEqual([['1', 'café']])
    expect(rejected).toMatchObject([{ record: 2, issues: [{ code: 'invalid-encoding' }] }])
  })

  it('rejects records with bytes that a decoder makes halves of UTF-16 pairs of', async () => {
    const bytes = Buffer.concat([
      Buffer.from('id,name\n1,a\n2,'),
      Buffer.from('e7348237', 'hex'),
      Buffer.from('\n'),
    ])
    const format = { encoding: 'gb18030' } as const
    const { records, rejected } = await judgeAndRead(await folder.write('a.csv', bytes), { format })
    expect(records.map(({ cells }) => cells)).toEqual([['1', 'a']])
    expect(rejected.map(({ issues }) => issues.map(({ code }) => code))).toEqual([['invalid-encoding']])
  })

  it('rejects records with halves of UTF-16 pairs', async () => {
    const text = encode('id,name\n1,a\ud800b\n2,ok\n', 'utf-16le', { mark: true })
    const { records, rejected } = await judgeAndRead(await folder.write('a.csv', text))
    expect(records.map(({ cells }) => cells)).toEqual([['2', 'ok']])
    expect(rejected).toMatchObject([{ record: 1, issues: [{ code: 'invalid-encoding' }] }])
  })

  it('is warned about where the file already came with replacement characters', async () => {
    const { records, issues } = await judgeAndRead(await folder.write('a.csv', 'id,name\n1,caf\ufffd\n'))
    expect(records).toHaveLength(1)
    expect(issues).toMatchObject([{ code: 'replacement-character', severity: 'warn', record: 1 }])
  })
})

describe('a configured encoding', () => {
  it('gives way to a byte order mark, with a warning', async () => {
    const source = await folder.write('a.csv', encode('id,name\n1,é\n', 'utf-16le', { mark: true }))
    const { judgement, records } = await judgeAndRead(source, { format: { encoding: 'windows-1252' } })
    expect(judgement.dialect).toMatchObject({ encoding: 'utf-16le', basis: { encoding: 'bom' } })
    expect(judgement.warnings).toEqual([expect.stringContaining('byte order mark')])
    expect(records[0]?.cells).toEqual(['1', 'é'])
  })

  it('is doubted when the file is UTF-8 throughout', async () => {
    const source = await folder.write('a.csv', 'id,name\n1,é\n')
    const { warnings, dialect } = await judge(source, { format: { encoding: 'windows-1252' } })
    expect(dialect.encoding).toBe('windows-1252')
    expect(warnings).toEqual([expect.stringContaining('valid UTF-8')])
  })

  it('rejects the records that are not in it', async () => {
    const source = await folder.write('a.csv', Buffer.from('id,name\n1,caf\xe9\n2,ok\n', 'latin1'))
    const { records, rejected } = await judgeAndRead(source, { format: { encoding: 'utf-8' } })
    expect([records.length, rejected.length]).toEqual([1, 1])
  })
})
