import {
  appendFile,
  open as openFile,
  readdir,
  readFile,
  rename,
  truncate,
  writeFile,
} from 'node:fs/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AcceptSequence, FeedName, ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { SourceError } from '../../src/lib/errors.ts'
import { openManifest, type PlacedLine } from '../../src/sources/manifest.ts'
import { ManifestIndex } from '../../src/sources/manifest-index.ts'
import { KeptManifests, readManifest } from '../../src/sources/manifest-reader.ts'
import { type NewLine, readManifestLines } from '../../src/sources/manifest-reading.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const at = '2026-11-20T10:00:00.000Z'
const open = (dir: string) => openManifest({ dir, clock: systemClock })

function accept(claim: string, feed = 'products'): NewLine {
  return {
    kind: 'accept',
    claim,
    feed: feed as FeedName,
    mode: 'full',
    name: `${claim}.csv`,
    bytes: 3,
    asOf: at,
    acceptedAt: at,
  }
}

const pause: NewLine = { kind: 'decision', request: 'r1', at, decision: 'pause' }
const archive = (claim: string): NewLine => ({
  kind: 'archive',
  claim,
  path: `x/${claim}`,
  sha256: 'a'.repeat(64),
})

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('manifest', () => {
  it('is followed by another reader of its file: what stands there is read, what comes is told once it counts', async () => {
    await using dir = await tempDir()
    await using manifest = await open(dir.path)
    await manifest.append([accept('a'), pause])
    const told: PlacedLine[] = []
    const { path, end } = manifest.follow((...line) => told.push(line))
    await manifest.append([accept('b')])
    await using file = await openFile(path)
    const follower = new ManifestIndex(file)
    await readManifestLines({ fd: file.fd, path }, follower, undefined, end)
    expect(follower.nextSequence).toBe(3)
    await manifest.append([accept('c'), archive('b')])
    for (const line of told) follower.add(...line)
    expect([...follower.after(0)]).toEqual([...manifest.after(0)])
    expect(follower.archived('b')).toEqual(manifest.archived('b'))
  })

  it('numbers files and decisions in one count and finds everything again after it is opened anew', async () => {
    await using dir = await tempDir()
    {
      await using manifest = await open(dir.join('main'))
      await manifest.append([accept('c1'), pause, accept('c2', 'stock')])
      const first = 1 as AcceptSequence
      await manifest.append([archive('c1'), { kind: 'outcome', of: first, outcome: 'held', at }])
      await manifest.append([{ kind: 'outcome', of: first, outcome: 'imported', at }])
      const ids = ['a', 'b'] as ProductId[]
      await manifest.append([{ kind: 'decision', request: 'r2', at, decision: 'resync', ids }])
    }
    await using manifest = await open(dir.join('main'))
    expect(manifest.nextSequence).toBe(5)
    expect([...manifest.files()].map(({ claim, sequence }) => [claim, sequence])).toEqual([
      ['c1', 1],
      ['c2', 3],
    ])
    expect([...manifest.files('stock' as FeedName)].map(({ claim }) => claim)).toEqual(['c2'])
    expect([...manifest.files('nobody' as FeedName)]).toEqual([])
    expect(manifest.newest('stock' as FeedName)?.claim).toBe('c2')
    expect(manifest.newest('products' as FeedName)?.claim).toBe('c1')
    expect(manifest.newest('nobody' as FeedName)).toBeUndefined()
    expect([...manifest.unfinished()].map(({ claim }) => claim)).toEqual(['c2'])
    expect(manifest.fileOf('c2')?.sequence).toBe(3)
    expect(manifest.fileOf('c3')).toBeUndefined()
    expect(manifest.outcome(1 as AcceptSequence)?.outcome).toBe('imported')
    expect(manifest.archived('c1')?.path).toBe('x/c1')
    expect(manifest.archived('c2')).toBeUndefined()
    expect(manifest.decisions().map(({ request }) => request)).toEqual(['r1', 'r2'])
    const linesAfter = (of?: FeedName | '*') =>
      [...manifest.after(1 as AcceptSequence, of)].map(({ kind, sequence }) => [kind, sequence])
    const decisions = [
      ['decision', 2],
      ['decision', 4],
    ]
    expect(linesAfter()).toEqual([
      ['decision', 2],
      ['accept', 3],
      ['decision', 4],
    ])
    expect(linesAfter('stock' as FeedName)).toEqual(linesAfter())
    expect(linesAfter('products' as FeedName)).toEqual(decisions)
    expect(linesAfter('*')).toEqual(decisions)
    expect([...manifest.unarchived()]).toEqual([])
    await manifest.append([{ kind: 'outcome', of: 3 as AcceptSequence, outcome: 'held', at }])
    expect([...manifest.unarchived()]).toEqual([3])
  })

  it('writes a claim and a request once', async () => {
    await using dir = await tempDir()
    await using manifest = await open(dir.path)
    const [first, second] = await Promise.all([
      manifest.append([accept('c1'), accept('c1'), pause]),
      manifest.append([pause, accept('c1'), accept('c2')]),
    ])
    expect(first.length).toBe(2)
    expect(second.map((line) => line.kind === 'accept' && line.sequence)).toEqual([3])
    expect(await manifest.append([accept('c2'), pause])).toEqual([])
    expect((await readFile(dir.join('manifest.ndjson'), 'utf8')).split('\n').length).toBe(4)
  })

  it('keeps apart which of the appends that share a write is wrong', async () => {
    await using dir = await tempDir()
    await using manifest = await open(dir.path)
    const [bad, good] = await Promise.allSettled([
      manifest.append([archive('nobody')]),
      manifest.append([accept('c1')]),
    ])
    expect(bad.status).toBe('rejected')
    expect(good.status).toBe('fulfilled')
    expect(manifest.nextSequence).toBe(2)
  })

  it('moves a torn last line aside and goes on, wherever the line was cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), async (share) => {
        await using dir = await tempDir()
        const file = dir.join('manifest.ndjson')
        {
          await using manifest = await open(dir.path)
          await manifest.append([accept('c1')])
          await manifest.append([accept('c2')])
        }
        const whole = await readFile(file, 'utf8')
        const firstEnd = whole.indexOf('\n') + 1
        const cut = firstEnd + Math.floor(share * (whole.length - firstEnd - 1))
        await truncate(file, cut)
        await using manifest = await open(dir.path)
        expect([...manifest.files()].map(({ claim }) => claim)).toEqual(['c1'])
        await manifest.append([accept('c3')])
        const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1)
        expect(lines.map((line) => JSON.parse(line).claim)).toEqual(['c1', 'c3'])
        const aside = (await readdir(dir.path)).filter((name) => name.includes('.torn-'))
        expect(aside.length).toBe(cut > firstEnd ? 1 : 0)
      }),
      { numRuns: 15 },
    )
  })

  it('treats a tail of zeros as torn', async () => {
    await using dir = await tempDir()
    const file = dir.join('manifest.ndjson')
    {
      await using manifest = await open(dir.path)
      await manifest.append([accept('c1')])
    }
    await appendFile(file, Buffer.alloc(5000))
    await using manifest = await open(dir.path)
    expect(manifest.nextSequence).toBe(2)
  })

  it('names file and line of a bad line that others follow', async () => {
    await using dir = await tempDir()
    const file = dir.join('manifest.ndjson')
    {
      await using manifest = await open(dir.path)
      await manifest.append([accept('c1'), accept('c2'), accept('c3')])
    }
    const lines = (await readFile(file, 'utf8')).split('\n')
    for (const bad of ['{"kind":"accept"}', 'rubbish', lines[0] ?? '']) {
      await writeFile(file, [lines[0], bad, lines[2], ''].join('\n'))
      const error = await failure(open(dir.path))
      expect(error).toBeInstanceOf(SourceError)
      expect((error as SourceError).message).toContain(`${file}:2 `)
      expect(await failure(readManifest(dir.path))).toBeInstanceOf(SourceError)
    }
  })

  it.each([
    [
      'another kind',
      '{"kind":"backup","sequence":2}',
      /:2 is a line that this version of catalogd does not know/,
    ],
    [
      'another decision',
      `{"kind":"decision","sequence":2,"request":"r","at":"${at}","decision":"forget"}`,
      /:2 is a line that this version/,
    ],
    ['rubbish', 'rubbish', /:2 is not a line of a manifest/],
  ])('refuses a whole last line that is %s, and leaves it where it is', async (_, line, words) => {
    await using dir = await tempDir()
    const file = dir.join('manifest.ndjson')
    {
      await using manifest = await open(dir.path)
      await manifest.append([accept('c1')])
    }
    await appendFile(file, `${line}\n`)
    const before = await readFile(file, 'utf8')
    for (const opening of [open, readManifest]) {
      const error = await failure(opening(dir.path))
      expect(error).toBeInstanceOf(SourceError)
      expect((error as SourceError).message).toMatch(words)
      expect((error as SourceError).message).toContain(file)
    }
    expect(await readFile(file, 'utf8')).toBe(before)
    expect(await readdir(dir.path)).toEqual(['manifest.ndjson'])
  })

  it('says of a line of a newer version what to do', async () => {
    await using dir = await tempDir()
    await writeFile(dir.join('manifest.ndjson'), '{"kind":"version","of":2}\n')
    expect(await failure(open(dir.path))).toMatchObject({ hint: expect.stringContaining('newer version') })
  })

  it('is read by others while it is written', async () => {
    await using dir = await tempDir()
    using reader = await readManifest(dir.join('main'))
    expect([...reader.after(0)]).toEqual([])
    await using manifest = await open(dir.join('main'))
    await manifest.append([accept('c1')])
    await reader.refresh()
    expect(reader.fileOf('c1')?.sequence).toBe(1)
    await manifest.append([
      accept('c2'),
      { kind: 'outcome', of: 1 as AcceptSequence, outcome: 'imported', at },
    ])
    await appendFile(dir.join('main', 'manifest.ndjson'), '{"kind":"acc')
    await reader.refresh()
    expect(reader.nextSequence).toBe(3)
    expect(reader.outcome(1 as AcceptSequence)?.outcome).toBe('imported')
  })

  it('is read on by who reads it often, and anew where it was restored', async () => {
    await using dir = await tempDir()
    using kept = new KeptManifests()
    const sequences = async () => {
      using reader = await kept.read(dir.path)
      return [...reader.files()].map(({ claim }) => claim)
    }
    expect(await sequences()).toEqual([])
    await using manifest = await open(dir.path)
    await manifest.append([accept('c1')])
    expect(await Promise.all([sequences(), sequences()])).toEqual([['c1'], ['c1']])
    await manifest.append([accept('c2')])
    expect(await sequences()).toEqual(['c1', 'c2'])
    const file = dir.join('manifest.ndjson')
    await writeFile(`${file}.restored`, (await readFile(file, 'utf8')).replace('"c1"', '"c9"'))
    await rename(`${file}.restored`, file)
    expect(await sequences()).toEqual(['c9', 'c2'])
  })

  it('refuses to write after another writer has', async () => {
    await using dir = await tempDir()
    await using first = await open(dir.path)
    await first.append([accept('c1')])
    await using second = await open(dir.path)
    await second.append([accept('c2')])
    await expect(first.append([accept('c3')])).rejects.toThrow('Another process')
    await second.append([accept('c4')])
    expect([...second.files()].map(({ claim }) => claim)).toEqual(['c1', 'c2', 'c4'])
  })

  it('holds many files', async () => {
    await using dir = await tempDir()
    await using manifest = await open(dir.path)
    const count = 3000
    for (let from = 0; from < count; from += 500) {
      await manifest.append(Array.from({ length: 500 }, (_, index) => accept(`claim-${from + index}`)))
    }
    for (const index of [0, 1, 1499, 2999])
      expect(manifest.fileOf(`claim-${index}`)?.sequence).toBe(index + 1)
    expect(manifest.fileOf(`claim-${count}`)).toBeUndefined()
    expect([...manifest.files()].length).toBe(count)
  })
})
