import iconv from 'iconv-lite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Encoding } from '../../src/config/format-model.ts'
import { encodeText } from '../../src/records/rejects-text.ts'
import { compress, FeedFolder, judgeAndRead } from './feed-file.ts'
import { zipOf } from './zip-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

/** Bytes that mean nothing in the encoding, in a file of it. */
const damages: readonly { encoding: Encoding; damage: readonly number[]; text: string }[] = [
  { encoding: 'utf-8', damage: [0xe9], text: 'Größe €' },
  { encoding: 'utf-16le', damage: [0x00, 0xd8], text: 'Größe € 💶' },
  { encoding: 'utf-16be', damage: [0xd8, 0x00], text: 'Größe € 💶' },
  { encoding: 'utf-32le', damage: [0x00, 0xd8, 0, 0], text: 'Größe € 💶' },
  { encoding: 'windows-1252', damage: [0x81], text: 'Größe €' },
  { encoding: 'windows-1253', damage: [0xff], text: 'Λάμπα €' },
  { encoding: 'shift_jis', damage: [0xff], text: 'ﾗﾝﾌﾟ ランプ' },
  { encoding: 'euc-jp', damage: [0xff], text: 'ﾗﾝﾌﾟ ランプ' },
  { encoding: 'gb18030', damage: [0xff], text: '台灯 💶 Größe' },
  { encoding: 'big5', damage: [0xff], text: '檯燈' },
  { encoding: 'euc-kr', damage: [0xff], text: '램프' },
]

function encoded(text: string, encoding: Encoding): Buffer {
  return encoding.startsWith('utf') ? iconv.encode(text, encoding) : encodeText(text, encoding)
}

describe('bytes that mean nothing are told with their place in the file', () => {
  it.each(damages)('$encoding', async ({ encoding, damage, text }) => {
    const rows = Array.from({ length: 5000 }, (_, at) => `${at},${text} ${at}\n`)
    for (const mark of encoding.startsWith('utf') || encoding === 'gb18030' ? ['', '\ufeff'] : ['']) {
      const parts: Buffer[] = [encoded(`${mark}id,name\n`, encoding)]
      const places: number[] = []
      let length = parts[0]?.length ?? 0
      const add = (part: Buffer) => {
        parts.push(part)
        length += part.length
      }
      for (const [at, row] of rows.entries()) {
        if (at % 1000 !== 500) {
          add(encoded(row, encoding))
          continue
        }
        add(encoded(`x${at},${text}-`, encoding))
        places.push(length)
        // The second one in a record is not told.
        add(Buffer.concat([Buffer.from(damage), encoded(' ,', encoding), Buffer.from(damage)]))
        add(encoded('\n', encoding))
      }
      const source = await folder.write('a.csv', Buffer.concat(parts))
      const { issues } = await judgeAndRead(source, { format: { encoding } })
      const told = issues.filter(({ code }) => code === 'invalid-encoding').map(({ message }) => message)
      expect(told).toEqual(
        places.map((place) => expect.stringContaining(`first at byte ${place} of the file:`)),
      )
    }
  })

  it('counted in what comes out of what is compressed, or in the member of an archive', async () => {
    const bytes = encodeText('id,name\n1,Größe\n2,\x81\n', 'windows-1252')
    bytes[bytes.length - 2] = 0x81
    const place = bytes.length - 2
    const gzip = await folder.write('a.csv.gz', compress(bytes, 'gzip'))
    const zip = await folder.write(
      'a.zip',
      await zipOf({ 'a.csv': encodeText('id,name\n1,Größe\n', 'windows-1252'), 'b.csv': bytes }),
    )
    for (const [source, what] of [
      [gzip, 'the decompressed file'],
      [zip, 'the member of the archive'],
    ] as const) {
      const { issues } = await judgeAndRead(source, { format: { encoding: 'windows-1252' } })
      expect(issues.map(({ message }) => message)).toEqual([
        expect.stringContaining(`first at byte ${place} of ${what}:`),
      ])
    }
  })
})
