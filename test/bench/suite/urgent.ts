import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sampleId, writeSampleFeed } from '../../../src/quickstart/sample-feed.ts'
import { dropFile, untilLine } from './drop.ts'
import { type Figure, percentileOf } from './figure.ts'
import { openStage, type Stage, sampleFeed } from './stage.ts'

const pipeline = fileURLToPath(new URL('../peers/bare-pipeline.ts', import.meta.url))
/** Delivered before anything is measured. */
const knownProducts = 1_000
const changes = 100
/** Ours and the peer's in turns. */
const changesPerTurn = 20
const everyMs = 50
/** The endpoint notes prices that begin with 777. */
const priceBase = 777_000

const feeds = `${sampleFeed()}      prices:
        drop: ./prices
        files: "*.csv"
        mode: delta
        settle: 0s
        fields: { product_id: sku, price: price }
        owns: [price]
`

/**
 * A file with one new price: from its rename to the endpoint's receipt. Idle, in turns with a bare pipeline of chokidar,
 * csv-parse and fetch; and during a first load of so many rows.
 */
export async function measureUrgent({ base }: { base: string }): Promise<Figure[]> {
  await using stage = await openStage({ feeds })
  await using bare = await startPipeline(stage)
  await mkdir(stage.dir.join('prices'))
  const daemon = await stage.start()
  const known = stage.dir.join('known.tmp')
  await writeSampleFeed(known, { products: knownProducts })
  await dropFile(stage, daemon, { file: known, name: 'known.csv' })
  await stage.endpoint.watch()
  const numbers = counter()
  // Neither is measured before it has done it once.
  for (const folder of ['prices', 'bare']) await dropPrice(stage, folder, numbers.next())
  const idle: number[] = []
  const peer: number[] = []
  for (let turn = 0; turn < changes / changesPerTurn; turn += 1) {
    for (const [folder, times] of [['prices', idle] as const, ['bare', peer] as const]) {
      for (let change = 0; change < changesPerTurn; change += 1) {
        times.push(await dropPrice(stage, folder, numbers.next()))
        await delay(everyMs)
      }
    }
  }
  const loading: number[] = []
  const drop = await stage.prepare(base, 'load.csv')
  await drop()
  let isLoading = true
  const load = untilLine(stage, 'load.csv', 'outcome').then(() => {
    isLoading = false
  })
  while (isLoading && loading.length < changes) {
    loading.push(await dropPrice(stage, 'prices', numbers.next()))
    await delay(everyMs)
  }
  await load
  await bare.stop()
  return figuresOf({ idle, peer, loading })
}

function figuresOf({ idle, peer, loading }: Record<'idle' | 'peer' | 'loading', number[]>): Figure[] {
  const describe = (times: number[]) =>
    `p50 ${percentileOf(times, 0.5).toFixed(0)}, p99 ${percentileOf(times, 0.99).toFixed(0)}, at most ${Math.max(...times).toFixed(0)} ms (${times.length} changes)`
  const of = (id: string, name: string, times: number[], goal: number): Figure => ({
    ...{ id, name, unit: '×', better: 'less', goal },
    value: percentileOf(times, 0.99) / percentileOf(peer, 0.99),
    note: `catalogd ${describe(times)}; bare pipeline, idle: ${describe(peer)}`,
  })
  return [
    of('urgent-idle', 'urgent change, idle: p99 beside a bare pipeline', idle, 3),
    of('urgent-loading', 'urgent change during a first load: the same', loading, 8),
  ]
}

function counter() {
  let number = 0
  return { next: () => number++ }
}

/** Milliseconds until the endpoint had it. */
async function dropPrice(stage: Stage, folder: string, number: number): Promise<number> {
  const price = priceBase + number
  const hidden = stage.dir.join(`.price-${number}`)
  await writeFile(hidden, `sku,price\n${sampleId(number % knownProducts)},${price}.25\n`)
  const receipt = stage.endpoint.receiptOf(String(price))
  const beganMs = performance.timeOrigin + performance.now()
  await rename(hidden, stage.dir.join(folder, `${number}.csv`))
  return (await receipt) - beganMs
}

/** chokidar, csv-parse and one fetch: nothing durable, nothing compared. */
async function startPipeline(stage: Stage) {
  await mkdir(stage.dir.join('bare'))
  const child = fork(pipeline, [stage.dir.join('bare'), stage.endpoint.url])
  await once(child, 'message')
  const stop = async () => {
    if (!child.connected) return
    const exited = once(child, 'exit')
    child.disconnect()
    await exited
  }
  return { stop, [Symbol.asyncDispose]: stop }
}
