import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import type { ProductId } from '../../src/lib/brand.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { tempDir } from '../support/temp-dir.ts'
import { machine } from './stage.ts'

const productsPerChunk = 500
const lanes = ['urgent', 'new', 'deferred'] as const

/** A first load into the mirror, without Redis: bytes on the disk, commits, the pump's reads, a drain of everything. */
export async function benchMirror([size = '1000000']: readonly string[]): Promise<void> {
  const products = Number(size)
  await using dir = await tempDir('bench-mirror')
  const file = dir.join('catalog.db')
  using store = MirrorStore.open({ file, isExpected: false })
  console.log(machine())
  let documentBytes = 0
  let longestMs = 0
  let walBytes = 0
  const measured = (label: string, work: () => void, count = products) => {
    const [began, cpu] = [performance.now(), process.cpuUsage()]
    work()
    const seconds = (performance.now() - began) / 1000
    const { user, system } = process.cpuUsage(cpu)
    const each = `${((seconds * 1e6) / count).toFixed(1)} µs (CPU ${((user + system) / count).toFixed(1)})`
    const rss = Math.round(process.memoryUsage.rss() / 1e6)
    console.log(
      `${label}: ${seconds.toFixed(1)} s, ${each} a product; longest step ${longestMs.toFixed(0)} ms; ${rss} MB`,
    )
    longestMs = 0
  }
  const step = (work: () => void) => {
    const began = performance.now()
    work()
    longestMs = Math.max(longestMs, performance.now() - began)
  }
  const commit = (chunk: MirrorChunk) => {
    const chunks = [chunk]
    step(() => store.commit(() => chunks.pop(), 1_000))
    step(() => store.checkpoint())
    walBytes = Math.max(walBytes, statSync(`${file}-wal`).size)
  }
  measured('load', () => {
    for (let start = 0; start < products; start += productsPerChunk) {
      const writes = Array.from({ length: Math.min(productsPerChunk, products - start) }, (_, i) => {
        const document = documentOf(start + i, 1)
        documentBytes += document.length
        return writeOf(start + i, document, 'new')
      })
      commit({ writes })
    }
  })
  measured('pump', () => {
    for (let after = 0; ; ) {
      const last = store.readPlaces({ lane: 'new', after, bytesMax: 2_000_000, rowsMax: 2_000 }).at(-1)
      if (!last) return
      after = last.number
    }
  })
  const drain = () => {
    const positions = store.readIdentity().last
    for (let start = 0; start < products; start += 5_000) {
      const acknowledged = Array.from({ length: Math.min(5_000, products - start) }, (_, i) => ({
        productId: idOf(start + i),
        digest: digests.subarray((start + i) * 16, (start + i + 1) * 16),
        held: false,
      }))
      step(() => store.drain({ acknowledged, positions }, 2_000))
      step(() => store.checkpoint())
    }
  }
  const digests = Buffer.alloc(products * 16)
  for (let n = 0; n < products; n += 1) digestDocument(documentOf(n, 1)).copy(digests, n * 16)
  measured('drain', drain)
  using reader = new MirrorReader(file)
  measured('pages', () => {
    for (const page of reader.pages()) if (page.length === 0) throw new Error('an empty page')
  })
  measured('count', () => void reader.count())
  const edits = products / 10
  measured(
    'edit every tenth, in no order',
    () => {
      const every = shuffled(Array.from({ length: edits }, (_, n) => n * 10))
      for (let start = 0; start < every.length; start += productsPerChunk) {
        const numbers = every.slice(start, start + productsPerChunk)
        reader.read(numbers.map(idOf))
        commit({ writes: numbers.map((n) => writeOf(n, documentOf(n, 2), lanes[n % 3] ?? 'new')) })
      }
    },
    edits,
  )
  measured('start over', () => {
    store.beginStartOver({})
    while (store.startOver({ nowMs: 3_000, rowsMax: 20_000 })) store.checkpoint()
  })
  store.checkpoint()
  const bytes = statSync(file).size
  const allowed = 1.2 * documentBytes + 100 * products
  console.log(
    `file ${(bytes / products).toFixed(0)} B a product, documents ${(documentBytes / products).toFixed(0)} B, ` +
      `allowed ${(allowed / products).toFixed(0)} B; log at most ${(walBytes / 1e6).toFixed(0)} MB`,
  )
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
