import { readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleColumns, writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { EntryMatcher } from '../../src/records/entry-matcher.ts'
import { openBytesHash } from '../../src/records/id-table.ts'
import type { Dialect } from '../../src/records/model.ts'
import { scanFile } from '../../src/records/scan/scan-file.ts'
import { ScanThreads } from '../../src/records/scan/scan-threads.ts'
import { SplitDigest } from '../../src/records/scan/split-digest.ts'
import { openSplitter } from '../../src/records/slices.ts'
import { runCsvParse } from './peers/parsers.ts'
import { isRepriced } from './suite/feeds.ts'

// The skip stage alone beside csv-parse: which records of a file with 1 % of the prices changed stood in the one before.
// npm run bench -- skip [products, default 200000]

const rounds = 3
const seed = 1n
const chunkBytes = 2 ** 20
const dialect = {
  ...{ type: 'csv', compression: 'none', encoding: 'utf-8', delimiter: ',', quote: '"', lineEnd: '\n' },
} as Dialect

export async function benchSkip([products = '200000']: readonly string[]): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-skip-'))
  try {
    const [base, changed] = [join(dir, 'base.csv'), join(dir, 'changed.csv')]
    await writeSampleFeed(base, { products: Number(products) })
    const bytes = await writeSampleFeed(changed, { products: Number(products), isRepriced })
    console.log(`${products} products, ${(bytes / 1e6).toFixed(0)} MB, 1 % of the prices changed`)
    const entries = indexOf(base)
    await compareSplitting(changed)
    for (let round = 0; round < rounds; round += 1) {
      const own = await measure(async () => (await scan(changed, entries))?.known)
      const peer = await measure(() => runCsvParse(changed))
      const ratio = (peer.seconds / own.seconds).toFixed(1)
      console.log(`skip stage ${describe(own)} known; csv-parse ${describe(peer)} rows; ${ratio} × faster`)
    }
  } finally {
    await rm(dir, { recursive: true })
  }
}

/** The module that splits and digests beside the best of that in JavaScript, each in one thread. */
async function compareSplitting(path: string): Promise<void> {
  const bytes = readFileSync(path)
  const digest = await openBytesHash('')
  const chunksOf = function* () {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  const native = async () => {
    const splitter = new SplitDigest({ delimiter: 0x2c, quote: 0x22, seed }, 0)
    let count = 0
    for (const chunk of chunksOf()) {
      splitter.room.set(chunk)
      splitter.take(chunk.length, () => count++)
      splitter.shift()
    }
    return count
  }
  const script = async () => {
    using splitter = openSplitter(path, dialect, { recordBytes: 1_000_000, before: 0 })
    let count = 0
    for (const chunk of chunksOf())
      for (const batch of splitter.push(chunk))
        for (const { bytes: each } of batch) count += digest(each).length / 2
    return count
  }
  await Promise.all([native(), script()])
  for (let round = 0; round < rounds; round += 1) {
    const [own, peer] = [await measure(native), await measure(script)]
    const ratio = (peer.cpuSeconds / own.cpuSeconds).toFixed(1)
    console.log(`split and digest: WASM ${describe(own)}; JavaScript ${describe(peer)}; ${ratio} × less CPU`)
  }
}

async function scan(path: string, entries: Uint32Array) {
  const { size } = await stat(path)
  const matched = new Uint8Array(new SharedArrayBuffer(entries.length / 4))
  using threads = new ScanThreads(size)
  return await scanFile({
    threads,
    source: { path, bytes: size, name: path },
    dialect,
    matcher: new EntryMatcher(entries, matched),
    from: { offset: sampleColumns.join(',').length + 1, line: 2, record: 1 },
    ...{ recordBytes: 1_000_000, seed, head: [] },
  })
}

/** As an import writes it. */
function indexOf(path: string): Uint32Array {
  const splitter = new SplitDigest({ delimiter: 0x2c, quote: 0x22, seed }, 0)
  const numbers: number[] = []
  const bytes = readFileSync(path)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes)
    splitter.room.set(chunk)
    splitter.take(chunk.length, ({ low, high }) => numbers.push(low, high, numbers.length, 1))
    splitter.shift()
  }
  const entries = new Uint32Array(new SharedArrayBuffer(numbers.length * 4))
  entries.set(numbers)
  return entries
}

async function measure(run: () => Promise<number | undefined>) {
  const before = process.cpuUsage()
  const began = performance.now()
  const count = await run()
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(before)
  return { count, seconds, cpuSeconds: (user + system) / 1e6 }
}

function describe({ count, seconds, cpuSeconds }: Awaited<ReturnType<typeof measure>>): string {
  return `${seconds.toFixed(2)} s (CPU ${cpuSeconds.toFixed(2)} s), ${count}`
}
