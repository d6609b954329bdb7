import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { sampleId, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { freePort } from '../support/redis-server.ts'
import { machine } from './stage.ts'
import type { Daemon } from './suite/daemon.ts'
import { untilImported, untilSettled } from './suite/drop.ts'
import { openStage, type Stage } from './suite/stage.ts'

/** Between two pages, and of an operator who looks around. */
const [pauseMs, lookEveryMs] = [50, 1_000]
const windowMs = 3_000
/** So long the index of words may take; what it has by then is searched. */
const indexWithinMs = 240_000

/** A number of its own each time, so that nothing is found warm. */
const pages: Record<string, (product: string, turn: number) => string> = {
  overview: () => '/',
  feeds: () => '/feeds',
  import: () => '/imports/1',
  'products by id': (product) => `/products?q=${product.slice(0, -2)}`,
  'products by words': (_, turn) => `/products?q=${['lamp', 'armchair moss', 'notebook tern'][turn % 3]}`,
  story: (product) => `/product?id=${product}`,
  'story, unknown id': (product) => `/product?id=${product.slice(0, -3)}X`,
  calls: () => '/calls',
  call: () => '/calls/1',
  'calls by product': (product) => `/calls?product=${product}`,
  'calls by status': () => '/calls?status=failed',
  'dead letters': () => '/dead-letters',
  settings: () => '/settings',
  // Reads nothing: what the machine alone takes.
  '/live': () => '/live',
}

/**
 * How long each page takes while a file is loaded of which every product has changed, and what delivery loses to an open
 * Overview and a page a second. `npm run bench -- console [products]`
 */
export async function benchConsole([count = '1000000']: readonly string[]): Promise<void> {
  const products = Number(count)
  console.log(`console beside the load of ${products} changed products; ${machine()}`)
  const url = `http://127.0.0.1:${await freePort()}`
  await using stage = await openStage({ top: `console: { listen: "${url.slice('http://'.length)}" }` })
  const [plain, repriced] = [stage.dir.join('plain'), stage.dir.join('repriced')]
  await writeSampleFeed(plain, { products })
  await writeSampleFeed(repriced, { products, isRepriced: () => true })
  const daemon = await stage.start()
  const load = async (file: string, name: string) => {
    await (await stage.prepare(file, name))()
    await untilImported(stage, name)
    await untilSettled(stage)
  }
  await load(plain, '1.csv')
  await untilIndexed(url)
  const look = lookAround(url, products)
  await during(load(repriced, '2.csv'), () => look().then(() => delay(pauseMs)))
  for (const [page, took] of look.took) {
    const of = (share: number) => `${at(took, share).toFixed(0)} ms`.padStart(8)
    console.log(`${page.padEnd(20)} p50 ${of(0.5)}  p95 ${of(0.95)}  max ${of(1)}  of ${took.length}`)
  }
  await measureLoss({ stage, daemon, url, products }, load(plain, '3.csv'))
}

async function untilIndexed(url: string): Promise<void> {
  const until = performance.now() + indexWithinMs
  for (let text = '%'; text.includes('%') && performance.now() < until; await delay(1_000)) {
    text = /Words are found in [^:]*/.exec((await get(`${url}/products`)).text)?.[0] ?? ''
    if (!text.includes('%')) return
  }
  console.log('the index of words is not complete')
}

/** Page after page; `took`: ms of each. */
function lookAround(url: string, products: number) {
  const took = new Map<string, number[]>(Object.keys(pages).map((page) => [page, []]))
  let turn = 0
  const look = async () => {
    const names = Object.keys(pages)
    const page = names[turn % names.length] as string
    const product = sampleId(Math.floor((turn * 0.618_034 * products) % products))
    turn += 1
    const began = performance.now()
    const { status } = await get(url + pages[page]?.(product, turn))
    if (status !== 200) throw new Error(`${page}: ${status}`)
    took.get(page)?.push(performance.now() - began)
  }
  return Object.assign(look, { took })
}

async function get(url: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url)
  return { status: answer.status, text: await answer.text() }
}

/** Until the work is done. */
async function during(work: Promise<unknown>, turn: () => Promise<unknown>): Promise<void> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  while (!isDone) await turn()
  await done
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

interface Measured {
  stage: Stage
  daemon: Daemon
  url: string
  products: number
}

/** Windows of one load in turns, with and without somebody who looks. */
async function measureLoss({ stage, daemon, url, products }: Measured, load: Promise<void>): Promise<void> {
  const sent = async () => (await stage.endpoint.stats()).bytes
  const sums = { with: { bytes: 0, cpu: 0, ms: 0 }, without: { bytes: 0, cpu: 0, ms: 0 } }
  const begin = await sent()
  let isLooking = false
  await during(load, async () => {
    isLooking = !isLooking && (await sent()) > begin
    const sum = sums[isLooking ? 'with' : 'without']
    const [bytes, cpu, began] = [await sent(), daemon.cpu(), performance.now()]
    await (isLooking ? lookFor(windowMs, url, products) : delay(windowMs))
    if (bytes === begin) return
    sum.bytes += (await sent()) - bytes
    sum.cpu += daemon.cpu() - cpu
    sum.ms += performance.now() - began
  })
  const [looked, bare] = [sums.with, sums.without]
  const percent = (share: number) => `${((share - 1) * 100).toFixed(1)} %`
  const rate = ({ bytes, ms }: typeof bare) => bytes / ms
  const cost = ({ bytes, cpu }: typeof bare) => cpu / bytes
  const show = (sum: typeof bare) =>
    `${(rate(sum) / 1e3).toFixed(1)} MB/s, CPU ${(cost(sum) * 1e9).toFixed(1)} s a GB`
  console.log(`delivery: nobody looks ${show(bare)}; somebody looks ${show(looked)}`)
  console.log(
    `throughput ${percent(rate(looked) / rate(bare))}, CPU for the same ${percent(cost(looked) / cost(bare))}`,
  )
}

async function lookFor(forMs: number, url: string, products: number): Promise<void> {
  const stream = http.get(url, { headers: { accept: 'text/event-stream' } })
  const [events] = (await once(stream, 'response')) as [http.IncomingMessage]
  events.resume()
  events.on('error', () => undefined)
  const look = lookAround(url, products)
  for (const until = performance.now() + forMs; performance.now() < until; await delay(lookEveryMs))
    await look()
  stream.destroy()
}
