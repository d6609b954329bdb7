import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { faultScale, seededRandom } from './random.ts'
import { Site } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const products = 300
const kills = 2 * faultScale
/** Sales end one after another for so long, while daemons are killed. */
const endsWithinMs = 3_000

function catalog(sandboxUrl: string): string {
  return `    api: { url: "${sandboxUrl}", productsTokenFile: ./token }
    delivery: { callsPerSecond: 200, timeout: 5s, horizon: 1s }
    deferred: { after: 1s, atMost: 5s }
    feeds:
      products:
        drop: ./drop
        settle: 0s
        fields:
          product_id: id
          name: { template: "Name {id}" }
          url: { template: "https://shop.example/{id}" }
          image_url: { template: "https://shop.example/{id}.jpg" }
          availability: { value: InStock }
          price_currency_code: { value: EUR }
          price: { column: [sale, price], during: { sale: { from: begins, until: ends } } }
`
}

test('sales that begin and end while daemons are killed, or none runs, reach the endpoint without another file', {
  timeout: 300_000 * faultScale,
}, async () => {
  const random = seededRandom('timed prices')
  await using site = await Site.open({ catalog })
  const first = await site.start()
  const now = Date.now()
  const rows = Array.from({ length: products }, (_, index) => {
    const ends = now + random.between(1_500, endsWithinMs)
    // One sale in four only begins.
    const [from, until] = index % 4 === 0 ? [ends, now + 3_600_000] : [now - 1_000, ends]
    return `p${index},20,10,${new Date(from).toISOString()},${new Date(until).toISOString()}`
  })
  await site.drop('offers.csv', `id,price,sale,begins,ends\n${rows.join('\n')}\n`)
  await waitFor(async () => (await site.documents()).size === products, { what: () => site.logs() })
  let daemon = first
  for (let kill = 1; kill <= kills; kill += 1) {
    await delay(random.between(100, 800))
    await daemon.kill('SIGKILL')
    if (random.chance(0.3)) await site.killEmbeddedRedis()
    await delay(random.between(0, 500))
    daemon = await site.start()
  }
  const wrong = async () => {
    const documents = await site.documents()
    return rows.flatMap((_, index) => {
      const expected = index % 4 === 0 ? 10 : 20
      const price = documents.get(`p${index}`)?.price
      return price === expected ? [] : [{ index, price, expected }]
    })
  }
  let left: unknown[] = []
  const done = async () => {
    left = await wrong()
    return left.length === 0
  }
  await waitFor(done, {
    withinMs: 240_000,
    what: () => `${JSON.stringify(left.slice(0, 5))}\n${site.logs()}`,
  })
  await site.untilQuiet()
  using mirror = site.openMirror()
  expect(mirror.switchesDue(Number.POSITIVE_INFINITY, products)).toHaveLength(products / 4)
})
