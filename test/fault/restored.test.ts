import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { productsToken, Site } from './site.ts'
import { expectedDocuments, versionFile } from './versions.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const products = 2_000
const timeout = 600_000
// What may take effect late ends soon, so that starting over does not wait for minutes.
const delivery = '{ callBytes: 100KB, concurrency: 4, timeout: 1s, horizon: 1s, callsPerSecond: 200 }'

async function drop(site: Site, version: number): Promise<void> {
  await site.drop(`v${String(version).padStart(3, '0')}_full.csv`, versionFile(version, products))
}

/** What the endpoint should hold when this file came right after that one. */
function expectedAfter(version: number, before: number): ReturnType<typeof expectedDocuments> {
  const first = expectedDocuments(before, products)
  const named = versionFile(version, products)
  const expected = expectedDocuments(version, products)
  for (const [id, document] of first)
    if (!named.includes(`\n${id},`)) expected.set(id, { ...document, availability: 'OutOfStock' })
  return expected
}

/** Runs a command that is refused; answers what it says. */
async function refused(site: Site, ...args: string[]): Promise<string> {
  const child = await site.spawn(...args)
  const { code } = await child.ended()
  expect(code, child.stderr).not.toBe(0)
  return child.stdout + child.stderr
}

test.concurrent('an older backup is restored while Redis lives on: what was accepted since arrives, and what comes then', {
  timeout,
}, async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url, delivery })
  const daemon = await site.start()
  await drop(site, 1)
  await site.untilQuiet()
  await site.run('backup', site.path('backup'))
  await drop(site, 2)
  await drop(site, 3)
  await site.untilQuiet()
  expect(await refused(site, 'restore', '--yes', site.path('backup'))).toContain('Stop it')
  await daemon.kill('SIGTERM')

  // The manifest is there: the files since the backup are imported again.
  await site.run('restore', '--yes', site.path('backup'))
  const second = await site.start()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(3, products))
  await second.kill('SIGKILL')

  // The whole folder is lost: what comes gets numbers that were applied already.
  await rm(site.path('state/main'), { recursive: true })
  expect(await refused(site, 'restore', site.path('backup'))).toContain('--yes')
  await site.run('restore', '--yes', site.path('backup'))
  await site.start()
  await drop(site, 4)
  await site.untilQuiet({ files: 2 })
  await site.expectDocuments(expectedAfter(4, 1))
})

test.concurrent('a state folder that was copied back from an earlier day is refused until it is adopted', {
  timeout,
}, async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url, delivery })
  const daemon = await site.start()
  await drop(site, 1)
  await site.untilQuiet()
  await daemon.kill('SIGTERM')
  await cp(site.path('state'), site.path('saved'), { recursive: true })
  const second = await site.start()
  await drop(site, 2)
  await site.untilQuiet()
  await second.kill('SIGTERM')

  await rm(site.path('state'), { recursive: true })
  await cp(site.path('saved'), site.path('state'), { recursive: true })
  expect(await refused(site, 'start')).toContain('copy of a mirror')
  expect(await refused(site, 'status')).toContain('is a copy')
  const said = await site.run('adopt', '--yes')
  expect(said).toContain('is a copy')
  expect(said).toContain(`2,000 products will be sent to ${site.sandbox.url}`)
  const third = await site.start()
  await drop(site, 3)
  await site.untilQuiet({ files: 2 })
  await site.expectDocuments(expectedAfter(3, 1))
  await third.kill('SIGTERM')
  expect(await site.run('adopt')).toContain('nothing to adopt')
})

test.concurrent('a copied state folder beside the original: one of both works, the other is refused', {
  timeout,
}, async () => {
  await using redis = await startRedis({ aof: true })
  await using sandbox = await openSandbox({ port: 0, productsToken, latencyMs: 0 })
  await using site = await Site.open({ redisUrl: redis.url, delivery, sandbox })
  const daemon = await site.start()
  await drop(site, 1)
  await site.untilQuiet()
  await daemon.kill('SIGTERM')
  await using copy = await Site.open({ redisUrl: redis.url, delivery, sandbox })
  await cp(site.path('state'), copy.path('state'), { recursive: true })

  const original = await site.start()
  expect(await refused(copy, 'start')).toContain('copy of a mirror')
  await drop(site, 2)
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, products))

  // The operator decides for the copy: it waits until the original has ended, which then must not come back.
  expect(await copy.run('adopt', '--yes')).toContain(site.path('state/main'))
  await copy.start()
  await drop(copy, 3)
  await copy.untilAccepted(2)
  await drop(site, 4)
  await site.untilQuiet()
  await site.expectDocuments(expectedAfter(4, 2))
  await original.kill('SIGKILL')
  await copy.untilQuiet({ files: 2 })
  expect(await refused(site, 'start')).toContain('older than what Redis knows')
  expect(await refused(site, 'status')).toContain('older than what Redis knows')
  await copy.expectDocuments(expectedAfter(3, 1))
})

test.concurrent('another endpoint is refused until it is adopted, and then gets every product', {
  timeout,
}, async () => {
  await using other = await openSandbox({ port: 0, productsToken, latencyMs: 0 })
  await using site = await Site.open({ delivery })
  const daemon = await site.start()
  await drop(site, 1)
  await site.untilQuiet()
  await daemon.kill('SIGTERM')
  const text = await readFile(site.path('catalogd.yaml'), 'utf8')
  await writeFile(site.path('catalogd.yaml'), text.replace(site.sandbox.url, other.url))
  expect(await refused(site, 'start')).toContain(other.url)
  expect(await refused(site, 'status')).toContain(
    `start is refused: the catalog main has been sent to ${site.sandbox.url}`,
  )
  const sent = (await (await fetch(`${other.url}/sandbox/summary`)).json()) as { products: number }
  expect(sent.products).toBe(0)
  expect(await site.run('adopt', '--yes')).toContain(`2,000 products will be sent to ${other.url}`)
  await site.start()
  await site.untilQuiet()
  const held = (await (await fetch(`${other.url}/sandbox/summary`)).json()) as { products: number }
  expect(held.products).toBe(products)
})

test.concurrent('an emptied Redis beside an emptied archive: the mirror has it all', {
  timeout,
}, async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url, delivery })
  await site.start()
  await drop(site, 1)
  await site.untilQuiet()
  await site.fault({ status: 503 })
  await drop(site, 2)
  await waitFor(async () => (await site.work()).applied === 2, { what: 'both files imported' })
  for (const name of await readdir(site.path('state/main/archive')))
    await rm(site.path('state/main/archive', name), { recursive: true })
  await site.redis.flushall()
  await site.clearFaults()
  await site.untilQuiet()
  await site.expectDocuments(expectedDocuments(2, products))
})
