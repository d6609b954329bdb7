import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AcceptSequence, FeedName, ProductId } from '../../src/lib/brand.ts'
import { openArchive } from '../../src/sources/archive.ts'
import { putDecision, putFile } from '../../src/sources/inbox.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { feedNamed, linesOf, startSources } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const feed = 'products' as FeedName

async function folders() {
  const dir = await tempDir()
  const stateDir = dir.join('state', 'main')
  const feeds = [feedNamed('products', dir.join('drop'))]
  return {
    stateDir,
    inboxDir: join(stateDir, 'inbox'),
    feeds,
    join: dir.join,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

describe('inbox', () => {
  it('takes files under the claim that their sender knows, and leaves the original alone', async () => {
    await using dirs = await folders()
    const { inboxDir, stateDir } = dirs
    await writeFile(dirs.join('my products.csv'), 'content')
    await symlink(dirs.join('my products.csv'), dirs.join('link.csv'))
    const before = await putFile({
      inboxDir,
      feed,
      mode: 'full',
      path: dirs.join('my products.csv'),
      resend: true,
    })
    await using sources = await startSources(dirs)
    await sources.names(1)
    const after = await putFile({ inboxDir, feed, mode: 'delta', path: dirs.join('link.csv') })
    await sources.names(2)
    expect(sources.manifest.fileOf(before)).toMatchObject({
      name: 'my products.csv',
      mode: 'full',
      bytes: 7,
      feed: 'products',
      resend: true,
    })
    expect(sources.manifest.fileOf(after)).toMatchObject({ name: 'link.csv', mode: 'delta', bytes: 7 })
    expect(sources.manifest.fileOf(after)).not.toHaveProperty('resend')
    expect(await readFile(dirs.join('my products.csv'), 'utf8')).toBe('content')
    expect(await readdir(inboxDir)).toEqual([])
    expect((await readdir(join(stateDir, 'archive'))).length).toBe(2)
  })

  it('refuses to send what is no regular file', async () => {
    await using dirs = await folders()
    const { inboxDir } = dirs
    await mkdir(dirs.join('folder'))
    const put = (name: string) => putFile({ inboxDir, feed, mode: 'full', path: dirs.join(name) })
    await expect(put('folder')).rejects.toMatchObject({ code: 'file-unreadable' })
    await expect(put('nowhere')).rejects.toMatchObject({ code: 'file-unreadable' })
  })

  it('turns decisions into lines, in order, each request once', async () => {
    await using dirs = await folders()
    const { inboxDir, stateDir } = dirs
    await using sources = await startSources(dirs)
    await writeFile(dirs.join('a.csv'), 'a')
    const ids = ['x', 'y'] as ProductId[]
    const requests = [
      await putDecision({ inboxDir, decision: { decision: 'pause' } }),
      await putDecision({ inboxDir, decision: { decision: 'approve', import: 7 as AcceptSequence } }),
      await putDecision({ inboxDir, decision: { decision: 'resync', ids } }),
    ]
    await putFile({ inboxDir, feed, mode: 'full', path: dirs.join('a.csv') })
    await waitFor(() => sources.decisions.length === 3 && sources.accepted.length === 1)
    expect(sources.decisions.map(({ request }) => request)).toEqual(requests)
    expect(sources.decisions[1]).toMatchObject({
      kind: 'decision',
      decision: 'approve',
      import: 7,
      sequence: 2,
    })
    expect(sources.decisions[2]).toMatchObject({ decision: 'resync', ids: ['x', 'y'] })
    // A crash between the line and the removal of the file leaves the request in the inbox.
    await writeFile(join(inboxDir, `${requests[0]}~decision.json`), '{"decision":"pause"}')
    await waitFor(async () => (await readdir(inboxDir)).length === 0)
    expect((await linesOf(stateDir)).length).toBe(4)
    expect(sources.decisions.length).toBe(3)
  })

  it('accepts a claim once, whatever is left in the inbox', async () => {
    await using dirs = await folders()
    const { inboxDir, stateDir } = dirs
    await writeFile(dirs.join('a.csv'), 'a')
    const claim = await putFile({ inboxDir, feed, mode: 'full', path: dirs.join('a.csv') })
    const [fileName = ''] = await readdir(inboxDir)
    await link(join(inboxDir, fileName), dirs.join('again'))
    await using sources = await startSources(dirs)
    await sources.names(1)
    const archive = await openArchive({ dir: stateDir, manifest: sources.manifest })
    const line = await archive.archiveFile(sources.accepted[0] as AcceptLine)
    await link(dirs.join('again'), join(inboxDir, fileName))
    await waitFor(async () => (await readdir(inboxDir)).length === 0)
    expect((await linesOf(stateDir)).map((line) => `${line.kind} ${line.claim}`)).toEqual([
      `accept ${claim}`,
      `archive ${claim}`,
    ])
    expect(await readdir(join(stateDir, 'archive'), { recursive: true })).toEqual([
      dirname(line.path),
      line.path,
    ])
  })

  it('sets aside what is no decision, and ignores what is being written', async () => {
    await using dirs = await folders()
    const { inboxDir, stateDir } = dirs
    const request = await putDecision({ inboxDir, decision: { decision: 'resume' } })
    await writeFile(join(inboxDir, `${request}~decision.json`), '{"decision":"explode"}')
    await writeFile(join(inboxDir, '.half.tmp'), 'half')
    await using sources = await startSources(dirs)
    await waitFor(async () => (await readdir(inboxDir)).join() === '.half.tmp')
    await waitFor(async () => (await readdir(join(stateDir, 'failed'))).includes('inbox'))
    expect(sources.decisions).toEqual([])
  })
})
