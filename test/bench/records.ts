import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { judgeFile } from '../../src/records/judge.ts'
import { readRecords } from '../../src/records/read-records.ts'

// Both passes over a generated file: MB/s, records/s, memory, event-loop delay.
// node test/bench/records.ts [megabytes of CSV, default 200]

const format = {
  type: undefined,
  delimiter: undefined,
  quote: undefined,
  encoding: undefined,
  recordBytes: 2 ** 24,
}
const extraColumns = Array.from({ length: 20 }, (_, index) => `attribute_${index}`)
const header = `product_id,name,description,price,availability,url,${extraColumns.join(',')}\n`

function row(index: number): string {
  const description = `"Größe ${index % 90}, ""soft"" cotton,\nmachine washable; ${'warm and light '.repeat(18)}"`
  const extras = extraColumns.map((_, column) => `value ${(index * 31 + column) % 9973}`).join(',')
  return `SKU-${index},Shirt ${index},${description},${(index % 900) / 10},InStock,https://shop.example/p/${index},${extras}\n`
}

async function generate(path: string, megabytes: number): Promise<void> {
  const file = createWriteStream(path)
  file.write(header)
  for (let index = 0, bytes = 0; bytes < megabytes * 1e6; ) {
    let text = ''
    while (text.length < 1e6) text += row(index++)
    bytes += Buffer.byteLength(text)
    if (!file.write(text)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
}

async function measure(label: string, megabytes: number, run: () => Promise<number>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let rssMax = 0
  const sampling = setInterval(() => {
    rssMax = Math.max(rssMax, process.memoryUsage.rss())
  }, 20)
  delay.enable()
  const began = performance.now()
  const records = await run()
  const seconds = (performance.now() - began) / 1000
  delay.disable()
  clearInterval(sampling)
  const figures = [
    `${seconds.toFixed(2)} s`,
    `${(megabytes / seconds).toFixed(0)} MB/s`,
    `${Math.round(records / seconds)} records/s`,
    `RSS at most ${(rssMax / 2 ** 20).toFixed(0)} MB`,
    `event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, max ${(delay.max / 1e6).toFixed(1)} ms`,
  ]
  console.log(`${label.padEnd(12)} ${figures.join(', ')}`)
}

async function benchFile(path: string, label: string, megabytes: number): Promise<void> {
  const source = { path, bytes: (await stat(path)).size, name: label }
  const judge = () =>
    judgeFile({
      ...source,
      format,
      neededColumns: ['product_id'],
      openIdReader: (columns) => ({
        indices: [columns.indexOf('product_id')],
        read: ([cell]) => (typeof cell === 'string' ? cell : undefined),
      }),
    })
  await measure(`judge ${label}`, megabytes, async () => (await judge()).records)
  const { dialect, columns } = await judge()
  await measure(`read ${label}`, megabytes, async () => {
    let records = 0
    for await (const batch of readRecords({ ...source, dialect, columns, recordBytes: format.recordBytes })) {
      records += batch.records.length
    }
    return records
  })
}

const megabytes = Number(process.argv[2] ?? 200)
const folder = await mkdtemp(join(tmpdir(), 'catalogd-bench-'))
try {
  const plain = join(folder, 'feed.csv')
  await generate(plain, megabytes)
  await benchFile(plain, 'plain', megabytes)
  const compressed = `${plain}.gz`
  await pipeline(createReadStream(plain), createGzip({ level: 1 }), createWriteStream(compressed))
  await benchFile(compressed, 'gzip', megabytes)
} finally {
  await rm(folder, { recursive: true })
}
