import { createHash } from 'node:crypto'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { AwaitedSides } from '../../src/sources/awaited-sides.ts'
import { claimFileName, parseClaimFileName, partsOf } from '../../src/sources/claim-name.ts'
import { OrphanSides } from '../../src/sources/drop-folder.ts'
import { parseSide } from '../../src/sources/file-patterns.ts'
import { putFile } from '../../src/sources/inbox.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { NoticeBoard } from '../../src/sources/notices.ts'
import { readSides, removeSides } from '../../src/sources/read-sides.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, linesOf, silentLog, startSources, visible } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const content = 'product_id\n1\n2\n'
const md5 = createHash('md5').update(content).digest('hex')
const sha256 = createHash('sha256').update(content).digest('hex')

async function folders() {
  const dir = await tempDir()
  return {
    stateDir: dir.join('state', 'main'),
    dropDir: dir.join('drop'),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

describe('what a side file says', () => {
  const forms: [string, 'md5' | 'sha256' | 'count', string | Buffer, string | number | undefined][] = [
    ['bare', 'md5', md5, md5],
    ['in capitals, with spaces', 'sha256', ` ${sha256.toUpperCase()} \r\n`, sha256],
    ['md5sum', 'md5', `${md5}  products.csv\n`, md5],
    ['md5sum -b of a path', 'md5', `${md5} */export/products.csv\n`, md5],
    ['the only line, of another name', 'md5', `${md5}  export.tmp\n`, md5],
    ['one of several', 'md5', `${'0'.repeat(32)}  other.csv\n${md5}  ./products.csv\n`, md5],
    ['none of several', 'md5', `${'0'.repeat(32)}  a.csv\n${md5}  b.csv\n`, undefined],
    ['BSD', 'sha256', `SHA256 (products.csv) = ${sha256}\n`, sha256],
    ['openssl', 'sha256', `SHA2-256(products.csv)= ${sha256}\n`, sha256],
    ['a named algorithm', 'sha256', `sha256:${sha256}`, sha256],
    ['UTF-16 of Windows', 'md5', Buffer.from(`\ufeff${md5}\r\n`, 'utf16le'), md5],
    ['a number', 'count', '1200\n', 1200],
    ['wc', 'count', '1200 products.csv\n', 1200],
    ['nothing yet', 'md5', '', undefined],
    ['half a hash', 'md5', md5.slice(0, 20), undefined],
    ['another hash', 'md5', sha256, undefined],
    ['no number', 'count', '1,200', undefined],
    ['words', 'sha256', 'checksum follows', undefined],
  ]
  it.each(forms)('%s', (_, kind, text, expected) => {
    expect(parseSide(kind, Buffer.from(text), 'products.csv')).toBe(expected)
  })

  it('stands in the name of the claimed file, with the time that its name says', () => {
    const accept = {
      claim: '20261120T104301123-0000-5f3a9c2e',
      feed: 'products' as FeedName,
      mode: 'full',
      name: `${'n'.repeat(110)}.csv.gz`,
      asOf: '2026-11-20T03:00:00.000Z',
      isDated: true,
      expect: { md5, sha256, count: 1200, unreadable: 'md5' },
    } as AcceptLine
    const fileName = claimFileName(partsOf(accept))
    expect(Buffer.byteLength(fileName)).toBeLessThanOrEqual(240)
    const parts = parseClaimFileName(fileName)
    expect(parts).toMatchObject({ asOfMs: Date.parse(accept.asOf), expect: accept.expect })
    expect(parts && claimFileName(parts)).toBe(fileName)
  })
})

describe('side files in a drop folder', () => {
  it('are claimed with their file, and are no feed files themselves', async () => {
    await using dirs = await folders()
    await mkdir(dirs.dropDir)
    const files = {
      'a.csv.md5': `${md5}  a.csv\n`,
      'a.csv.sha256': sha256,
      'a.csv': content,
      'b.csv.count': '2',
      'b.csv.gz': 'compressed',
      'C.CSV': content,
      'C.CSV.MD5': md5.toUpperCase(),
      'd.csv': content,
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(dirs.dropDir, name), text)
    const feeds = [feedNamed('products', dirs.dropDir, { files: [{ pattern: '*', mode: 'full' }] })]
    await using sources = await startSources({ ...dirs, feeds })
    await sources.names(4)
    const lines = await linesOf(dirs.stateDir)
    expect(Object.fromEntries(lines.map(({ name, expect: expected }) => [name, expected]))).toEqual({
      'a.csv': { md5, sha256 },
      'b.csv.gz': { count: 2 },
      'C.CSV': { md5 },
      'd.csv': undefined,
    })
    await waitFor(async () => (await visible(dirs.dropDir)).length === 0)
    expect(sources.noticeHistory).toEqual([])
  })

  it('hold up a file that has to have one, whichever comes first', async () => {
    await using dirs = await folders()
    const feeds = [feedNamed('products', dirs.dropDir, { verify: 'md5' })]
    await using sources = await startSources({ ...dirs, feeds })
    await drop(dirs.dropDir, 'late.csv', content)
    await drop(dirs.dropDir, 'counted.csv.count', '2')
    await drop(dirs.dropDir, 'counted.csv', content)
    await drop(dirs.dropDir, 'first.csv.md5', md5)
    await drop(dirs.dropDir, 'first.csv', content)
    expect(await sources.names(1)).toEqual(['first.csv'])
    await drop(dirs.dropDir, 'late.csv.md5', md5)
    expect(await sources.names(2)).toEqual(['first.csv', 'late.csv'])
    expect(await visible(dirs.dropDir)).toEqual(['counted.csv', 'counted.csv.count'])
    expect((await linesOf(dirs.stateDir)).map((line) => line.expect)).toEqual([{ md5 }, { md5 }])
  })

  it('that say nothing yet are waited for, and checked when they never will', async () => {
    await using dirs = await folders()
    const feeds = [feedNamed('products', dirs.dropDir)]
    await using sources = await startSources({ ...dirs, feeds })
    // As `md5sum x > x.md5` begins.
    await drop(dirs.dropDir, 'a.csv.md5', '')
    await drop(dirs.dropDir, 'a.csv', content)
    await drop(dirs.dropDir, 'b.csv', content)
    expect(await sources.names(1)).toEqual(['b.csv'])
    await writeFile(join(dirs.dropDir, 'a.csv.md5'), md5)
    await sources.names(2)
    expect((await linesOf(dirs.stateDir))[1]).toMatchObject({ name: 'a.csv', expect: { md5 } })
  })

  it('that were written anew since they were read belong to the next file', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('a.csv.md5'), md5)
    await writeFile(dir.join('a.csv.count'), '2')
    const sides = await readSides(dir.path, 'a.csv')
    expect(sides.expect).toEqual({ md5, count: 2 })
    await utimes(dir.join('a.csv.md5'), 1, 1)
    await removeSides(sides.files)
    expect(await readdir(dir.path)).toEqual(['a.csv.md5'])
  })

  it('that are a folder keep their file from being taken', async () => {
    await using dirs = await folders()
    await mkdir(join(dirs.dropDir, 'a.csv.md5'), { recursive: true })
    await using sources = await startSources({ ...dirs, feeds: [feedNamed('products', dirs.dropDir)] })
    await drop(dirs.dropDir, 'a.csv', content)
    await waitFor(() => sources.notices.has('unreadable:products'))
    expect(sources.notices.get('unreadable:products')).toContain('a.csv.md5')
    expect(await visible(dirs.dropDir)).toEqual(['a.csv', 'a.csv.md5'])
  })

  it('of a file that a command hands in are read where it lies, and stay there', async () => {
    await using dirs = await folders()
    await using elsewhere = await tempDir()
    await writeFile(elsewhere.join('a.csv'), content)
    await writeFile(elsewhere.join('a.csv.sha256'), sha256)
    const inboxDir = join(dirs.stateDir, 'inbox')
    const file = { inboxDir, feed: 'products' as FeedName, mode: 'full' as const, asOfMs: 1_763_600_000_000 }
    await putFile({ ...file, path: elsewhere.join('a.csv') })
    await using sources = await startSources({ ...dirs, feeds: [feedNamed('products', dirs.dropDir)] })
    await sources.names(1)
    expect((await linesOf(dirs.stateDir))[0]).toMatchObject({
      name: 'a.csv',
      expect: { sha256 },
      asOf: '2025-11-20T00:53:20.000Z',
      isDated: true,
    })
    expect((await readdir(elsewhere.path)).sort()).toEqual(['a.csv', 'a.csv.sha256'])
  })

  test('that do not come are missed after a minute, until their file is taken or taken away', () => {
    const clock = { now: () => 0, nowMs: 0, monotonic: () => clock.nowMs, sleep: async () => {} }
    const told: (string | undefined)[] = []
    const notices = new NoticeBoard({ log: silentLog, onNotice: (_, text) => told.push(text) })
    const place = { feed: 'products' as FeedName, dropDir: '/drop', takesChanged: true, keepCopiedMs: 0 }
    const awaited = new AwaitedSides({ place: { ...place, verify: 'md5' }, clock, notices })
    const batch = ['a.csv', 'b.csv'].map((raw) => ({
      raw,
      mode: 'full' as const,
      size: 1,
      mtimeMs: 1,
      inode: 1,
    }))
    const ofDisk = { isFull: false, neededBytes: 0 }
    const result = { accepted: [], copied: [], changed: [], refused: [], considered: 2, ...ofDisk }
    const look = (...waiting: string[]) => {
      awaited.note(batch, { ...result, waiting: waiting.map((raw) => ({ raw, for: 'md5' })) })
      awaited.tell()
      return told.at(-1)
    }
    expect(look('a.csv', 'b.csv')).toBeUndefined()
    expect([awaited.mayEndBy('a.csv.md5'), awaited.mayEndBy('a.csv')]).toEqual([true, false])
    clock.nowMs = 60_000
    expect(look('a.csv', 'b.csv')).toMatch(
      /^Waiting in \/drop: a\.csv for a\.csv\.md5, b\.csv for b\.csv\.md5\. /,
    )
    expect(look('a.csv')).toMatch(/^Waiting in \/drop: a\.csv for a\.csv\.md5\. /)
    awaited.keep(new Set())
    awaited.tell()
    expect(told.at(-1)).toBeUndefined()
    expect(awaited.mayEndBy('a.csv.md5')).toBe(false)
  })

  test('to which no file belongs go after an hour', () => {
    const orphans = new OrphanSides()
    const minute = 60_000
    const scan = (sides: string[], { files = [] as string[], temporary = [] as string[], at = 0 }) => {
      for (const side of sides) orphans.add(side)
      for (const name of temporary) orphans.addTemporary(name)
      return orphans.endScan((raw) => files.includes(raw), at * minute)
    }
    expect(scan(['a.csv.md5', 'b.csv.count', 'c.csv.md5'], { files: ['b.csv.gz'] })).toEqual([])
    expect(scan(['a.csv.md5', 'b.csv.count'], { files: ['b.csv.gz'], at: 59 })).toEqual([])
    // Its file is on its way, or came: the hour begins anew.
    expect(scan(['a.csv.md5'], { temporary: ['.a.csv.x7'], at: 61 })).toEqual([])
    expect(scan(['a.csv.md5', 'b.csv.count'], { at: 62 })).toEqual([])
    expect(scan(['a.csv.md5'], { at: 121 })).toEqual([])
    expect(scan(['a.csv.md5'], { at: 122 })).toEqual(['a.csv.md5'])
  })
})
