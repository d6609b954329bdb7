import { appendFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { ClaimIds, claimFileName } from '../../src/sources/claim-name.ts'
import { startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, linesOf, startSources, visible } from './support/setup.ts'
import { canMount, mountSmallDisk } from './support/small-disk.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const script = new URL('support/run-sources.ts', import.meta.url)
const ids = new ClaimIds(systemClock)

function claimed(name: string, changes: { grownFrom?: string; resend?: boolean } = {}) {
  const claim = ids.next()
  const parts = { claim, feed: 'products' as FeedName, mode: 'full' as const, name }
  return {
    claim,
    fileName: claimFileName({ ...parts, grownFrom: changes.grownFrom, resend: changes.resend === true }),
  }
}

async function folders() {
  const dir = await tempDir()
  const stateDir = dir.join('state', 'main')
  const archiveDir = join(stateDir, 'archive')
  const dropDir = dir.join('drop')
  const hiddenDir = join(dropDir, '.catalogd', 'main')
  for (const folder of [archiveDir, hiddenDir]) await mkdir(folder, { recursive: true })
  const feeds = [feedNamed('products', dropDir)]
  return {
    stateDir,
    archiveDir,
    dropDir,
    hiddenDir,
    feeds,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

describe('what a crash left', () => {
  it('claims without a line get one, in the order of the claims, once', async () => {
    await using dirs = await folders()
    const [first, second, third] = [claimed('1.csv'), claimed('2.csv', { resend: true }), claimed('3.csv')]
    await writeFile(join(dirs.archiveDir, third.fileName), 'three')
    await writeFile(join(dirs.archiveDir, first.fileName), 'one')
    await writeFile(join(dirs.hiddenDir, second.fileName), 'two')
    await writeFile(join(dirs.archiveDir, `.copy-${second.fileName}`), 'tw')
    await writeFile(join(dirs.archiveDir, `.zst-${first.fileName}`), 'rubbish')
    for (let start = 0; start < 2; start++) {
      await using sources = await startSources(dirs)
      expect(
        [...sources.manifest.files()].map(({ claim, name, bytes, resend }) => [claim, name, bytes, resend]),
      ).toEqual([
        [first.claim, '1.csv', 3, undefined],
        [second.claim, '2.csv', 3, true],
        [third.claim, '3.csv', 5, undefined],
      ])
      expect(sources.accepted.length).toBe(start === 0 ? 3 : 0)
      await waitFor(async () => (await readdir(dirs.hiddenDir)).length === 0)
    }
    expect((await readdir(dirs.archiveDir)).sort()).toEqual(
      [first, second, third].map(({ fileName }) => fileName),
    )
    expect(await readFile(join(dirs.archiveDir, second.fileName), 'utf8')).toBe('two')
  })

  it('what an accepted file is compressed into is left to archiving', async () => {
    await using dirs = await folders()
    const file = claimed('x.csv')
    await writeFile(join(dirs.archiveDir, file.fileName), 'content')
    {
      await using _ = await startSources(dirs)
    }
    await writeFile(join(dirs.archiveDir, `.zst-${file.fileName}`), 'half')
    await using _ = await startSources(dirs)
    expect(await readFile(join(dirs.archiveDir, `.zst-${file.fileName}`), 'utf8')).toBe('half')
  })

  it('a copy that was cut off after its rename, or after its line, is not accepted twice', async () => {
    await using dirs = await folders()
    const file = claimed('x.csv')
    await writeFile(join(dirs.archiveDir, file.fileName), 'content')
    await writeFile(join(dirs.hiddenDir, file.fileName), 'content')
    {
      await using sources = await startSources(dirs)
      expect(sources.accepted.length).toBe(1)
      await waitFor(async () => (await readdir(dirs.hiddenDir)).length === 0)
    }
    await writeFile(join(dirs.hiddenDir, file.fileName), 'content')
    await using sources = await startSources(dirs)
    await waitFor(async () => (await readdir(dirs.hiddenDir)).length === 0)
    expect((await linesOf(dirs.stateDir)).length).toBe(1)
    expect(sources.accepted).toEqual([])
  })

  it('what grew meanwhile is accepted again', async () => {
    await using dirs = await folders()
    const file = claimed('x.csv')
    await writeFile(join(dirs.archiveDir, file.fileName), 'one')
    {
      await using sources = await startSources(dirs)
      expect(sources.accepted.map(({ bytes }) => bytes)).toEqual([3])
    }
    await appendFile(join(dirs.archiveDir, file.fileName), ' two')
    await using sources = await startSources(dirs)
    await sources.names(1)
    expect(sources.accepted).toMatchObject([{ bytes: 7, grownFrom: file.claim }])
  })

  it('entries that are none of ours are left alone', async () => {
    await using dirs = await folders()
    await mkdir(join(dirs.archiveDir, '2026-11-20'))
    await writeFile(join(dirs.archiveDir, 'notes.txt'), 'x')
    await mkdir(join(dirs.archiveDir, claimed('folder.csv').fileName))
    await using sources = await startSources(dirs)
    expect(sources.accepted).toEqual([])
    expect((await readdir(dirs.archiveDir)).length).toBe(3)
  })
})

describe('a failure between claim and line', () => {
  it('puts the files back, and they are accepted when it is over', async () => {
    await using dirs = await folders()
    await using sources = await startSources({ ...dirs, rescanMs: 50 })
    await drop(dirs.dropDir, 'a.csv', 'a')
    await sources.names(1)
    // What another writer left makes every append fail.
    const manifest = join(dirs.stateDir, 'manifest.ndjson')
    const size = (await readFile(manifest)).length
    await appendFile(manifest, 'foreign')
    for (const name of ['b.csv', 'c.csv']) await drop(dirs.dropDir, name, name)
    await waitFor(() => sources.notices.get('drop:products')?.includes('Another process'))
    await waitFor(async () => (await visible(dirs.dropDir)).join() === 'b.csv,c.csv')
    await truncate(manifest, size)
    await sources.names(3)
    expect(sources.accepted.map(({ name }) => name).toSorted()).toEqual(['a.csv', 'b.csv', 'c.csv'])
    expect((await visible(dirs.archiveDir)).length).toBe(3)
    await waitFor(() => sources.notices.size === 0)
  })
})

/** Starts the sources as another process, over and over, and kills each at a random moment. */
async function killAgainAndAgain(options: object, isDone: () => boolean): Promise<number> {
  let kills = 0
  // On a busy machine a process starts so slowly that all is dropped before three were killed.
  while (!isDone() || kills < 3) {
    await using child = await startChild(script, { args: [JSON.stringify(options)] })
    await Promise.race([child.line(/accepted|ready/), child.ended()]).catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
    await child.kill('SIGKILL')
    kills++
  }
  return kills
}

describe('kill -9', () => {
  // Two file systems need a mount, and that needs root.
  it.each(canMount ? ['one file system', 'two file systems'] : ['one file system'])(
    'at any moment loses no file and accepts none twice: %s',
    async (variant) => {
      await using dirs = await folders()
      await using _disk = variant === 'two file systems' ? mountSmallDisk(dirs.dropDir, 64) : undefined
      const count = 300
      let dropped = 0
      const writing = (async () => {
        for (; dropped < count; dropped++) {
          const name = `f${String(dropped).padStart(4, '0')}.csv`
          if (dropped % 3 === 0) await drop(dirs.dropDir, `${name}.count`, `${dropped}\n`)
          await drop(dirs.dropDir, name, `content ${dropped}`)
          if (dropped % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 30))
        }
      })()
      const kills = await killAgainAndAgain(
        { stateDir: dirs.stateDir, dropDir: dirs.dropDir },
        () => dropped === count,
      )
      await writing
      await using sources = await startSources(dirs)
      await waitFor(async () => (await linesOf(dirs.stateDir)).length >= count)
      const lines = await linesOf(dirs.stateDir)
      expect(lines.map(({ name }) => name).toSorted()).toEqual(
        Array.from({ length: count }, (_, index) => `f${String(index).padStart(4, '0')}.csv`),
      )
      expect(new Set(lines.map(({ claim }) => claim)).size).toBe(count)
      expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index + 1))
      const archived = await visible(dirs.archiveDir)
      expect(archived.length).toBe(count)
      for (const { claim, name, bytes, expect: expected } of lines) {
        const fileName = archived.find((candidate) => candidate.startsWith(String(claim))) ?? ''
        const content = await readFile(join(dirs.archiveDir, fileName), 'utf8')
        const number = Number(String(name).slice(1, 5))
        expect(content).toBe(`content ${number}`)
        // What stood beside it when it was claimed is never lost.
        expect(expected).toEqual(number % 3 === 0 ? { count: number } : undefined)
        expect(content.length).toBe(bytes)
      }
      expect(kills).toBeGreaterThan(2)
      expect(sources.notices.size).toBe(0)
    },
  )
})

describe('two processes on one folder', () => {
  it('accept each file once; the second takes over', async () => {
    await using dirs = await folders()
    const args = [JSON.stringify({ stateDir: dirs.stateDir, dropDir: dirs.dropDir, rescanMs: 500 })]
    await using first = await startChild(script, { args })
    await first.line('ready')
    await using second = await startChild(script, { args })
    await second.line('standby')
    for (let index = 0; index < 20; index++) await drop(dirs.dropDir, `a${index}.csv`, 'a')
    await first.line('accepted')
    await first.kill('SIGKILL')
    for (let index = 0; index < 20; index++) await drop(dirs.dropDir, `b${index}.csv`, 'b')
    await second.line('ready')
    await waitFor(async () => (await linesOf(dirs.stateDir)).length >= 40)
    const names = (await linesOf(dirs.stateDir)).map(({ name }) => name)
    expect(new Set(names).size).toBe(40)
    expect(names.length).toBe(40)
    expect(second.stdout.indexOf('standby')).toBeLessThan(second.stdout.indexOf('ready'))
  })
})
