import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import { packChunk, unpackChunk } from '../../src/mirror/packed-chunk.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { tempDir } from '../support/temp-dir.ts'
import { machine } from './stage.ts'

const productsPerChunk = 128
/** As many wait when the import goes on as fast as it shall. */
const chunksPerCommit = 8
/** DESIGN's budgets: where csv-parse takes 27 µs for a row of the sample feed. */
const budgets = { parse: 27, write: 8, read: 10 }
const lanes = ['urgent', 'new', 'deferred'] as const

/**
 * A first load into the mirror, without Redis: what each product costs it, beside its budget; bytes on the disk, commits,
 * the pump's reads, a drain of everything.
 */
export async function benchMirror([size = '1000000']: readonly string[]): Promise<void> {
  const products = Number(size)
  await using dir = await tempDir('bench-mirror')
  const file = dir.join('catalog.db')
  using store = MirrorStore.open({ file, isExpected: false })
  const rowMicros = await parseCost(dir.join('rows.csv'))
  console.log(`${machine()}; csv-parse ${rowMicros.toFixed(1)} µs a row`)
  let documentBytes = 0
  let longestMs = 0
  let walBytes = 0
  const meters = new Map<string, { micros: number; ms: number; count: number }>()
  const meter = <T>(label: string, count: number, work: () => T): T => {
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    const result = work()
    const { user, system } = process.cpuUsage(cpu)
    const sum = meters.get(label) ?? { micros: 0, ms: 0, count: 0 }
    const ms = performance.now() - began
    meters.set(label, { micros: sum.micros + user + system, ms: sum.ms + ms, count: sum.count + count })
    longestMs = Math.max(longestMs, ms)
    return result
  }
  const report = (budget: Record<string, number> = {}) => {
    for (const [label, { micros, ms, count }] of meters) {
      const scaled = budget[label] && (budget[label] * rowMicros) / budgets.parse
      const beside = scaled ? `, budget here ${scaled.toFixed(1)}` : ''
      const each = `CPU ${(micros / count).toFixed(1)} µs a product${beside}`
      console.log(`${label}: ${(ms / 1000).toFixed(1)} s, ${each}`)
    }
    const rss = Math.round(process.memoryUsage.rss() / 1e6)
    console.log(`  longest step ${longestMs.toFixed(0)} ms; ${rss} MB`)
    meters.clear()
    longestMs = 0
  }
  const write = (label: string, writes: readonly MirrorChunk['writes'][number][]) => {
    meter(label, writes.length, () => {
      const chunks = Array.from({ length: Math.ceil(writes.length / productsPerChunk) }, (_, i) =>
        packChunk({ writes: writes.slice(i * productsPerChunk, (i + 1) * productsPerChunk) }),
      )
      store.commit(() => {
        const chunk = chunks.shift()
        return chunk && unpackChunk(chunk)
      }, 1_000)
      store.rest()
    })
    walBytes = Math.max(walBytes, statSync(`${file}-wal`).size)
  }
  const read = (label: string, after: number): number => {
    const options = { lane: 'new', after, bytesMax: 2_000_000, rowsMax: 1_000, documents: true } as const
    const places = meter(label, 0, () => store.readPlaces(options))
    meter(label, places.length, () => undefined)
    return places.at(-1)?.number ?? after
  }
  const portion = productsPerChunk * chunksPerCommit
  for (let start = 0, position = 0; start < products; start += portion) {
    const count = Math.min(portion, products - start)
    const documents = Array.from({ length: count }, (_, i) => documentOf(start + i, 1))
    for (const { length } of documents) documentBytes += length
    write(
      'write',
      documents.map((document, i) => writeOf(start + i, document, 'new')),
    )
    while (position < start + count) position = read('pump what was just written', position)
  }
  report({ write: budgets.write })
  for (let position = 0; position < products; ) position = read('pump from the disk', position)
  report()
  const drain = () => {
    const positions = store.readIdentity().last
    for (let start = 0; start < products; start += 5_000) {
      const acknowledged = Array.from({ length: Math.min(5_000, products - start) }, (_, i) => ({
        productId: idOf(start + i),
        digest: digests.subarray((start + i) * 16, (start + i + 1) * 16),
        held: false,
      }))
      meter('drain', acknowledged.length, () => {
        store.drain({ acknowledged, positions }, 2_000)
        store.rest()
      })
    }
  }
  const digests = Buffer.alloc(products * 16)
  for (let n = 0; n < products; n += 1) digestDocument(documentOf(n, 1)).copy(digests, n * 16)
  drain()
  report()
  using reader = new MirrorReader(file)
  meter('pages', products, () => {
    for (const page of reader.pages()) if (page.length === 0) throw new Error('an empty page')
  })
  meter('count', products, () => reader.count())
  report()
  for (const [kind, numbers] of [
    ['every hundredth', Array.from({ length: products / 100 }, (_, n) => n * 100)],
    ['every tenth, in no order', shuffled(Array.from({ length: products / 10 }, (_, n) => n * 10))],
  ] as const) {
    for (let start = 0; start < numbers.length; start += portion) {
      const some = numbers.slice(start, start + portion)
      for (let at = 0; at < some.length; at += productsPerChunk) {
        const ids = some.slice(at, at + productsPerChunk).map(idOf)
        meter(`read of ${kind}`, ids.length, () => reader.read(ids))
      }
      write(
        `edit of ${kind}`,
        some.map((n) => writeOf(n, documentOf(n, kind.length), lanes[n % 3] ?? 'new')),
      )
    }
    report({ [`read of ${kind}`]: budgets.read, [`edit of ${kind}`]: budgets.write })
  }
  meter('start over', products, () => {
    store.beginStartOver({})
    while (store.startOver({ nowMs: 3_000, rowsMax: 20_000 })) store.rest()
  })
  report()
  store.rest()
  const bytes = statSync(file).size
  const allowed = 1.2 * documentBytes + 100 * products
  console.log(
    `file ${(bytes / products).toFixed(0)} B a product, documents ${(documentBytes / products).toFixed(0)} B, ` +
      `allowed ${(allowed / products).toFixed(0)} B; log at most ${(walBytes / 1e6).toFixed(0)} MB`,
  )
}

/** What csv-parse takes for a row of the sample feed, µs of CPU. */
async function parseCost(file: string): Promise<number> {
  const products = 5_000
  await writeSampleFeed(file, { products })
  const text = await readFile(file)
  const took = [1, 2].map(() => {
    const cpu = process.cpuUsage()
    parse(text, { columns: true })
    const { user, system } = process.cpuUsage(cpu)
    return (user + system) / products
  })
  return Math.min(...took)
}

function writeOf(n: number, document: Buffer, lane: (typeof lanes)[number]): MirrorChunk['writes'][number] {
  return {
    productId: idOf(n),
    document,
    partial: undefined,
    meta: 'products=1ffffff',
    incomplete: undefined,
    lane,
  }
}

/** Ids in no order, as of real catalogs. */
function idOf(n: number): ProductId {
  return `SKU-${((n * 2_654_435_761) % 4_294_967_296).toString(36)}-${n % 7}` as ProductId
}

const filler = randomBytes(4_000).toString('hex')

/** 900 to 1,700 bytes. */
function documentOf(n: number, version: number): Buffer {
  const length = 820 + ((n * 7919) % 800)
  const from = n % (filler.length - length)
  return Buffer.from(
    JSON.stringify({
      product_id: idOf(n),
      price: `${version}.${n % 100}`,
      description: filler.slice(from, from + length),
    }),
  )
}

function shuffled(numbers: number[]): number[] {
  for (let i = numbers.length - 1; i > 0; i -= 1) {
    const j = (i * 48_271) % (i + 1)
    const [one, other] = [numbers[i] as number, numbers[j] as number]
    numbers[i] = other
    numbers[j] = one
  }
  return numbers
}
