import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import { boundUser, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, linesOf, startSources, visible } from './support/setup.ts'
import { canMount, mountAgain, mountSmallDisk } from './support/small-disk.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const mb = 1024 * 1024

// Mounting needs root.
describe.skipIf(!canMount)('drop folder and archive on two file systems', () => {
  it('copies, in order, and leaves nothing behind', async () => {
    await using dir = await tempDir()
    const dropDir = dir.join('drop')
    const stateDir = dir.join('state', 'main')
    await using _disk = mountSmallDisk(dropDir, 64)
    await writeFile(join(dropDir, 'large.csv'), Buffer.alloc(20 * mb, 'x'))
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    await sources.names(1)
    for (let index = 0; index < 20; index++) await drop(dropDir, `f${index}.csv`, `content ${index}`)
    await sources.names(21)
    expect(sources.accepted[0]).toMatchObject({ name: 'large.csv', bytes: 20 * mb })
    const archived = await visible(join(stateDir, 'archive'))
    expect(archived.length).toBe(21)
    const claim = sources.accepted.find(({ name }) => name === 'f7.csv')?.claim ?? '?'
    const fileName = archived.find((name) => name.startsWith(claim)) ?? ''
    expect(await readFile(join(stateDir, 'archive', fileName), 'utf8')).toBe('content 7')
    await waitFor(async () => (await readdir(join(dropDir, '.catalogd', 'main'))).length === 0)
    expect(await readdir(join(stateDir, 'archive'))).toEqual(archived)
    expect(await visible(dropDir)).toEqual([])
  })

  it('accepts again what grows after it was copied', async () => {
    await using dir = await tempDir()
    const dropDir = dir.join('drop')
    const stateDir = dir.join('state', 'main')
    await using _disk = mountSmallDisk(dropDir, 16)
    const settle = { kind: 'quiet', forMs: 300 } as const
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir, { settle })],
    })
    await using file = await open(join(dropDir, 'growing.csv'), 'w')
    await file.write('one')
    await sources.names(1)
    await file.write(' two')
    await sources.names(2)
    expect(sources.accepted.map(({ bytes }) => bytes)).toEqual([3, 7])
    expect(sources.accepted[1]?.grownFrom).toBe(sources.accepted[0]?.claim)
    await waitFor(async () => (await readdir(join(dropDir, '.catalogd', 'main'))).length === 0)
  })

  it('copies where device numbers do not tell that a rename is impossible', async () => {
    await using dir = await tempDir()
    const dropDir = dir.join('drop')
    const stateDir = dir.join('state', 'main')
    await mkdir(dir.join('real'))
    await using _mounted = mountAgain(dir.join('real'), dropDir)
    for (const name of ['a.csv', 'b.csv']) await writeFile(join(dropDir, name), name)
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    expect(await sources.names(2)).toEqual(['a.csv', 'b.csv'])
    await waitFor(async () => (await readdir(join(dropDir, '.catalogd', 'main'))).length === 0)
    expect(sources.noticeHistory).toEqual([])
  })

  it('leaves a file that does not fit where it is, says so, and takes it when there is room', async () => {
    await using dir = await tempDir()
    const dropDir = dir.join('drop')
    const disk = dir.join('state')
    await using _disk = mountSmallDisk(disk, 48)
    await mkdir(dropDir)
    await writeFile(join(disk, 'other'), Buffer.alloc(20 * mb))
    await writeFile(join(dropDir, 'large.csv'), Buffer.alloc(20 * mb, 'x'))
    const stateDir = join(disk, 'main')
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir)],
      rescanMs: 50,
    })
    const notice = await waitFor(() => sources.notices.get('disk'))
    expect(notice).toContain('is full (36 MB are needed); files stay')
    expect(await visible(dropDir)).toEqual(['large.csv'])
    expect(sources.accepted).toEqual([])
    await rm(join(disk, 'other'))
    expect(await sources.names(1)).toEqual(['large.csv'])
    await waitFor(() => !sources.notices.has('disk'))
  })
})

describe.skipIf(!canMount)('a full disk', () => {
  it('stops accepting, loses nothing, and goes on by itself', async () => {
    await using dir = await tempDir()
    await using _disk = mountSmallDisk(dir.join('disk'), 24)
    const dropDir = dir.join('disk', 'drop')
    const stateDir = dir.join('disk', 'state', 'main')
    const feed = feedNamed('products', dropDir)
    await using sources = await startSources({ stateDir, feeds: [feed], rescanMs: 50 })
    await drop(dropDir, 'a.csv', 'a')
    await sources.names(1)
    await writeFile(dir.join('disk', 'filler'), Buffer.alloc(12 * mb))
    for (const name of ['b.csv', 'c.csv']) await drop(dropDir, name, name)
    expect(await waitFor(() => sources.notices.get('disk'))).toContain('Free some space')
    expect(await visible(dropDir)).toEqual(['b.csv', 'c.csv'])
    await rm(dir.join('disk', 'filler'))
    expect((await sources.names(3)).slice(1)).toEqual(['b.csv', 'c.csv'])
    await waitFor(() => !sources.notices.has('disk'))
    expect((await linesOf(stateDir)).length).toBe(3)
  })

  it('is looked at every second: what waits is accepted long before the next scan', async () => {
    await using dir = await tempDir()
    await using _disk = mountSmallDisk(dir.join('disk'), 24)
    const dropDir = dir.join('disk', 'drop')
    const stateDir = dir.join('disk', 'state', 'main')
    await using sources = await startSources({
      ...{ stateDir, feeds: [feedNamed('products', dropDir)] },
      rescanMs: 3_600_000,
    })
    await drop(dropDir, 'a.csv', 'a')
    await sources.names(1)
    await writeFile(dir.join('disk', 'filler'), Buffer.alloc(12 * mb))
    await drop(dropDir, 'b.csv', 'b')
    await waitFor(() => sources.notices.get('disk'))
    await rm(dir.join('disk', 'filler'))
    expect(await sources.names(2)).toEqual(['a.csv', 'b.csv'])
    await waitFor(() => !sources.notices.has('disk'))
  })

  it('lets no later file overtake those that found no room', async () => {
    await using dir = await tempDir()
    await using _disk = mountSmallDisk(dir.join('disk'), 24)
    const dropDir = dir.join('disk', 'drop')
    const stateDir = dir.join('disk', 'state', 'main')
    // No scan comes by itself: only the event of the later file brings one.
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    await drop(dropDir, 'a.csv', 'a')
    await sources.names(1)
    await writeFile(dir.join('disk', 'filler'), Buffer.alloc(12 * mb))
    await drop(dropDir, 'b.csv', 'b')
    await waitFor(() => sources.notices.get('disk'))
    await rm(dir.join('disk', 'filler'))
    await drop(dropDir, 'c.csv', 'c')
    expect(await sources.names(3)).toEqual(['a.csv', 'b.csv', 'c.csv'])
  })

  it('rejects an append whole, keeps the view, and takes it later', async () => {
    await using dir = await tempDir()
    await using _disk = mountSmallDisk(dir.join('disk'), 1)
    await using manifest = await openManifest({ dir: dir.join('disk'), clock: systemClock })
    const pause = (request: string) =>
      ({ kind: 'decision', request, at: '2026-11-20T10:00:00Z', decision: 'pause' }) as const
    await manifest.append([pause('first')])
    const filler = dir.join('disk', 'filler')
    await writeFile(filler, Buffer.alloc(900 * 1024))
    const many = Array.from({ length: 5000 }, (_, index) => pause(`request-${index}`))
    await expect(manifest.append(many)).rejects.toMatchObject({
      code: 'manifest-write',
      hint: 'Free some space there',
    })
    expect(manifest.nextSequence).toBe(2)
    expect((await linesOf(dir.join('disk'))).length).toBe(1)
    await rm(filler)
    await manifest.append([pause('second')])
    expect((await linesOf(dir.join('disk'))).map(({ request }) => request)).toEqual(['first', 'second'])
  })
})

// Another user is needed whom permissions bind.
describe.skipIf(process.getuid?.() !== 0)('permissions', () => {
  it('says who may not read the folder or a file and what to do, and goes on when it is done', async () => {
    await using dir = await tempDir()
    const { uid, gid } = boundUser()
    const other = uid + 12_345
    await chown(dir.path, uid, gid)
    const dropDir = dir.join('drop')
    const stateDir = dir.join('state', 'main')
    await mkdir(stateDir, { recursive: true })
    await chown(dir.join('state'), uid, gid)
    await chown(stateDir, uid, gid)
    await mkdir(dropDir, { mode: 0o700 })
    await chown(dropDir, other, other)
    await drop(dropDir, 'a.csv', 'a')
    await using child = await startChild(new URL('support/run-sources.ts', import.meta.url), {
      args: [JSON.stringify({ stateDir, dropDir, rescanMs: 50 })],
      isBound: true,
    })
    const notice = await child.line('notice drop:products')
    expect(notice).toContain(dropDir)
    expect(notice).toContain('EACCES')
    expect(notice).toContain(`uid ${uid}`)
    expect(notice).toContain('chmod')
    await chmod(dropDir, 0o777)
    await child.line('accepted a.csv')
    await child.line('notice drop:products: (over)')
    await writeFile(join(dropDir, '.secret'), 'secret', { mode: 0o600 })
    await chown(join(dropDir, '.secret'), other, other)
    execFileSync('mv', [join(dropDir, '.secret'), join(dropDir, 'secret.csv')])
    expect(await child.line('notice unreadable:products')).toContain('secret.csv')
    await drop(dropDir, 'b.csv', 'b')
    await child.line('accepted b.csv')
    await chmod(join(dropDir, 'secret.csv'), 0o644)
    await child.line('accepted secret.csv')
    await child.line('notice unreadable:products: (over)')
    child.send('stop')
    await child.line('stopped')
  })
})
