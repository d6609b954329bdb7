import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { putFile } from '../../src/sources/inbox.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, startSources, visible } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** A name of exactly so many bytes, which is as long as common file systems allow. */
function nameOf(bytes: number, head: string): string {
  const room = bytes - Buffer.byteLength(`${head}.csv`)
  return `${head}${'ä'.repeat(room >> 1)}${'x'.repeat(room & 1)}.csv`
}

async function folders() {
  const dir = await tempDir('long-names')
  const dropDir = dir.join('drop')
  await mkdir(dropDir)
  return {
    dropDir,
    stateDir: dir.join('state', 'main'),
    join: dir.join,
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

/** No temporary name is longer than the name itself. */
async function dropLong(dropDir: string, name: string): Promise<void> {
  await writeFile(join(dropDir, '.new'), name)
  await rename(join(dropDir, '.new'), join(dropDir, name))
}

it('takes files of the longest names in their order, and keeps up none of their neighbours', async () => {
  await using dirs = await folders()
  const { dropDir, stateDir } = dirs
  await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
  for (let bytes = 247; bytes <= 255; bytes++) {
    const name = nameOf(bytes, String(bytes))
    expect(Buffer.byteLength(name)).toBe(bytes)
    await dropLong(dropDir, name)
    await sources.names(bytes - 246)
  }
  await drop(dropDir, 'short.csv', 'short')
  const heads = (await sources.names(10)).map((name) => name.slice(0, 3))
  expect(heads).toEqual(['247', '248', '249', '250', '251', '252', '253', '254', '255', 'sho'])
  expect(sources.noticeHistory).toEqual([])
  expect(await visible(dropDir)).toEqual([])
})

it('refuses one whose name leaves no room for the side file that it has to have, and takes the others', async () => {
  await using dirs = await folders()
  const { dropDir, stateDir } = dirs
  const long = nameOf(255, 'long')
  await dropLong(dropDir, long)
  await writeFile(join(dropDir, 'short.csv'), 'a\n1\n')
  await writeFile(join(dropDir, 'short.csv.count'), '1\n')
  const feed = feedNamed('products', dropDir, { verify: 'count' })
  await using sources = await startSources({ stateDir, feeds: [feed] })
  expect(await sources.names(1)).toEqual(['short.csv'])
  const notice = await waitFor(() => sources.notices.get('unreadable:products'))
  expect(notice).toContain(long)
  expect(notice).toContain('no room for that of its side file (.count)')
  expect(notice).toContain('shorter names')
  expect(await readdir(dropDir)).toEqual([long])
})

it('takes one that a command hands in', async () => {
  await using dirs = await folders()
  const { dropDir, stateDir } = dirs
  const path = dirs.join(nameOf(255, 'load'))
  await writeFile(path, 'loaded')
  const inboxDir = join(stateDir, 'inbox')
  await putFile({ inboxDir, feed: 'products' as FeedName, mode: 'full', path })
  await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir)] })
  const [name] = await sources.names(1)
  expect(name).toMatch(/^loadä+\.csv$/)
})
