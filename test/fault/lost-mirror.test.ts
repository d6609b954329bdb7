import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { type OldProduct, type Standing, writeOldStore } from '../upgrade/old-store.ts'
import { openRecordingSite, refusalOf, repeat } from './identity-site.ts'
import type { SeededRandom } from './random.ts'
import { openRecordingEndpoint, returningFile } from './recording-endpoint.ts'
import type { Site } from './site.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const times = 2
const mirrorFile = 'state/main/catalog.db'

repeat('the mirror is deleted', async (random) => {
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ endpoint })
  let daemon = await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  await site.run('backup', site.path('backup'))
  await site.dropVersion(2)
  await site.untilQuiet()
  if (random.chance(0.5)) await daemon.kill(random.pick(['SIGTERM', 'SIGKILL']))
  for (const end of ['', '-wal', '-shm']) await rm(site.path(mirrorFile + end), { force: true })
  // One that runs notices, and ends.
  const { code } = await daemon.ended()
  if (code) expect(daemon.stderr).toMatch(/was moved, removed or replaced|catalogd restore/)
  expect(await refusalOf(site)).toMatch(/catalog\.db is missing.*catalogd restore <folder>/s)
  expect(existsSync(site.path(mirrorFile))).toBe(false)
  const isArchiveWhole = random.chance(0.7)
  const from = random.chance(0.5) ? [site.path('backup')] : []
  if (!isArchiveWhole) {
    for (const day of await readdir(site.path('state/main/archive')))
      await rm(site.path('state/main/archive', day), { recursive: true })
    const refusal = await refusalOf(site, 'restore', '--yes', ...from)
    expect(refusal).toMatch(/no longer in .*archive: import .*_full\.csv/)
    expect(refusal).toContain('--skip-missing-files')
    expect(existsSync(site.path(mirrorFile))).toBe(false)
  }
  await site.run('restore', '--yes', ...(isArchiveWhole ? [] : ['--skip-missing-files']), ...from)
  daemon = await site.start()
  if (!isArchiveWhole) await site.dropVersion(2)
  await site.untilQuiet()
  endpoint.expectHeld(returningFile(2).documents)
  await site.dropVersion(1)
  await site.untilQuiet()
  endpoint.expectHeld(returningFile(1).documents)
})

repeat('pages of the mirror are flipped', async (random) => {
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ endpoint })
  let daemon = await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  await site.run('backup', site.path('backup'))
  const ends = { refused: 0, unnoticed: 0 }
  for (let flip = 1; flip <= times; flip += 1) {
    await daemon.kill('SIGTERM')
    await flipBytes(site.path(mirrorFile), random)
    daemon = await site.spawn()
    await site.dropVersion(flip + 1)
    await waitFor(async () => !daemon.running || (await site.isQuiet()), {
      withinMs: 240_000,
      what: () => `quiet or ended:\n${site.logs()}`,
    })
    if (daemon.running) ends.unnoticed += 1
    else {
      ends.refused += 1
      expect(daemon.stderr).toMatch(/catalog\.db[\s\S]*catalogd restore <folder>/)
      await site.run('restore', '--yes', site.path('backup'))
      daemon = await site.start()
      await site.untilQuiet()
    }
    endpoint.expectHeld(returningFile(flip + 1).documents, `flip ${flip}, ${JSON.stringify(ends)}`)
  }
  console.log(`pages flipped: ${JSON.stringify(ends)}`)
})

async function flipBytes(file: string, random: SeededRandom): Promise<void> {
  const { size } = await stat(file)
  const at = random.between(0, size - 1)
  await using handle = await open(file, 'r+')
  const length = Math.min(random.between(1, 2_000), size - at)
  const bytes = Buffer.from(Array.from({ length }, () => random.between(0, 255)))
  await handle.write(bytes, 0, length, at)
}

repeat('backup is killed at any moment, and begun again', async (random) => {
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ endpoint, products: 3_000 })
  await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  const isBegun = (folder: string) => existsSync(folder) || existsSync(`${folder}.unfinished`)
  const begun = site.run('backup', site.path('first'))
  await waitFor(() => isBegun(site.path('first')))
  const lastsMs = await durationOf(() => begun)
  for (let kill = 1; kill <= times; kill += 1) {
    const folder = site.path(`backup-${kill}`)
    await site.dropVersion(kill + 1)
    const moment = { isBegun: () => isBegun(folder), afterMs: random.next() * lastsMs }
    await killAt({ site, ...moment }, 'backup', folder)
    if (!existsSync(folder)) await site.run('backup', folder)
    const text = await readFile(`${folder}/backup.json`, 'utf8')
    const [{ files }] = JSON.parse(text).catalogs
    for (const { name, sha256 } of files) {
      const found = createHash('sha256').update(await readFile(`${folder}/main/${name}`))
      expect([kill, name, found.digest('hex')]).toEqual([kill, name, sha256])
    }
    using database = new DatabaseSync(`${folder}/main/catalog.db`, { readOnly: true })
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    expect(database.prepare('SELECT count(*) AS count FROM products').get()).toEqual({ count: 3_000 })
    await site.untilQuiet()
    endpoint.expectHeld(site.version(kill + 1))
  }
  expect((await readdir(site.path())).filter((name) => name.endsWith('.unfinished'))).toEqual([])
})

repeat('restore is killed at any moment, and begun again', async (random) => {
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ endpoint })
  let daemon = await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  await site.run('backup', site.path('backup'))
  let lastsMs = 1_000
  for (let kill = 1; kill <= times; kill += 1) {
    await site.dropVersion(kill + 1)
    await site.untilQuiet()
    await daemon.kill(random.pick(['SIGTERM', 'SIGKILL']))
    const args = ['restore', '--yes', site.path('backup')]
    await killAt({ site, afterMs: random.next() * lastsMs }, ...args)
    lastsMs = await durationOf(() => site.run(...args))
    daemon = await site.start()
    await site.untilQuiet()
    endpoint.expectHeld(site.version(kill + 1), `kill ${kill}`)
  }
})

const standings: readonly Standing[] = ['acknowledged', 'urgent', 'claimed', 'echoed', 'deferred', 'new']

repeat('the upgrade is killed at any moment, and begun again', async (random) => {
  for (let kill = 1; kill <= times; kill += 1) {
    await using redis = await startRedis({ aof: true })
    await using endpoint = await openRecordingEndpoint()
    await using site = await openRecordingSite({ redisUrl: redis.url, endpoint })
    const [old, newest] = [site.version(1), site.version(2)]
    const products = [...newest].map(([id, document], place): OldProduct => {
      return {
        id,
        document: { ...document },
        standing: standings[place % standings.length] ?? 'acknowledged',
      }
    })
    for (const { id, standing } of products) {
      const taken = (standing === 'acknowledged' ? newest : old).get(id)
      if (taken && standing !== 'new') endpoint.products.set(id, taken)
    }
    await mkdir(site.path('state/main'), { recursive: true })
    await site.redis.connect()
    await writeOldStore(site.redis, site.path('state/main'), products)
    await site.redis.del('catalogd:{main}:pause', 'catalogd:{main}:held')
    await site.redis.hset('catalogd:{main}:applied', 'products', '4')
    const first = await site.spawn()
    await waitFor(() => first.stderr.includes('moving the catalog') || !first.running)
    await delay(random.next() * 300)
    await first.kill('SIGKILL')
    await site.start()
    await site.untilQuiet({ files: 3 })
    endpoint.expectHeld(newest, `kill ${kill}`)
    await site.dropVersion(3)
    await site.untilQuiet({ files: 4 })
    endpoint.expectHeld(site.version(3), `kill ${kill}`)
  }
})

interface Moment {
  site: Site
  /** From when on the time counts; absent: from the start of the process. */
  isBegun?: () => boolean
  afterMs: number
}

async function killAt({ site, isBegun = () => true, afterMs }: Moment, ...args: string[]): Promise<void> {
  const child = await site.spawn(...args)
  await waitFor(() => !child.running || isBegun())
  await Promise.race([delay(afterMs), child.ended()])
  await child.kill('SIGKILL')
}

async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
