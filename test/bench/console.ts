import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { sampleId, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { freePort } from '../support/redis-server.ts'
import { machine } from './stage.ts'
import type { Daemon } from './suite/daemon.ts'
import { type Dropped, dropFile, untilImported, untilSettled } from './suite/drop.ts'
import { medianOf } from './suite/figure.ts'
import { openStage, type Stage } from './suite/stage.ts'

/** Between two pages, and of an operator who looks around. */
const [pauseMs, lookEveryMs] = [50, 1_000]
const lossProductsMax = 200_000
const lossRounds = 4
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
  await measureLoss({ stage, daemon, url, products })
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

/** Files of changes one after the other, in turns with and without somebody who looks; the first are not counted. */
async function measureLoss({ stage, daemon, url, products }: Measured): Promise<void> {
  const changed = Math.min(products, lossProductsMax)
  const files = [stage.dir.join('loss-a'), stage.dir.join('loss-b')] as const
  await writeSampleFeed(files[0], { products: changed })
  await writeSampleFeed(files[1], { products: changed, isRepriced: () => true })
  const took = { with: [] as Dropped[], without: [] as Dropped[] }
  for (let turn = 0; turn < 2 * lossRounds + 3; turn += 1) {
    // Each file undoes the one before; both come with and without.
    const [isLooking, file] = [turn % 4 === 1 || turn % 4 === 2, files[turn % 2]]
    const stop = new AbortController()
    const looking = isLooking ? lookUntil(stop.signal, url, products) : undefined
    const dropped = await dropFile(stage, daemon, { file: file ?? '', name: `loss-${turn}.delta` })
    stop.abort()
    await looking
    if (turn > 2) took[isLooking ? 'with' : 'without'].push(dropped)
  }
  const percent = (of: (dropped: Dropped) => number) => {
    const share = medianOf(took.with.map(of)) / medianOf(took.without.map(of))
    return `${((share - 1) * 100).toFixed(1)} %`
  }
  const show = (all: Dropped[]) => all.map(({ seconds }) => seconds.toFixed(1)).join(', ')
  console.log(
    `${changed} changes: nobody looks ${show(took.without)} s; somebody looks ${show(took.with)} s; medians: time ${percent(({ seconds }) => seconds)}, CPU ${percent(({ cpuSeconds }) => cpuSeconds)}`,
  )
}

/** An open Overview, and a page a second. */
async function lookUntil(signal: AbortSignal, url: string, products: number): Promise<void> {
  const stream = http.get(url, { headers: { accept: 'text/event-stream' } })
  const [events] = (await once(stream, 'response')) as [http.IncomingMessage]
  events.resume()
  events.on('error', () => undefined)
  const look = lookAround(url, products)
  for (; !signal.aborted; await delay(lookEveryMs, undefined, { signal }).catch(() => undefined)) await look()
  stream.destroy()
}
