import { setImmediate } from 'node:timers/promises'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { idOf } from './writes.ts'

// Another process that looks at the mirror named by its argument while it is written, until it is told to end. Each chunk
// gives all products one price: prints how many it has seen, or fails where one look shows two.

const [file = '', products = '0'] = process.argv.slice(2)
const ids = Array.from({ length: Number(products) }, (_, n) => idOf(n))
using reader = new MirrorReader(file)
let isOver = false
process.stdin.once('data', () => {
  isOver = true
  process.stdin.destroy()
})
process.stdout.write('looks\n')
const seen = new Set<string>()
while (!isOver) {
  const documents = [...reader.read(ids).values()].map(({ document }) => document?.toString() ?? '')
  const prices = new Set(documents.map((text) => JSON.parse(text).price as string))
  if (prices.size !== 1) throw new Error(`one look shows the prices ${[...prices]}`)
  for (const price of prices) seen.add(price)
  const { places } = reader.count()
  if (places.new.waiting !== ids.length) throw new Error(`${places.new.waiting} places of ${ids.length}`)
  await setImmediate()
}
process.stdout.write(`saw ${seen.size}\n`)
