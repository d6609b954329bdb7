import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, linesOf, startSources, visible } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

async function folders(label?: string) {
  const dir = await tempDir(label)
  const dropDir = dir.join('drop')
  await mkdir(dropDir)
  const stateDir = dir.join('state', 'main')
  const archiveDir = join(stateDir, 'archive')
  return {
    dropDir,
    stateDir,
    archiveDir,
    join: dir.join,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

/** Contents of the archive in accept order. */
async function contents(dirs: { stateDir: string; archiveDir: string }): Promise<string[]> {
  const names = await visible(dirs.archiveDir)
  const texts: string[] = []
  for (const { claim } of await linesOf(dirs.stateDir)) {
    const name = names.find((candidate) => candidate.startsWith(String(claim)))
    texts.push(name === undefined ? '(gone)' : await readFile(join(dirs.archiveDir, name), 'utf8'))
  }
  return texts
}

describe('accepting from a drop folder', () => {
  it('takes what is there at the start by time, then name, and what is dropped later', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    for (const [name, seconds] of [
      ['c.csv', 100],
      ['b.csv', 200],
      ['a.csv', 200],
      ['d.csv', 50],
    ] as const) {
      await writeFile(join(dropDir, name), name)
      await utimes(join(dropDir, name), seconds, seconds)
    }
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    expect(await sources.names(4)).toEqual(['d.csv', 'c.csv', 'a.csv', 'b.csv'])
    await drop(dropDir, 'later.csv', 'later')
    await sources.names(5)
    expect(sources.accepted.at(-1)).toMatchObject({
      kind: 'accept',
      sequence: 5,
      feed: 'products',
      mode: 'full',
      name: 'later.csv',
      bytes: 5,
    })
    expect(await readdir(dropDir)).toEqual([])
    expect(await contents(dirs)).toEqual(['d.csv', 'c.csv', 'a.csv', 'b.csv', 'later'])
    expect((await linesOf(stateDir)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5])
  })

  it('takes A, then B, then A again as three files', async () => {
    await using dirs = await folders()
    await using sources = await startSources({
      stateDir: dirs.stateDir,
      feeds: [feedNamed('products', dirs.dropDir)],
    })
    for (const [position, content] of ['A', 'B', 'A'].entries()) {
      await drop(dirs.dropDir, 'same.csv', content)
      await sources.names(position + 1)
    }
    expect(await contents(dirs)).toEqual(['A', 'B', 'A'])
    expect(new Set(sources.accepted.map(({ claim }) => claim)).size).toBe(3)
  })

  it('gives each file the mode of its pattern and leaves other names and temporary ones alone', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const files = [
      { pattern: '*_full.csv', mode: 'full' as const },
      { pattern: '*_delta.csv', mode: 'delta' as const },
    ]
    for (const name of [
      '.a_full.csv',
      'a_full.csv.tmp',
      'a_full.csv.PART',
      'a_full.csv.filepart',
      'readme.txt',
    ]) {
      await writeFile(join(dropDir, name), 'x')
    }
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir, { files })] })
    await drop(dropDir, 'x_full.csv', 'x')
    await drop(dropDir, 'y_delta.csv', 'y')
    await writeFile(join(dropDir, 'z_delta.csv.gz.tmp'), gzipSync('z'))
    await rename(join(dropDir, 'z_delta.csv.gz.tmp'), join(dropDir, 'z_delta.csv.gz'))
    await sources.names(3)
    const modes = Object.fromEntries(sources.accepted.map(({ name, mode }) => [name, mode]))
    expect(modes).toEqual({ 'x_full.csv': 'full', 'y_delta.csv': 'delta', 'z_delta.csv.gz': 'delta' })
    expect(sources.notices.get('ignored:products')).toContain(
      'readme.txt (matches none of: *_full.csv, *_delta.csv)',
    )
    expect(sources.notices.get('ignored:products')).not.toContain('a_full')
    expect((await readdir(dropDir)).length).toBe(5)
  })

  it('shares a folder among feeds', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const feeds = ['stock', 'price'].map((name) =>
      feedNamed(name, dropDir, { files: [{ pattern: `${name}*.csv`, mode: 'delta' }] }),
    )
    await writeFile(join(dropDir, 'stock1.csv'), '1')
    await writeFile(join(dropDir, 'price1.csv'), '2')
    await using sources = await startSources({ stateDir, feeds })
    await drop(dropDir, 'stock2.csv', '3')
    await sources.names(3)
    const byName = sources.accepted.map(({ feed, name }) => `${feed} ${name}`).sort()
    expect(byName).toEqual(['price price1.csv', 'stock stock1.csv', 'stock stock2.csv'])
    expect(sources.noticeHistory).toEqual([])
  })

  it('never takes or follows what is no regular file, and says so', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    await writeFile(dirs.join('secret.csv'), 'secret')
    await symlink(dirs.join('secret.csv'), join(dropDir, 'link.csv'))
    await symlink(dirs.join('nowhere'), join(dropDir, 'dangling.csv'))
    await mkdir(join(dropDir, 'folder.csv'))
    await writeFile(join(dropDir, 'folder.csv', 'inside.csv'), 'x')
    execFileSync('mkfifo', [join(dropDir, 'pipe.csv')])
    const server = createServer().listen(join(dropDir, 'socket.csv'))
    await once(server, 'listening')
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir)],
      rescanMs: 50,
    })
    await drop(dropDir, 'real.csv', 'real')
    expect(await sources.names(1)).toEqual(['real.csv'])
    await symlink(dirs.join('secret.csv'), join(dropDir, 'later.csv'))
    await waitFor(() => sources.notices.get('ignored:products')?.includes('and 1 more'))
    const told = sources.noticeHistory.join('\n')
    for (const text of [
      'folder.csv (a folder)',
      'pipe.csv (no regular file)',
      'link.csv (a symbolic link)',
    ]) {
      expect(told).toContain(text)
    }
    expect((await readdir(dropDir)).length).toBe(6)
    expect(await readFile(dirs.join('secret.csv'), 'utf8')).toBe('secret')
    server.close()
    await once(server, 'close')
    await rm(dropDir, { recursive: true })
    await waitFor(() => !sources.notices.has('ignored:products'))
    expect(sources.accepted.length).toBe(1)
  })

  it('takes names that are no UTF-8', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const path = (name: string) => Buffer.concat([Buffer.from(`${dropDir}/`), Buffer.from(name, 'latin1')])
    await writeFile(path('größe.csv'), '1')
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    await sources.names(1)
    await writeFile(path('.für.csv'), '2')
    await rename(path('.für.csv'), path('für.csv'))
    expect(await sources.names(2)).toEqual(['größe.csv', 'für.csv'])
  })

  it('creates a folder that is missing, and follows one that is replaced', async () => {
    await using dirs = await folders()
    const dropDir = dirs.join('new', 'drop')
    await using sources = await startSources({
      stateDir: dirs.stateDir,
      feeds: [feedNamed('products', dropDir)],
      rescanMs: 100,
    })
    await waitFor(() => stat(dropDir).catch(() => undefined))
    await drop(dropDir, 'a.csv', 'a')
    await sources.names(1)
    await rename(dropDir, dirs.join('old'))
    await drop(dropDir, 'b.csv', 'b')
    await sources.names(2)
    await drop(dropDir, 'c.csv', 'c')
    expect(await sources.names(3)).toEqual(['a.csv', 'b.csv', 'c.csv'])
  })

  it('finds files that no event announced', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    // A folder that becomes a link to another one is watched where it was.
    const links = dirs.join('links')
    await mkdir(join(links, 'a'), { recursive: true })
    await mkdir(join(links, 'b'))
    await rm(dropDir, { recursive: true })
    await symlink(join(links, 'a'), dropDir)
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir)],
      rescanMs: 200,
    })
    await drop(dropDir, 'first.csv', '1')
    await sources.names(1)
    await symlink(join(links, 'b'), dirs.join('new-link'))
    await rename(dirs.join('new-link'), dropDir)
    await drop(dropDir, 'second.csv', '2')
    expect(await sources.names(2)).toEqual(['first.csv', 'second.csv'])
  })

  it('takes thousands of small files, each once', async () => {
    await using dirs = await folders('many')
    const { dropDir, stateDir } = dirs
    const count = 5000
    const atStart = 4900
    const names = Array.from({ length: count }, (_, index) => `f${String(index).padStart(5, '0')}.csv`)
    for (const name of names.slice(0, atStart)) await writeFile(join(dropDir, name), name)
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    for (const name of names.slice(atStart)) await drop(dropDir, name, name)
    await sources.names(count)
    expect(sources.accepted.map(({ name }) => name).toSorted()).toEqual(names)
    expect(sources.accepted.slice(0, atStart).map(({ name }) => name)).toEqual(names.slice(0, atStart))
    expect(await readdir(dropDir)).toEqual([])
    expect((await linesOf(stateDir)).length).toBe(count)
  })
})

describe('settling', () => {
  it('waits until a file is no longer written, and takes it whole', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const settle = { kind: 'quiet', forMs: 400 } as const
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir, { settle })],
    })
    {
      await using file = await open(join(dropDir, 'slow.csv'), 'w')
      for (let part = 0; part < 12; part++) {
        await file.write('0123456789')
        await delay(80)
      }
    }
    await sources.names(1)
    expect(sources.accepted.map(({ bytes }) => bytes)).toEqual([120])
  })

  it('starts again when a file is replaced while it settles', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const settle = { kind: 'quiet', forMs: 300 } as const
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir, { settle })],
    })
    await drop(dropDir, 'x.csv', 'old')
    await delay(100)
    await drop(dropDir, 'x.csv', 'new')
    await sources.names(1)
    expect(await contents(dirs)).toEqual(['new'])
  })

  it('needs the marker, in any of its forms, and removes it', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const settle = { kind: 'marker', pattern: '*.done' } as const
    const files = [{ pattern: '*', mode: 'full' as const }]
    await writeFile(join(dropDir, 'early.csv'), 'early')
    await writeFile(join(dropDir, 'early.done'), '')
    await writeFile(join(dropDir, 'never.csv'), 'never')
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir, { settle, files })],
    })
    expect(await sources.names(1)).toEqual(['early.csv'])
    await writeFile(join(dropDir, 'a.csv'), 'a')
    await writeFile(join(dropDir, 'b.csv.gz'), gzipSync('b'))
    await writeFile(join(dropDir, 'b.done'), '')
    await writeFile(join(dropDir, 'a.csv.done'), '')
    await sources.names(3)
    await waitFor(async () => (await readdir(dropDir)).length === 1)
    expect(await readdir(dropDir)).toEqual(['never.csv'])
    expect(sources.accepted.map(({ name }) => name).toSorted()).toEqual(['a.csv', 'b.csv.gz', 'early.csv'])
    expect(sources.noticeHistory).toEqual([])
  })

  it('takes all files by one marker for all', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const settle = { kind: 'marker', pattern: '_SUCCESS' } as const
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir, { settle })],
    })
    for (const name of ['a.csv', 'b.csv']) await writeFile(join(dropDir, name), name)
    await writeFile(join(dropDir, '_SUCCESS'), '')
    expect(await sources.names(2)).toEqual(['a.csv', 'b.csv'])
    await waitFor(async () => (await readdir(dropDir)).length === 0)
  })

  it('does not trust a marker that is older than the file', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    const settle = { kind: 'marker', pattern: '*.done' } as const
    await writeFile(join(dropDir, 'a.csv.done'), '')
    await delay(20)
    await writeFile(join(dropDir, 'a.csv'), 'half')
    await using sources = await startSources({
      stateDir,
      feeds: [feedNamed('products', dropDir, { settle })],
      rescanMs: 50,
    })
    await writeFile(join(dropDir, 'b.csv'), 'b')
    await writeFile(join(dropDir, 'b.csv.done'), '')
    expect(await sources.names(1)).toEqual(['b.csv'])
    await unlink(join(dropDir, 'a.csv.done'))
    await writeFile(join(dropDir, 'a.csv.done'), '')
    expect(await sources.names(2)).toEqual(['b.csv', 'a.csv'])
  })
})

describe('a file that is written on after it was accepted', () => {
  it('is accepted again, whole, when it has settled', async () => {
    await using dirs = await folders()
    const { dropDir, stateDir } = dirs
    await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
    const file = await open(join(dropDir, 'growing.csv'), 'w')
    await file.write('one')
    await waitFor(() => sources.accepted.some(({ bytes }) => bytes > 0) || sources.accepted.length > 0)
    await file.write(' two')
    await waitFor(() => sources.accepted.some(({ bytes }) => bytes === 7))
    await file.write(' three')
    await file.close()
    const last = await waitFor(() => sources.accepted.find(({ bytes }) => bytes === 13))
    const [first] = sources.accepted
    expect(last.grownFrom).toBe(first?.claim)
    expect(last.name).toBe('growing.csv')
    const name = (await visible(dirs.archiveDir)).find((candidate) => candidate.startsWith(last.claim)) ?? ''
    expect(await readFile(join(dirs.archiveDir, name), 'utf8')).toBe('one two three')
    expect(sources.accepted.filter(({ bytes }) => bytes === 13).length).toBe(1)
  })
})
