import { createHash, randomBytes } from 'node:crypto'
import { appendFile, readdir, readFile, rmdir, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdDecompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Archive, openArchive } from '../../src/sources/archive.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, type RunningSources, startSources } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

interface Opened extends AsyncDisposable {
  stateDir: string
  sources: RunningSources
  archive: Archive
  accept(name: string, content: string | Buffer): Promise<AcceptLine>
}

async function opened(): Promise<Opened> {
  const dir = await tempDir()
  const dropDir = dir.join('drop')
  const stateDir = dir.join('state', 'main')
  const files = [{ pattern: '*', mode: 'full' as const }]
  const sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir, { files })] })
  const archive = await openArchive({ dir: stateDir, manifest: sources.manifest })
  return {
    stateDir,
    sources,
    archive,
    accept: async (name, content) => {
      const before = sources.accepted.length
      await drop(dropDir, name, content)
      await sources.names(before + 1)
      return sources.accepted[before] as AcceptLine
    },
    [Symbol.asyncDispose]: async () => {
      await sources[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
}

const text = 'sku;price\n'.repeat(1000)
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('archiving', () => {
  it('compresses a file, notes its hash and finds it before and after', async () => {
    await using context = await opened()
    const { archive, sources } = context
    const accept = await context.accept('a.csv', text)
    const before = archive.pathOf(accept)
    expect(await readFile(before, 'utf8')).toBe(text)
    const line = await archive.archiveFile(accept)
    expect(line.sha256).toBe(sha256(text))
    expect(line.path).toMatch(/^\d{4}-\d\d-\d\d\/.*a\.csv\.zst$/)
    const after = archive.pathOf(accept)
    expect(zstdDecompressSync(await readFile(after)).toString()).toBe(text)
    expect((await stat(after)).size).toBeLessThanOrEqual(accept.bytes)
    expect(await exists(before)).toBe(false)
    expect(sources.manifest.archived(accept.claim)).toEqual(line)
    expect(await archive.archiveFile(accept)).toEqual(line)
  })

  it.each([
    ['already compressed', gzipSync(text)],
    ['tiny', Buffer.from('x')],
    ['empty', Buffer.alloc(0)],
    ['random', randomBytes(5000)],
  ])('keeps a file as it is that compression makes no smaller: %s', async (_, content) => {
    await using context = await opened()
    const accept = await context.accept('a.bin', content)
    const before = context.archive.pathOf(accept)
    const line = await context.archive.archiveFile(accept)
    expect(line.sha256).toBe(sha256(content))
    expect(line.path).toMatch(/a\.bin$/)
    expect(await readFile(context.archive.pathOf(accept))).toEqual(content)
    expect(await exists(before)).toBe(false)
  })

  it('archives only what was accepted, and keeps what grew until that is accepted, too', async () => {
    await using context = await opened()
    const { archive, sources } = context
    const accept = await context.accept('a.csv', text)
    const plain = archive.pathOf(accept)
    await appendFile(plain, 'more')
    const line = await archive.archiveFile(accept)
    expect(line.sha256).toBe(sha256(text))
    expect(await exists(plain)).toBe(true)
    await sources.names(2)
    expect(sources.accepted[1]).toMatchObject({ bytes: text.length + 4, grownFrom: accept.claim })
    await waitFor(async () => !(await exists(plain)))
    expect(await readFile(archive.pathOf(sources.accepted[1] as AcceptLine), 'utf8')).toBe(`${text}more`)
  })

  it.each([
    ['compressed', text],
    ['kept as it is', randomBytes(5000)],
    ['compressed already', gzipSync(text)],
  ])('needs no folder that stays while it is empty: a file that is %s', async (_, content) => {
    await using context = await opened()
    const { archive, stateDir } = context
    const accept = await context.accept('a.bin', content)
    const day = join(stateDir, 'archive', accept.acceptedAt.slice(0, 10))
    let isDone = false
    const archiving = archive.archiveFile(accept).finally(() => {
      isDone = true
    })
    const isRemoved = () =>
      rmdir(day).then(
        () => true,
        () => false,
      )
    // As retention does with an old day.
    while (!(isDone || (await isRemoved())));
    expect(await exists(join(stateDir, 'archive', (await archiving).path))).toBe(true)
  })

  it('can be aborted, leaves nothing half, and is done again', async () => {
    await using context = await opened()
    const { archive, stateDir } = context
    const accept = await context.accept('a.csv', text)
    await expect(archive.archiveFile(accept, AbortSignal.abort())).rejects.toThrow()
    expect(context.sources.manifest.archived(accept.claim)).toBeUndefined()
    expect((await readdir(join(stateDir, 'archive'))).filter((name) => name.startsWith('.'))).toEqual([])
    expect((await archive.archiveFile(accept)).sha256).toBe(sha256(text))
  })
})

describe('refused files', () => {
  it('go to failed/ with a report beside them, each once', async () => {
    await using context = await opened()
    const { archive, stateDir } = context
    const accept = await context.accept('a.csv', 'bad')
    const failedDir = join(stateDir, 'failed', 'products')
    const reportPath = await archive.failFile(accept, { reason: 'truncated' })
    await archive.failFile(accept, { reason: 'truncated' })
    expect(reportPath).toBe(join(failedDir, 'a.csv.report.json'))
    expect(await readdir(failedDir)).toEqual(['a.csv', 'a.csv.report.json'])
    expect(JSON.parse(await readFile(reportPath, 'utf8'))).toMatchObject({
      claim: accept.claim,
      sequence: 1,
      name: 'a.csv',
      reason: 'truncated',
    })
    // What is done to the copy does not reach the archive.
    await writeFile(join(failedDir, 'a.csv'), 'corrected')
    expect(await readFile(archive.pathOf(accept), 'utf8')).toBe('bad')
  })

  it('are copied in parts that count as progress, and the copying of a large one can be ended', async () => {
    await using context = await opened()
    const { archive, stateDir } = context
    const content = randomBytes(3 * 1024 * 1024 + 1)
    const accept = await context.accept('a.csv', content)
    let parts = 0
    const stop = new AbortController()
    const copying = { onPart: () => void parts++, signal: stop.signal }
    await archive.failFile(accept, {}, copying)
    expect(await readFile(join(stateDir, 'failed', 'products', 'a.csv'))).toEqual(content)
    // One step where the file system clones files.
    if (parts > 0) expect(parts).toBe(4)
    stop.abort()
    if (parts > 0) await expect(archive.failFile(accept, {}, copying)).rejects.toThrow('aborted')
  })

  describe('that are large', () => {
    const large = Buffer.alloc(65 * 2 ** 20, 'id;name\n')
    const failing = async (context: Opened) => {
      const accept = await context.accept('a.csv', large)
      await context.archive.failFile(accept, {}, { onPart: () => expect.fail('was copied') })
      return { accept, folder: join(context.stateDir, 'failed', 'products') }
    }

    it('are copied later, once, from wherever the archive has them', async () => {
      await using context = await opened()
      const { archive } = context
      const { accept, folder } = await failing(context)
      expect(await readdir(folder)).toEqual(['a.csv.report.json'])
      await archive.copyRefused(accept)
      expect((await stat(join(folder, 'a.csv'))).nlink).toBe(1)
      await writeFile(join(folder, 'a.csv'), 'corrected')
      await archive.copyRefused(accept)
      expect(await readFile(join(folder, 'a.csv'), 'utf8')).toBe('corrected')
      await unlink(join(folder, 'a.csv'))
      await archive.archiveFile(accept)
      await archive.copyRefused(accept)
      expect(zstdDecompressSync(await readFile(join(folder, 'a.csv.zst'))).equals(large)).toBe(true)
    })

    it('are left where somebody has dealt with the report, and where the copy was ended', async () => {
      await using context = await opened()
      const { accept, folder } = await failing(context)
      await expect(context.archive.copyRefused(accept, AbortSignal.abort())).rejects.toThrow('aborted')
      expect(await readdir(folder)).toEqual(['a.csv.report.json'])
      await unlink(join(folder, 'a.csv.report.json'))
      await context.archive.copyRefused(accept)
      expect(await readdir(folder)).toEqual([])
    })
  })

  it('of one name are kept apart', async () => {
    await using context = await opened()
    const { archive, stateDir } = context
    for (const content of ['bad', 'worse']) {
      await archive.failFile(await context.accept('a.csv', content), { reason: content })
    }
    const failedDir = join(stateDir, 'failed', 'products')
    const files = (await readdir(failedDir)).filter((name) => !name.endsWith('.json'))
    const contents = await Promise.all(files.map((name) => readFile(join(failedDir, name), 'utf8')))
    expect(contents.toSorted()).toEqual(['bad', 'worse'])
  })
})
