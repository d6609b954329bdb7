import { copyFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect } from 'vitest'
import type { CatalogName, ProductId } from '../../src/lib/brand.ts'
import type { MirrorReader } from '../../src/mirror/reader.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import type { Child } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { openRecordingSite, refusalOf, repeat } from './identity-site.ts'
import type { SeededRandom } from './random.ts'
import { openRecordingEndpoint, returningFile } from './recording-endpoint.ts'
import type { Site } from './site.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const quickHours = new URL('quick-hours.ts', import.meta.url).href
const keys = catalogKeys('main' as CatalogName)

repeat('a state folder from an older backup while Redis lives on', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint })
  const daemon = await site.start()
  await site.dropConsents({ 'granted@example.org': true, 'other@example.org': true })
  await site.dropVersion(1)
  await site.untilQuiet()
  await waitFor(() => endpoint.consents.size === 2)
  await site.run('backup', site.path('backup'))
  await site.dropVersion(2)
  await site.untilQuiet()
  await daemon.kill(random.pick(['SIGTERM', 'SIGKILL']))
  const isLost = random.chance(0.5)
  for (const name of await readdir(site.path('state/main')))
    if (isLost || name.startsWith('catalog.db')) await rm(site.path('state/main', name), { recursive: true })
  // By hand it is refused.
  for (const name of ['catalog.db', ...(isLost ? ['consents.db', 'manifest.ndjson', 'id'] : [])])
    await copyFile(site.path('backup/main', name), site.path('state/main', name)).catch(() => undefined)
  expect(await refusalOf(site)).toMatch(/catalog\.db is a copy of a mirror.*catalogd restore <folder>/s)

  await site.run('restore', '--yes', site.path('backup'))
  await site.start()
  await site.dropConsents({ 'granted@example.org': false })
  const version = random.between(1, 3)
  await site.dropVersion(version)
  await site.untilQuiet({ files: isLost ? 4 : 5 })
  endpoint.expectHeld(returningFile(version).documents)
  await waitFor(() => endpoint.consents.get('granted@example.org') === false)
})

repeat('two installations of one name on one Redis', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using oneEndpoint = await openRecordingEndpoint()
  await using otherEndpoint = await openRecordingEndpoint()
  await using one = await openRecordingSite({ redisUrl: redis.url, endpoint: oneEndpoint })
  await using other = await openRecordingSite({ redisUrl: redis.url, endpoint: otherEndpoint, catalog: 'B' })
  let winner = one
  if (random.chance(0.5)) {
    // Both at the same moment.
    const children = [await one.spawn(), await other.spawn()] as const
    // The other one may say so, too, before it ends.
    const isIn = ({ running, stderr }: Child) => running && stderr.includes('watching and importing')
    await waitFor(() => children.some(isIn) && children.some(({ running }) => !running), {
      what: () => children.map(({ stderr }) => stderr.slice(-2_000)).join('\n---\n'),
    })
    winner = isIn(children[0]) ? one : other
  } else await one.start()
  const loser = winner === one ? other : one
  await winner.dropVersion(1)
  await winner.untilQuiet()
  // It delivers for nobody, either: its endpoint is another.
  await loser.spawn('start', '--roles', 'deliver')
  for (const version of [2, 1, 3]) {
    await winner.dropVersion(version)
    if (version === 1) {
      const refusal = await refusalOf(loser)
      expect(refusal).toContain(`its state is in ${winner.path('state/main')} on `)
      expect(refusal).toContain('catalogd adopt')
      // Commands that would do the work themselves end, too.
      expect(await refusalOf(loser, 'pause')).toContain('catalogd adopt')
      await writeFile(loser.path('more.csv'), returningFile(1).text)
      expect(await refusalOf(loser, 'load', 'products', loser.path('more.csv'))).toContain('catalogd adopt')
    }
    await winner.untilQuiet()
  }
  winner.endpoint.expectHeld(winner.version(3))
  expect(loser.endpoint.calls).toEqual([])

  // As the message advises.
  const text = await readFile(loser.path('catalogd.yaml'), 'utf8')
  await writeFile(loser.path('catalogd.yaml'), text.replace('  main:', '  other:'))
  await loser.start()
  await loser.dropVersion(2)
  const { endpoint } = loser
  await waitFor(() => endpoint.products.size === loser.version(2).size, { what: 'all products of the other' })
  endpoint.expectHeld(loser.version(2))
  winner.endpoint.expectHeld(winner.version(3))
})

repeat('commands on a host that only delivers', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint })
  await using deliverer = await openRecordingSite({ redisUrl: redis.url, endpoint })
  await site.start({ args: ['start', '--roles', 'watch,import'] })
  const isFirst = random.chance(0.5)
  if (isFirst) await deliverer.spawn('start', '--roles', 'deliver')
  await site.dropVersion(1)
  const file = deliverer.path('more.csv')
  await writeFile(file, returningFile(1).text)
  for (const args of [['pause'], ['adopt', '--yes'], ['resync'], ['load', 'products', file]]) {
    const refusal = await refusalOf(deliverer, ...args)
    expect(refusal).toContain(`catalog main is in ${site.path('state/main')} on `)
    expect(refusal).toContain('Run the command there')
  }
  // Nothing was begun here that would be found later.
  const left = await readdir(deliverer.path('state/main')).catch(() => [])
  expect(left.filter((name) => name !== 'calls')).toEqual([])
  if (!isFirst) await deliverer.spawn('start', '--roles', 'deliver')
  await site.dropVersion(2)
  await site.untilQuiet()
  endpoint.expectHeld(site.version(2))
})

repeat('another address in the configuration', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using sandbox = await openRecordingEndpoint()
  await using account = await openRecordingEndpoint()
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint: sandbox })
  await using deliverer = await openRecordingSite({ redisUrl: redis.url, endpoint: account })
  const daemon = await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  await deliverer.spawn('start', '--roles', 'deliver')
  await site.dropVersion(2)
  await daemon.kill(random.pick(['SIGTERM', 'SIGKILL']))
  const text = await readFile(site.path('catalogd.yaml'), 'utf8')
  await writeFile(site.path('catalogd.yaml'), text.replace(sandbox.url, account.url))
  const refusal = await refusalOf(site)
  for (const named of [sandbox.url, account.url, 'Correct api.url', 'catalogd adopt'])
    expect(refusal).toContain(named)
  expect(account.calls).toEqual([])
  if (random.chance(0.5)) {
    await writeFile(site.path('catalogd.yaml'), text)
    await site.start()
    await site.untilQuiet()
    sandbox.expectHeld(returningFile(2).documents)
    expect(account.calls).toEqual([])
    return
  }
  await site.run('adopt', '--yes')
  const before = sandbox.calls.length
  await site.start()
  await site.dropVersion(3)
  await site.untilQuiet()
  account.expectHeld(returningFile(3).documents)
  expect(sandbox.calls.length).toBe(before)
})

repeat('a copied state folder beside the original', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint })
  await using copy = await openRecordingSite({ redisUrl: redis.url, endpoint })
  let daemon = await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  await daemon.kill(random.pick(['SIGTERM', 'SIGKILL']))
  await cp(site.path('state'), copy.path('state'), { recursive: true })
  await copy.dropVersion(3)
  for (const version of [2, 1, 2]) {
    if (random.chance(0.5)) expect(await refusalOf(copy)).toContain('is a copy of a mirror')
    daemon = await site.start()
    await site.dropVersion(version)
    const refusal = await refusalOf(copy)
    expect(refusal).toContain(`${copy.path('state/main/catalog.db')} is a copy of a mirror`)
    expect(refusal).toMatch(/catalogd restore <folder>.*catalogd adopt/s)
    await site.untilQuiet()
    endpoint.expectHeld(returningFile(version).documents, `version ${version}`)
    await daemon.kill('SIGKILL')
  }
  // What was dropped there waits.
  expect(await copy.accepted()).toHaveLength(1)
  expect(await readdir(copy.dropDir)).toHaveLength(1)
})

repeat('a dropped dead letter and a pause, when Redis is emptied', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint })
  const wipe = wiper(site, random, await site.start())
  await site.dropVersion(1)
  await site.untilQuiet()
  endpoint.refused.add('A00000')
  await site.dropVersion(2)
  await site.untilQuiet()
  // What is accepted after it decides that the refusal counts; until then it is sent again where Redis forgets it.
  await site.run('resync', 'A00001')
  await site.untilQuiet()
  await site.run('dead', 'drop', 'A00000')
  let before = endpoint.calls.length
  await wipe()
  await site.untilQuiet()
  expect(endpoint.calls.slice(before).filter(({ ids }) => ids.includes('A00000'))).toEqual([])
  expect(await site.work()).toMatchObject({ dead: 0, pending: 0 })
  endpoint.refused.clear()

  await site.run('pause')
  await site.untilPaused('operator')
  before = endpoint.calls.length
  await site.dropVersion(3)
  await wipe()
  await site.untilPaused('operator')
  await waitFor(async () => (await site.work()).applied === (await site.work()).last, { what: 'the import' })
  expect(endpoint.calls.length).toBe(before)
  await site.run('resume')
  await site.untilQuiet()
  endpoint.expectHeld(returningFile(3).documents)
})

repeat('resync, when Redis is emptied', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using endpoint = await openRecordingEndpoint()
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint })
  const wipe = wiper(site, random, await site.start())
  await site.dropVersion(1)
  await site.untilQuiet()
  endpoint.status = 503
  await site.run('resync')
  await wipe()
  endpoint.status = 200
  endpoint.products.clear()
  await site.untilQuiet()
  endpoint.expectHeld(returningFile(1).documents)
})

repeat('products that no feed names any more', async (random) => {
  await using redis = await startRedis({ aof: true })
  await using endpoint = await openRecordingEndpoint()
  const env: Record<string, string> = { NODE_OPTIONS: `--import ${quickHours}` }
  const feed = ', missing: { forget: 1d }'
  await using site = await openRecordingSite({ redisUrl: redis.url, endpoint, env, feed })
  const mirror = <T>(read: (mirror: MirrorReader) => T): T => {
    using opened = site.openMirror()
    return read(opened)
  }
  const isKnown = (id: string) =>
    mirror((opened) => [...opened.pages()].flat().some(({ productId }) => productId === id))
  const isNoted = (id: string) => mirror((opened) => opened.absentSince([id as ProductId]).size > 0)
  const [sent, unsent] = ['A00000', 'A00003'] as const
  const outOfStock = (...ids: string[]) => {
    const documents = new Map(site.version(1))
    for (const id of ids) documents.set(id, { ...documents.get(id), availability: 'OutOfStock' })
    return documents
  }
  const daemon = await site.start()
  await site.dropVersion(1)
  await site.untilQuiet()
  await site.dropVersion(1, [sent])
  await site.untilQuiet()
  endpoint.status = 503
  await site.dropVersion(1, [sent, unsent])
  await waitFor(() => isNoted(sent) && isNoted(unsent), { what: () => `both are noted:\n${site.logs()}` })
  await daemon.kill(random.pick(['SIGTERM', 'SIGKILL']))
  if (random.chance(0.5)) await site.redis.flushall()

  env.AHEAD_MS = `${25 * 3_600_000}`
  const wipe = wiper(site, random, await site.start())
  await waitFor(() => !isKnown(sent), { what: () => `the product that was sent goes:\n${site.logs()}` })
  expect(isKnown(unsent)).toBe(true)
  endpoint.expectHeld(outOfStock(sent))
  if (random.chance(0.5)) await wipe()
  const before = endpoint.calls.length
  endpoint.status = 200
  await waitFor(() => !isKnown(unsent), { what: () => `the other one goes, too:\n${site.logs()}` })
  endpoint.expectHeld(outOfStock(sent, unsent))
  await wipe()
  await site.untilQuiet()
  expect(endpoint.calls.slice(before).filter(({ ids }) => ids.includes(sent))).toEqual([])
  // As if they had never been there.
  await site.dropVersion(1)
  await site.untilQuiet()
  endpoint.expectHeld(site.version(1))
})

/** Empties Redis under the daemon, or while it is dead; then waits for the repair. */
function wiper(site: Site, random: SeededRandom, first: Child): () => Promise<void> {
  let daemon = first
  return async () => {
    const isDead = random.chance(0.5)
    if (isDead) await daemon.kill('SIGKILL')
    await site.redis.flushall()
    if (isDead) daemon = await site.start()
    await waitFor(async () => (await site.redis.hget(keys.guard, 'open')) === '1', { what: 'the repair' })
  }
}
