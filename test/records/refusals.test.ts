import { randomBytes } from 'node:crypto'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readDecompressed } from '../../src/records/decompress.ts'
import { ExpansionMeter } from '../../src/records/expansion-meter.ts'
import { leakCheck } from '../support/leak-check.ts'
import { encode, FeedFolder, judge, judgeAndRead } from './feed-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())
const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const text = `id,name\n${Array.from({ length: 3000 }, (_, index) => `${index},${randomBytes(20).toString('hex')}\n`).join('')}`
const compressors = {
  gzip: (data: Buffer | string) => gzipSync(data),
  // With the checksum that the command line tool writes; without one zstd cannot tell damaged text.
  zstd: (data: Buffer | string) => zstdCompressSync(data, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }),
}

async function refusal(content: Buffer | string, options: Parameters<typeof judge>[1] = {}) {
  const source = await folder.write('feed.csv', content)
  return judge(source, options).then(
    () => undefined,
    (error: { name: string; code: string; message: string; hint: string }) => {
      expect(error.name).toBe('FileRefusedError')
      expect(error.message).toMatch(/^feed\.csv: /)
      expect(error.hint).not.toBe('')
      return error
    },
  )
}

describe.each(['gzip', 'zstd'] as const)('a %s file', (kind) => {
  const compressed = compressors[kind](text)

  it('may have several parts', async () => {
    const middle = text.indexOf('\n', 40_000)
    const parts = [text.slice(0, middle), text.slice(middle, middle + 5), text.slice(middle + 5)]
    const source = await folder.write('feed.csv', Buffer.concat(parts.map((part) => compressors[kind](part))))
    expect((await judgeAndRead(source)).records).toHaveLength(3000)
  })

  it.each([1, 5, 100, Math.floor(compressed.length / 2)])(
    'that lacks its last %i bytes is refused',
    async (missing) => {
      const error = await refusal(compressed.subarray(0, compressed.length - missing))
      expect(error).toMatchObject({ code: 'truncated', message: expect.stringContaining('end mark') })
    },
  )

  it('with another archive inside is refused', async () => {
    for (const inner of [gzipSync(text), Buffer.from('504b0304140000000800', 'hex')]) {
      expect(await refusal(compressors[kind](inner))).toMatchObject({ code: 'nested-archive' })
    }
  })

  it('that is damaged, or followed by something else, is refused', async () => {
    const damaged = Buffer.from(compressed)
    damaged.fill(0xaa, 20_000, 20_050)
    expect(await refusal(damaged)).toMatchObject({
      code: 'truncated',
      message: expect.stringContaining('damaged'),
    })
    const followed = Buffer.concat([compressed, Buffer.from('something else, long enough')])
    expect(await refusal(followed)).toMatchObject({ code: 'truncated' })
  })

  it('is a bomb when it expands without measure', async () => {
    const bomb = compressors[kind](Buffer.alloc(4_000_000, 'a,b\n'))
    const source = await folder.write('bomb.csv', bomb)
    const expand = async () => {
      let bytes = 0
      const chunks = readDecompressed(
        source,
        kind,
        new ExpansionMeter('feed', { ratioMax: 100, fromBytes: 1_000_000 }),
      )
      for await (const chunk of chunks) bytes += chunk.length
      return bytes
    }
    await expect(expand()).rejects.toMatchObject({ code: 'expands-too-much' })
  })
})

describe('compression', () => {
  it('may begin with a skippable zstd frame and end with zero padding of gzip', async () => {
    const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const zstd = await folder.write('feed.csv', Buffer.concat([skippable, zstdCompressSync(text)]))
    expect((await judge(zstd)).records).toBe(3000)
    const gzip = await folder.write('feed.csv', Buffer.concat([gzipSync(text), Buffer.alloc(512)]))
    expect((await judge(gzip)).records).toBe(3000)
  })

  it('does not hide what follows zero padding', async () => {
    const content = Buffer.concat([gzipSync(text), Buffer.alloc(512), Buffer.from('more')])
    expect(await refusal(content)).toMatchObject({ code: 'truncated' })
  })
})

describe('a file is not refused', () => {
  it.each(['id,name\n1,a\n2,b\n\x1a', 'id,name\r\n1,a\r\n2,b\r\n\x1a\x1a'])(
    'for the byte that ends files of DOS (%j)',
    async (content) => {
      const { records, rejected } = await judgeAndRead(await folder.write('feed.csv', content))
      expect([records.map(({ cells }) => cells[1]), rejected]).toEqual([['a', 'b'], []])
    },
  )
})

describe('a file is refused', () => {
  it.each([
    ['', 'no bytes'],
    ['\ufeff', 'a byte order mark'],
    ['\r\n \n', 'blank lines'],
  ])('when it holds nothing (%j)', async (content) => {
    expect(await refusal(content)).toMatchObject({ code: 'empty-file' })
    expect(await refusal(gzipSync(content))).toMatchObject({ code: 'empty-file' })
  })

  it('when a quote is never closed: the line is named', async () => {
    const error = await refusal('id,name\n1,a\n2,"multi\nline"\n3,"open\n4,b\n')
    expect(error).toMatchObject({ code: 'truncated', message: expect.stringContaining('line 5') })
    expect(error?.hint).toContain('format.quote: none')
  })

  it('when a record is too long: its line is named', async () => {
    const long = `id,name\n1,a\n2,"${'x\n'.repeat(3000)}"\n3,b\n`
    const error = await refusal(long, { format: { recordBytes: 2000 } })
    expect(error).toMatchObject({
      code: 'record-too-long',
      message: expect.stringContaining('begins in line 3'),
    })
    const open = await refusal(`id,name\n2,"${'x,'.repeat(2_000_000)}`, { format: { recordBytes: 2000 } })
    expect(open).toMatchObject({ code: 'record-too-long', message: expect.stringContaining('line 2') })
  })

  it('when it stops in the middle of its last record', async () => {
    expect(await refusal('id,name,price\n1,a,2\n2,b')).toMatchObject({ code: 'truncated' })
    expect(await refusal('{"id":"1"}\n{"id":"2","na')).toMatchObject({ code: 'truncated' })
    expect(await refusal(encode('id,name\n1,a\n', 'utf-16le', { mark: true }).subarray(0, -1))).toMatchObject(
      {
        code: 'truncated',
      },
    )
  })

  it('but not for a last record without a line end that is whole, or like the one before', async () => {
    expect(await refusal('id,name,price\n1,a,2\n2,b,3')).toBeUndefined()
    expect(await refusal('id,name,price\n1,a\n2,b')).toBeUndefined()
    expect(await refusal('{"id":"1"}\n{"id":"2"}')).toBeUndefined()
    expect(await refusal('id,name,price')).toBeUndefined()
  })

  it('when it became shorter than it was accepted', async () => {
    const source = await folder.write('feed.csv', 'id,name\n1,a\n')
    await expect(judge({ ...source, bytes: source.bytes + 1 })).rejects.toMatchObject({ code: 'truncated' })
  })
})

describe('a file that', () => {
  it('has grown is read as far as it was accepted', async () => {
    const source = await folder.write('feed.csv', 'id,name\n1,a\n2,b\n')
    const { records } = await judgeAndRead({ ...source, bytes: 12 })
    expect(records.map(({ cells }) => cells)).toEqual([['1', 'a']])
  })

  it('is gone or cannot be opened is a failure of the source, not of the data', async () => {
    const source = { path: folder.path('nothing.csv'), bytes: 5, name: 'nothing.csv' }
    await expect(judge(source)).rejects.toMatchObject({ name: 'SourceError', code: 'file-unreadable' })
  })

  it.each(['none', 'gzip', 'zstd'] as const)('is being read (%s) can be left', async (kind) => {
    const controller = new AbortController()
    const content = kind === 'none' ? Buffer.from(text) : compressors[kind](text)
    const source = await folder.write('feed.csv', content)
    const reason = new Error('stop')
    const onProgress = () => controller.abort(reason)
    const judging = judge({ ...source, bytes: content.length }, { signal: controller.signal, onProgress })
    // A file of one chunk has been read when the first progress is told; a second pass over it is not begun.
    await judging.catch((error) => expect(error).toBe(reason))
    await expect(judge(source, { signal: controller.signal })).rejects.toBe(reason)
  })
})
