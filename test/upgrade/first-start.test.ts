import { mkdir } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { productsToken, Site } from '../fault/site.ts'
import { expectedDocuments, versionFile } from '../fault/versions.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { freePort, startRedis } from '../support/redis-server.ts'
import { type OldProduct, type Standing, writeOldStore } from './old-store.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const count = 900
const standings: readonly Standing[] = [
  'acknowledged',
  'urgent',
  'acknowledged',
  'claimed',
  'echoed',
  'deferred',
]

test.concurrent('a daemon that finds the state of version 1 sends what is not acknowledged, and goes on from there', {
  timeout: 600_000,
}, async () => {
  await using redis = await startRedis({ aof: true })
  await using site = await Site.open({ redisUrl: redis.url })
  const [old, newest] = [expectedDocuments(1, count), expectedDocuments(2, count)]
  const products = [...newest].map(([id, document], place): OldProduct => {
    return { id, document, standing: standings[place % standings.length] ?? 'acknowledged' }
  })
  const isTaken = ({ standing }: OldProduct) => standing === 'acknowledged' || standing === 'echoed'
  await send(
    site,
    products.map((product) => (isTaken(product) ? product.document : old.get(product.id))),
  )
  await mkdir(site.path('state/main'), { recursive: true })
  await site.redis.connect()
  await writeOldStore(site.redis, site.path('state/main'), products)
  await site.redis.del('catalogd:{main}:pause', 'catalogd:{main}:held')
  // The file that stands in the manifest and was not applied has no content here: it counts as applied, too.
  await site.redis.hset('catalogd:{main}:applied', 'products', '4')
  const callsBefore = (await site.calls()).length

  await site.start()
  await site.untilQuiet({ files: 3 })
  await site.expectDocuments(newest)
  const calls = (await site.calls()).slice(callsBefore)
  const sent = calls.flatMap(({ ids }) => ids ?? [])
  const due = products.filter(({ standing }) => standing !== 'acknowledged').map(({ id }) => id)
  expect([...new Set(sent)].sort()).toEqual(due.sort())
  // Once, and once more when the last call of version 1 can take no effect any more.
  expect(due.filter((id) => sent.indexOf(id) === sent.lastIndexOf(id))).toEqual([])

  // What was imported before is known: only what changed goes out.
  await site.drop('v3_full.csv', versionFile(3, count))
  await site.untilQuiet({ files: 4 })
  await site.expectDocuments(expectedDocuments(3, count))
})

test.concurrent('while it waits for the last calls of version 1 and moves the catalog, health answers that it is starting', {
  timeout: 600_000,
}, async () => {
  await using redis = await startRedis({ aof: true })
  const port = await freePort()
  const feeds = 'feeds: { products: { drop: ./drop, files: "*_full.csv", settle: 0s } }'
  const catalog = (url: string) => `    api: { url: "${url}", productsTokenFile: ./token }
    ${feeds}
console: { listen: "127.0.0.1:${port}", token: console-token-of-the-test }
`
  await using site = await Site.open({ redisUrl: redis.url, catalog })
  const products = [...expectedDocuments(1, count)].map(([id, document]): OldProduct => {
    return { id, document, standing: 'acknowledged' }
  })
  await mkdir(site.path('state/main'), { recursive: true })
  await site.redis.connect()
  await writeOldStore(site.redis, site.path('state/main'), products)
  const leases = 'catalogd:{main}:leases'
  // Longer than a daemon takes to start on a busy machine: it must meet the lease.
  await site.redis.zadd(leases, Date.now() + 45_000, 'of a call that was killed')
  const daemon = await site.spawn()
  const health = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
    return answer && { code: answer.status, ...((await answer.json()) as { status: string }) }
  }
  await site.untilLogged(daemon, 'waiting until the last calls of the earlier version')
  const first = await waitFor(health, { what: 'an answer' })
  expect(first).toMatchObject({ code: 503, status: 'starting', parts: { intake: 'starting' } })
  await site.untilLogged(daemon, 'watching and importing')
  await waitFor(async () => (await health())?.code === 200, { what: 'health to be well' })
})

async function send(site: Site, documents: readonly unknown[]): Promise<void> {
  const answer = await fetch(`${site.sandbox.url}/v1/products/upsert`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`:${productsToken}`)}` },
    body: JSON.stringify(documents),
  })
  expect(answer.status, await answer.text()).toBe(200)
}
