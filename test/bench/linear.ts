import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { tempDir } from '../support/temp-dir.ts'
import { machine } from './stage.ts'
import { type Dropped, dropFile } from './suite/drop.ts'
import { openStage, type Stage } from './suite/stage.ts'

const productFields = `        fields: { product_id: id, name: name, url: url, image_url: image, availability: { value: InStock }, price: price, price_currency_code: { value: EUR } }
`
const feeds = `      products:
        drop: ./drop
        files: "*.csv"
        settle: 0s
        missing: { atMost: 100% }
        rejects: { atMost: 100% }
        format: { recordBytes: 100MB }
${productFields}`

const header = 'id,name,url,image,price,text\n'
const cells = (n: number) =>
  `P${n},Lamp ${n},https://shop.example/p/${n},https://shop.example/i/${n}.jpg,${(n % 900) + 1}.50`
/** Of a field that spans so many lines. */
const fieldLine = 'one more line of a field that never seems to end, with a comma\n'

interface Shape {
  name: string
  /** Text of the file, piece by piece. */
  pieces: (size: number) => Iterable<string>
  /** What is imported before, unmeasured. */
  before?: (size: number) => Iterable<string>
}

/** Each was once, somewhere, the file that took a minute instead of a second. */
const shapes: readonly Shape[] = [
  { name: 'without quotes', pieces: (size) => rows(size, (n) => `${cells(n)},plain\n`) },
  {
    name: 'one giant quoted field',
    pieces: function* (size) {
      yield `${header}${cells(0)},"`
      for (let n = 0; n < size; n += 1) yield fieldLine
      yield '"\n'
      for (let n = 1; n < 100; n += 1) yield `${cells(n)},plain\n`
    },
  },
  {
    name: 'all ids the same',
    pieces: (size) => rows(size, (n) => `${cells(1).replace('Lamp 1', `Lamp ${n}`)},x\n`),
  },
  {
    name: 'all but one missing',
    before: (size) => rows(size, (n) => `${cells(n)},plain\n`),
    pieces: () => rows(1, (n) => `${cells(n)},plain\n`),
  },
  {
    name: 'records of one byte',
    pieces: function* (size) {
      yield header
      for (let n = 0; n < size; n += 1) yield `${n % 10}\n`
    },
  },
]

function* rows(size: number, row: (n: number) => string): Iterable<string> {
  yield header
  for (let n = 0; n < size; n += 1) yield row(n)
}

/** Whether cost grows with the size of the file and no faster. `npm run bench -- linear [largest size]` */
export async function benchLinear([largest = '1000000']: readonly string[]): Promise<void> {
  console.log(`µs of CPU (with Redis) for each of so many; ${machine()}`)
  const sizes = [Number(largest) / 4, Number(largest) / 2, Number(largest)]
  for (const shape of shapes) {
    const costs: number[] = []
    const peaks: number[] = []
    for (const size of sizes) {
      const run = await measure(shape, size)
      costs.push(((run.cpuSeconds + run.redisCpuSeconds) * 1e6) / size)
      peaks.push(run.peakMegabytes)
    }
    const text = sizes.map(
      (size, index) => `${size}: ${costs[index]?.toFixed(2)} µs, ${peaks[index]?.toFixed(0)} MB`,
    )
    const growth = (costs.at(-1) as number) / (costs[0] as number)
    console.log(
      `${shape.name.padEnd(24)} ${text.join('   ')}   cost of each grows ${growth.toFixed(2)} times`,
    )
  }
}

async function measure(shape: Shape, size: number): Promise<Dropped> {
  await using dir = await tempDir('bench-linear')
  await using stage: Stage = await openStage({ feeds })
  const daemon = await stage.start()
  const file = dir.join('feed.csv')
  if (shape.before) {
    await writePieces(file, shape.before(size))
    await dropFile(stage, daemon, { file, name: 'before.csv' })
  }
  await writePieces(file, shape.pieces(size))
  // Awaited here: the stage ends with this function. A file without a valid record is held.
  return await dropFile(stage, daemon, { file, name: 'feed.csv', outcomes: ['imported', 'held'] })
}

async function writePieces(file: string, pieces: Iterable<string>): Promise<void> {
  const stream = createWriteStream(file)
  for (const piece of pieces) if (!stream.write(piece)) await once(stream, 'drain')
  stream.end()
  await finished(stream)
}
