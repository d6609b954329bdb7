import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FileRefusedError } from '../../src/lib/errors.ts'
import { encode, FeedFolder, judge, judgeAndRead } from './feed-file.ts'
import { patchHeaders, zipOf } from './zip-file.ts'

let folder: FeedFolder
beforeAll(async () => {
  folder = await FeedFolder.open()
})
afterAll(() => folder[Symbol.asyncDispose]())

const two = { 'b.csv': 'id,name\n3,c\n', 'a.csv': 'id,name\n1,a\n2,"b\nb"\n' }

async function refusalOf(
  bytes: Buffer,
  format = {},
): Promise<Pick<FileRefusedError, 'code' | 'message' | 'hint'>> {
  const source = await folder.write('feed.zip', bytes)
  return judge(source, { format }).then(
    () => expect.fail('was not refused'),
    (error) => error,
  )
}

describe('a zip archive', () => {
  it.each([
    ['deflated', {}],
    ['stored', { stored: true }],
    ['of the 64-bit form', { zip64: true }],
    ['with data descriptors', { streamed: true }],
  ])('%s gives the records of its members in the order of their names', async (_, options) => {
    const source = await folder.write('feed.zip', await zipOf(two, options))
    const progress: number[] = []
    const { judgement, records, rejected } = await judgeAndRead({
      ...source,
      onProgress: (bytes: number) => void progress.push(bytes),
    } as typeof source)
    expect(judgement.dialect).toMatchObject({ compression: 'zip', type: 'csv', delimiter: ',' })
    expect(records.map(({ record, line, cells }) => [record, line, ...cells])).toEqual([
      [1, 2, '1', 'a'],
      [2, 3, '2', 'b\nb'],
      [3, 2, '3', 'c'],
    ])
    expect(rejected).toEqual([])
    expect(judgement.records).toBe(3)
    expect(judgement.ids.has('3')).toBe(true)
    expect(progress.every((bytes) => bytes <= source.bytes)).toBe(true)
  })

  it('is read only as far as it was accepted', async () => {
    const zip = await zipOf(two)
    const source = await folder.write('feed.zip', Buffer.concat([zip, Buffer.from('appended later')]))
    const { records } = await judgeAndRead({ ...source, bytes: zip.length })
    expect(records).toHaveLength(3)
  })

  it('leaves out what systems hide in it, and what format.members does not name', async () => {
    const members = {
      '__MACOSX/._a.csv': 'x',
      'out/.DS_Store': 'x',
      'out/a.csv': 'id,name\n1,a\n',
      'readme.txt': 'Read me',
    }
    const source = await folder.write('feed.zip', await zipOf(members))
    const { judgement, records } = await judgeAndRead(source, { format: { members: '*.csv' } })
    expect(records).toHaveLength(1)
    expect(judgement.dialect.members).toBe('*.csv')
    const withoutText = await folder.write(
      'b.zip',
      await zipOf({ ...members, 'readme.txt': 'id,name\n7,z\n' }),
    )
    expect((await judgeAndRead(withoutText)).records.map(({ cells }) => cells[0])).toEqual(['1', '7'])
  })

  it('may have members in several encodings where each says its own', async () => {
    const members = {
      'a.csv': encode('id,name\n1,ä\n', 'utf-8', { mark: false }),
      'b.csv': encode('id,name\n2,ö\n', 'utf-16le', { mark: true }),
      'c.csv': encode('id,name\n3,ü\n', 'utf-8', { mark: true }),
      'd.csv': encode('id,name\n4,😀\n', 'utf-32be', { mark: true }),
    }
    const { records } = await judgeAndRead(await folder.write('feed.zip', await zipOf(members)))
    expect(records.map(({ cells }) => cells[1])).toEqual(['ä', 'ö', 'ü', '😀'])
  })

  it.each([
    ['xml', (id: string) => `<rss><channel><item><id>${id}</id></item></channel></rss>`],
    ['json', (id: string) => `[{"id":"${id}"}]`],
  ])('takes each member as a whole document of %s', async (extension, document) => {
    const members = { [`a.${extension}`]: document('1'), [`b.${extension}`]: document('2') }
    const { judgement, records } = await judgeAndRead(await folder.write('feed.zip', await zipOf(members)))
    expect(judgement.records).toBe(2)
    expect(records.map(({ record, cells }) => [record, cells[0]])).toEqual([
      [1, '1'],
      [2, '2'],
    ])
  })

  it('numbers the records of line formats on', async () => {
    const members = { 'a.ndjson': '{"id":"1"}\n{"id":"2"}\n', 'b.ndjson': '{"id":"3"}\n' }
    const { records } = await judgeAndRead(await folder.write('feed.zip', await zipOf(members)))
    expect(records.map(({ record, cells }) => [record, cells[0]])).toEqual([
      [1, '1'],
      [2, '2'],
      [3, '3'],
    ])
  })
})

describe('a zip archive is refused', () => {
  it.each<[string, Record<string, Buffer | string>, string, RegExp]>([
    [
      'when headers differ',
      { 'a.csv': 'id,name\n1,a\n', 'b.csv': 'name,id\nb,2\n' },
      'headers-differ',
      /b\.csv/,
    ],
    ['when a member has no header', { 'a.csv': 'id,name\n1,a\n', 'b.csv': '' }, 'empty-file', /b\.csv/],
    [
      'when a member is cut off',
      { 'a.csv': 'id,name\n1,a\n2', 'b.csv': two['b.csv'] },
      'truncated',
      /a\.csv/,
    ],
    ['with a gzip inside', { 'a.csv.gz': gzipSync('id\n1\n') }, 'nested-archive', /compressed with gzip/],
    ['when it is empty', {}, 'no-member', /it is empty/],
    ['when all is hidden', { '.x': 'id\n1\n' }, 'no-member', /\.x/],
  ])('%s', async (_, members, code, found) => {
    expect(await refusalOf(await zipOf(members))).toMatchObject({
      code,
      message: expect.stringMatching(found),
    })
  })

  it('when a member has no name, which would be left out as hidden ones are', async () => {
    const sound = await zipOf(two)
    const extraBytes = sound.readUInt16LE(sound.indexOf('PK\x01\x02', 'latin1') + 30)
    const patches = [
      { at: 28, value: 0 },
      { at: 30, value: 0 },
      // What was the name is a comment now.
      { at: 32, value: 'b.csv'.length + extraBytes },
    ]
    const zip = patches.reduce(
      (before, patch) => patchHeaders(before, 'central', { ...patch, bytes: 2, member: 1 }),
      sound,
    )
    expect(await refusalOf(zip)).toMatchObject({
      code: 'damaged-archive',
      message: expect.stringMatching(/no name/),
    })
  })

  it('with another archive inside', async () => {
    const inner = await zipOf(two)
    expect(await refusalOf(await zipOf({ 'inner.zip': inner }))).toMatchObject({ code: 'nested-archive' })
  })

  it('when no member matches format.members', async () => {
    expect(await refusalOf(await zipOf(two), { members: '*.xml' })).toMatchObject({
      code: 'no-member',
      message: expect.stringMatching(/a\.csv, b\.csv/),
      hint: expect.stringMatching(/format\.members/),
    })
  })

  it('when its end is missing, at whatever place it was cut', async () => {
    const zip = await zipOf(two)
    for (let length = 4; length < zip.length; length += 7) {
      const { code } = await refusalOf(zip.subarray(0, length))
      expect(code, `cut at ${length}`).toBe('truncated')
    }
  })

  it.each(['../evil.csv', '/etc/evil.csv', 'C:/evil.csv', 'a\x1b[2J.csv'])(
    'with a member named %j',
    async (name) => {
      const safe = 'x'.repeat(Buffer.byteLength(name))
      const zip = (await zipOf({ [safe]: 'id\n1\n' })).toString('latin1').replaceAll(safe, name)
      expect(await refusalOf(Buffer.from(zip, 'latin1'))).toMatchObject({ code: 'member-name' })
    },
  )

  it('with two members of one name', async () => {
    const zip = (await zipOf(two)).toString('latin1').replaceAll('b.csv', 'a.csv')
    expect(await refusalOf(Buffer.from(zip, 'latin1'))).toMatchObject({
      code: 'damaged-archive',
      message: expect.stringMatching(/two members named a\.csv/),
    })
  })

  const damages: [string, Parameters<typeof patchHeaders>[2], string, RegExp][] = [
    ['encrypted', { at: 8, value: 1, bytes: 2 }, 'encrypted', /is encrypted/],
    ['compressed otherwise', { at: 10, value: 14, bytes: 2 }, 'unsupported-compression', /LZMA/],
    ['of another checksum', { at: 16, value: 7, bytes: 4 }, 'damaged-archive', /checksum/],
    ['longer than said', { at: 24, value: 3, bytes: 4 }, 'damaged-archive', /longer than/],
    [
      'shorter than said',
      { at: 24, value: 99, bytes: 4 },
      'damaged-archive',
      /has 12 bytes, the archive says 99/,
    ],
    [
      'said to expand too much',
      { at: 24, value: 2 ** 31, bytes: 4 },
      'expands-too-much',
      /become 2147483648/,
    ],
    ['cut off inside', { at: 20, value: 3, bytes: 4 }, 'damaged-archive', /damaged or cut off|has \d+ bytes/],
    ['beyond its end', { at: 20, value: 300, bytes: 4 }, 'damaged-archive', /overlap|beyond/],
    ['at no header', { at: 42, value: 3, bytes: 4 }, 'damaged-archive', /b\.csv|header/],
  ]
  it.each(damages)('with a member %s', async (_, patch, code, found) => {
    const zip = patchHeaders(await zipOf(two), 'central', { ...patch, member: 0 })
    expect(await refusalOf(zip)).toMatchObject({ code, message: expect.stringMatching(found) })
  })

  it('with more members than anyone exports', async () => {
    const zip = await zipOf(two)
    // The number of members in the last 22 bytes.
    zip.writeUInt16LE(10_001, zip.length - 12)
    expect(await refusalOf(zip)).toMatchObject({ code: 'too-many-members' })
  })
})
