import { appendFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CatalogName, FeedName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Acceptor } from '../../src/sources/acceptor.ts'
import { DropAcceptor } from '../../src/sources/drop-acceptor.ts'
import { openManifest } from '../../src/sources/manifest.ts'
import type { NewLine } from '../../src/sources/manifest-reading.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** Accepts one file while, between its claim and its line, another process writes the manifest. */
async function acceptWhileAnotherWrites(write: (lines: readonly NewLine[]) => object) {
  await using dir = await tempDir()
  const [stateDir, dropDir] = [dir.join('state'), dir.join('drop')]
  await mkdir(dropDir)
  await mkdir(join(stateDir, 'archive'), { recursive: true })
  await writeFile(join(dropDir, 'a.csv'), 'one')
  const told: unknown[] = []
  await using manifest = await openManifest({
    dir: stateDir,
    clock: systemClock,
    onForeign: ({ code }) => told.push(code),
  })
  const append = manifest.append.bind(manifest)
  manifest.append = async (lines) => {
    await appendFile(join(stateDir, 'manifest.ndjson'), `${JSON.stringify(write(lines))}\n`)
    return append(lines)
  }
  const acceptor = new Acceptor({ dir: stateDir, manifest, clock: systemClock })
  const dropAcceptor = new DropAcceptor({ acceptor, catalog: 'main' as CatalogName, clock: systemClock })
  const { size, mtimeMs, ino: inode } = await stat(join(dropDir, 'a.csv'))
  const place = {
    feed: 'products' as FeedName,
    dropDir,
    takesChanged: true,
    keepCopiedMs: 0,
    verify: undefined,
  }
  const candidate = { raw: 'a.csv', mode: 'full' as const, size, mtimeMs, inode }
  await expect(dropAcceptor.accept(place, [candidate])).rejects.toMatchObject({ code: 'manifest-foreign' })
  expect(told).toEqual(['manifest-foreign'])
  const names = await readdir(dropDir)
  const archived = await readdir(join(stateDir, 'archive'))
  const [text] = await Promise.all(archived.map((name) => readFile(join(stateDir, 'archive', name), 'utf8')))
  return { names, text }
}

it('a file that another process gave its line meanwhile stays where that process expects it', async () => {
  const kept = await acceptWhileAnotherWrites(([line]) => ({ sequence: 1, ...line }))
  expect(kept).toEqual({ names: [], text: 'one' })
})

it('a file that another process knows nothing of goes back', async () => {
  const decision = {
    kind: 'decision',
    sequence: 1,
    request: 'r',
    at: '2026-01-01T00:00:00Z',
    decision: 'pause',
  }
  expect(await acceptWhileAnotherWrites(() => decision)).toEqual({ names: ['a.csv'], text: undefined })
})
