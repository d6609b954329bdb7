import { once } from 'node:events'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { waitFor } from '../support/events.ts'
import { machine, openStage } from './stage.ts'

type Stage = Awaited<ReturnType<typeof openStage>>

const changes = 100
/** Delivered before the load begins; files of prices name the first of them. */
const knownProducts = 1_000
const header = 'sku,price\n'

/**
 * From the rename of a file with one new price to the endpoint's receipt: 100 times idle, and 100 times during a first
 * load. `npm run bench -- latency [products of the load]`
 */
export async function benchLatency([count = '200000']: readonly string[]): Promise<void> {
  console.log(`price change, rename to receipt; ${machine()}`)
  await using stage = await openStage()
  const known = stage.dir.join('known.csv')
  await writeSampleFeed(known, { products: knownProducts })
  await stage.command(['load', 'products', known])
  // The change names only id and price: a delta file under the same mapping lacks the other columns, so a feed of its own.
  await addPriceFeed(stage)
  const daemon = stage.start()
  try {
    await dropPrice(stage, 0, 1)
    await report(stage, 'idle', await measure(stage, { every: 100, base: 10 }))
    const large = stage.dir.join('large.tmp')
    await writeSampleFeed(large, { products: Number(count) })
    await rename(large, stage.dir.join('drop', 'large.csv'))
    await waitFor(async () => (await stage.summary()).products > knownProducts, {
      withinMs: 600_000,
      what: 'the load to begin',
    })
    const held = (await stage.summary()).products
    const loading = await measure(stage, { every: 50, base: 500 })
    const after = (await stage.summary()).products
    await report(stage, `during a load (${held} to ${after} of ${count} delivered meanwhile)`, loading)
  } finally {
    daemon.kill('SIGTERM')
    await once(daemon, 'exit')
  }
}

async function addPriceFeed(stage: Stage): Promise<void> {
  await mkdir(stage.dir.join('prices'))
  const file = stage.dir.join('catalogd.yaml')
  const feed = `      prices:
        drop: ./prices
        files: "*.csv"
        mode: delta
        settle: 0s
        fields: { product_id: sku, price: price }
        owns: [price]
`
  await writeFile(file, (await readFile(file, 'utf8')) + feed)
}

async function measure(stage: Stage, { every, base }: { every: number; base: number }): Promise<Receipt[]> {
  const receipts: Receipt[] = []
  for (let change = 0; change < changes; change += 1) {
    receipts.push(await dropPrice(stage, change, base + change))
    await delay(every)
  }
  return receipts
}

interface Receipt {
  file: string
  beganAt: number
  receivedAt: number
}

/** Drops one new price and waits until the endpoint has it. */
async function dropPrice(stage: Stage, product: number, price: number): Promise<Receipt> {
  const sku = `SKU-${String(product).padStart(8, '0')}`
  const hidden = stage.dir.join('prices', `.${sku}-${price}`)
  await writeFile(hidden, `${header}${sku},${price}.25\n`)
  const beganAt = performance.timeOrigin + performance.now()
  const file = `${sku}-${price}.csv`
  await rename(hidden, stage.dir.join('prices', file))
  return await waitFor(
    async () => {
      const response = await fetch(`${stage.url}/sandbox/products/${sku}`)
      if (!response.ok) return undefined
      const product = (await response.json()) as { document: { price: number }; receivedAtMs: number[] }
      if (product.document.price !== price + 0.25) return undefined
      return { file, beganAt, receivedAt: product.receivedAtMs.at(-1) ?? 0 }
    },
    { withinMs: 120_000, what: `the price of ${sku}` },
  )
}

async function report(stage: Stage, name: string, receipts: readonly Receipt[]): Promise<void> {
  const total = receipts
    .map(({ beganAt, receivedAt }) => receivedAt - beganAt)
    .toSorted((one, other) => one - other)
  // Nearest rank: of 100 values, p99 is the 99th.
  const at = (share: number) => (total[Math.ceil(share * total.length) - 1] ?? 0).toFixed(0)
  console.log(`${name}: p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  max ${at(1)} ms  (${total.length} changes)`)
  const lines = (await readFile(stage.dir.join('state/main/manifest.ndjson'), 'utf8')).trim().split('\n')
  const manifest = lines.map((line) => JSON.parse(line) as ManifestEntry)
  const steps = receipts.map(({ file, beganAt, receivedAt }) => {
    const accept = manifest.find((line) => line.kind === 'accept' && line.name === file)
    const outcome = manifest.find((line) => line.kind === 'outcome' && line.of === accept?.sequence)
    const [accepted, imported] = [Date.parse(accept?.acceptedAt ?? ''), Date.parse(outcome?.at ?? '')]
    return { accepted: accepted - beganAt, imported: imported - accepted, received: receivedAt - imported }
  })
  const median = (step: keyof (typeof steps)[number]) =>
    steps.map((each) => each[step]).toSorted((one, other) => one - other)[steps.length >> 1] ?? 0
  const middle = { accepted: median('accepted'), imported: median('imported'), received: median('received') }
  const worst = steps.toSorted((one, other) => sumOf(other) - sumOf(one)).slice(0, 3)
  console.log(`  at the median ${describe(middle)}; the slowest three: ${worst.map(describe).join('; ')}`)
}

interface Steps {
  accepted: number
  imported: number
  received: number
}

function sumOf({ accepted, imported, received }: Steps): number {
  return accepted + imported + received
}

function describe({ accepted, imported, received }: Steps): string {
  return `accepted ${accepted.toFixed(0)} + imported ${imported.toFixed(0)} + received ${received.toFixed(0)} ms`
}

interface ManifestEntry {
  kind: string
  name?: string
  sequence?: number
  of?: number
  acceptedAt?: string
  at?: string
}
