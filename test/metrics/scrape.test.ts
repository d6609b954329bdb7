import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { families } from '../../src/metrics/families.ts'
import { Workplace } from '../acceptance/daemon.ts'
import { waitFor } from '../support/events.ts'
import { parseExposition, type ScrapedFamily } from './exposition-text.ts'

// A daemon that imports and delivers, asked as Prometheus asks.

const feeds = `deferred: { after: 1s }
delivery: { horizon: 2s }
feeds:
  shop: { drop: ./drop/shop, files: "*.csv", settle: 0s, expectEvery: 1h }
`
const header = 'product_id,name,url,image_url,availability,price,price_currency_code,list_price'
const row = (id: string, price: string, name = 'Lamp') =>
  `${id},${name},https://shop.example/p,https://shop.example/i.jpg,InStock,${price},EUR,12`
const content = (...rows: string[]) => `${[header, ...rows].join('\n')}\n`

const openMetrics =
  'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1'

let workplace: Workplace
let url: string

beforeAll(async () => {
  workplace = await Workplace.open(feeds)
  const config = workplace.path('catalogd.yaml')
  const port = await freePort()
  await writeFile(config, `console: { listen: "127.0.0.1:${port}" }\n${await readFile(config, 'utf8')}`)
  url = `http://127.0.0.1:${port}`
  await workplace.start()
}, 300_000)
afterAll(() => workplace?.[Symbol.asyncDispose]())

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function scrape(accept = 'text/plain'): Promise<Map<string, ScrapedFamily>> {
  const answer = await fetch(`${url}/metrics`, { headers: { accept } })
  expect(answer.status).toBe(200)
  return parseExposition(await answer.text(), accept === 'text/plain' ? 'text' : 'openmetrics')
}

/** The value of the one sample that has these labels. */
function amountOf(
  scraped: Map<string, ScrapedFamily>,
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const family = scraped.get(name) ?? scraped.get(name.replace(/_(bucket|sum|count)$/, ''))
  const isMeant = Object.entries(labels)
  const found = family?.samples.filter(
    (sample) => sample.name === name && isMeant.every(([label, value]) => sample.labels[label] === value),
  )
  return found?.length === 1 ? found[0]?.value : undefined
}

describe('a scrape', () => {
  it('follows a file from its acceptance to the acknowledgement, by lanes', async () => {
    await workplace.drop('shop', 'one.csv', content(row('a', '10'), row('b', '10'), row('c', 'x')))
    await workplace.untilTaken('a', 1)
    await workplace.drop('shop', 'two.csv', content(row('a', '9'), row('b', '10'), row('c', '10')))
    await workplace.untilTaken('a', 2)
    await workplace.untilTaken('c', 1)
    const delivered = async () => {
      const scraped = await scrape()
      return amountOf(scraped, 'catalogd_acknowledged_products_total') === 4 ? scraped : undefined
    }
    const scraped = await waitFor(delivered, { withinMs: 120_000, what: 'four acknowledgements' })
    const delays = (lane: string) => amountOf(scraped, 'catalogd_delivery_delay_seconds_count', { lane })
    expect([delays('urgent'), delays('new'), delays('deferred')]).toEqual([1, 3, 0])
    // From the acceptance on: a new product waits for a second before it is due.
    expect(amountOf(scraped, 'catalogd_delivery_delay_seconds_sum', { lane: 'new' })).toBeGreaterThan(2)
    expect(amountOf(scraped, 'catalogd_call_products_total', { outcome: 'acknowledge' })).toBe(4)
    const records = (outcome: string) =>
      amountOf(scraped, 'catalogd_import_records_total', { feed: 'shop', outcome })
    expect([records('changed'), records('rejected'), records('skipped')]).toEqual([4, 1, 1])
    expect(amountOf(scraped, 'catalogd_import_files_total', { outcome: 'imported' })).toBe(2)
    expect(amountOf(scraped, 'catalogd_products', { catalog: 'main' })).toBe(3)
    expect(amountOf(scraped, 'catalogd_outbox_products', { lane: 'urgent' })).toBe(0)
    expect(amountOf(scraped, 'catalogd_expected_file_interval_seconds')).toBe(3_600)
    expect(amountOf(scraped, 'catalogd_redis_up')).toBe(1)
  })

  it('tells of refused products and of calls that are tried again', async () => {
    await workplace.fault({ status: 503, calls: 1 })
    await workplace.drop('shop', 'three.csv', content(row('a', '8'), row('b', '10'), row('c', '10')))
    await workplace.untilTaken('a', 3)
    const scraped = await scrape()
    expect(amountOf(scraped, 'catalogd_retried_calls_total')).toBeGreaterThanOrEqual(1)
    expect(amountOf(scraped, 'catalogd_calls_total', { outcome: 'retry' })).toBeGreaterThanOrEqual(1)
  })

  it('is the same in both formats, and names nothing that a feed says', async () => {
    const [text, open] = [await scrape(), await scrape(openMetrics)]
    expect([...open.keys()]).toEqual([...text.keys()].map((name) => name.replace(/_total$/, '')))
    const allowed = new Set(['catalog', 'lane', 'feed', 'outcome', 'reason', 'quantile', 'version', 'le'])
    for (const { samples } of text.values())
      for (const { labels } of samples)
        expect(Object.keys(labels).filter((name) => !allowed.has(name))).toEqual([])
    const declared = families.filter(({ name }) => text.has(name))
    // All but what only happens while an import runs, or with consents.
    expect(families.map(({ name }) => name).filter((name) => !text.has(name))).toEqual([
      ...['catalogd_waiting_consents', 'catalogd_dead_consents', 'catalogd_import_progress_ratio'],
    ])
    for (const { name, type, labels } of declared) {
      const family = text.get(name)
      expect(family?.type).toBe(type)
      const used = new Set(family?.samples.flatMap((sample) => Object.keys(sample.labels)))
      expect([...used].filter((label) => label !== 'le').sort()).toEqual([...labels].sort())
    }
  })

  it('is beside what tells that the process lives and is ready', async () => {
    for (const path of ['live', 'ready', 'health']) expect((await fetch(`${url}/${path}`)).status).toBe(200)
  })
})
