import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { machine } from './stage.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const requestsPerRun = 600
const runs = 3

const kinds = [
  ['table lamp', 'Home/Lighting/Table lamps'],
  ['floor lamp', 'Home/Lighting/Floor lamps'],
  ['armchair', 'Home/Furniture/Chairs'],
  ['office chair', 'Office/Furniture/Chairs'],
  ['trail running shoe', 'Sports/Running/Shoes'],
  ['road running shoe', 'Sports/Running/Shoes'],
  ['rain jacket', 'Clothing/Outerwear/Jackets'],
  ['winter coat', 'Clothing/Outerwear/Coats'],
  ['coffee grinder', 'Kitchen/Coffee/Grinders'],
  ['espresso machine', 'Kitchen/Coffee/Machines'],
  ['backpack', 'Travel/Bags/Backpacks'],
  ['suitcase', 'Travel/Bags/Suitcases'],
  ['notebook', 'Office/Paper/Notebooks'],
  ['bike light', 'Sports/Cycling/Lights'],
  ['frying pan', 'Kitchen/Cookware/Pans'],
  ['wireless headphones', 'Electronics/Audio/Headphones'],
] as const
const brands = [
  'Alder & Finch',
  'Nordhav',
  'Casa Lumo',
  'Brightwell',
  'Fjällro',
  'Ébène',
  'Tern',
  'Oakline',
  'Kestrel',
]
const colours = ['red', 'blue', 'green', 'black', 'white', 'grey', 'brown', 'yellow', 'navy']
const materials = ['oak', 'nylon', 'steel', 'linen', 'wool', 'ceramic', 'cork', 'leather', 'cotton']
const sentences = [
  'Made in small batches by people who know the material and care how it ages.',
  'The seams are taped, the edges are bound, and every part can be replaced.',
  'Waterproof to a depth that nobody needs, light enough for a day in town.',
  'Tested for five years, guaranteed for ten, repairable for as long as we exist.',
  'Looks quiet in the morning, warm in the evening and good in photographs.',
  'Ships flat, assembles without tools, and comes with spare screws in a labelled bag.',
]

const conversations = [
  ['running shoes under 100 euro', 'only the red ones', 'cheaper', 'show me more'],
  ['a warm armchair for the evening, not leather'],
  ['cheapest espresso machine in stock'],
  ['Nordhav backpack', 'in blue instead', 'under 80'],
  ['anything on sale below €30'],
  ['best rated wireless headphones between 50 and 150'],
  ['watreproof jaket'],
  ['a present for somebody who loves coffee, at least 4 stars'],
  ['Schreibtischlampe unter 49,90 €', 'desk or table lamp', 'without nylon'],
  ['light'],
]

/** Answers of the sandbox's intent endpoint over HTTP, one at a time, over a catalogue of 20,000 products. */
export async function benchIntent([size = '20000']: readonly string[]): Promise<void> {
  const products = Number(size)
  const sandbox = spawn(process.execPath, [main, 'sandbox', '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const started = await firstLine(sandbox)
    await using pool = poolTo(started.url)
    const began = performance.now()
    for (let first = 0; first < products; first += 500)
      await upsert(pool, started.productsToken, first, products)
    const loaded = performance.now()
    await ask(pool, started.intentToken, { prompt: 'lamp', chatId: 'first' })
    const first = performance.now() - loaded
    console.log(`${products} products on ${machine()}`)
    console.log(
      `upserted in ${((loaded - began) / 1000).toFixed(1)} s; the first answer, at once after it, took ${Math.round(first)} ms`,
    )
    const figures: number[][] = []
    for (let run = 0; run < runs; run += 1) figures.push(await measure(pool, started.intentToken, run))
    for (const [at, name] of ['p50', 'p95', 'p99', 'max'].entries()) {
      const values = figures.map((run) => run[at] ?? 0).sort((a, b) => a - b)
      console.log(`${name.padEnd(4)} ${(values[(runs - 1) / 2] ?? 0).toFixed(1)} ms (median of ${runs} runs)`)
    }
  } finally {
    sandbox.kill('SIGTERM')
    await once(sandbox, 'exit')
  }
}

interface Started {
  url: string
  productsToken: string
  intentToken: string
}

async function firstLine(child: ChildProcess): Promise<Started> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('the sandbox ended before it listened')
  })
  const [chunk] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), ended])
  return JSON.parse(String(chunk))
}

function poolTo(url: string): Pool & AsyncDisposable {
  const pool = new Pool(url, { connections: 1 })
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() })
}

async function upsert(pool: Pool, token: string, first: number, products: number): Promise<void> {
  const count = Math.min(500, products - first)
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/products/upsert',
    headers: { authorization: `Basic ${btoa(`:${token}`)}`, 'content-type': 'application/json' },
    body: JSON.stringify(Array.from({ length: count }, (_, at) => product(first + at))),
  })
  if (statusCode !== 200) throw new Error(`an upsert was answered ${statusCode}: ${await body.text()}`)
  await body.dump()
}

async function measure(pool: Pool, token: string, run: number): Promise<number[]> {
  const durations: number[] = []
  for (let round = 0; durations.length < requestsPerRun; round += 1) {
    for (const [subject, prompts] of conversations.entries()) {
      for (const prompt of prompts) {
        const began = performance.now()
        await ask(pool, token, { prompt, chatId: `${run}-${round}-${subject}` })
        durations.push(performance.now() - began)
      }
    }
  }
  durations.sort((a, b) => a - b)
  return [0.5, 0.95, 0.99, 1].map((share) => durations[Math.ceil(durations.length * share) - 1] ?? 0)
}

async function ask(pool: Pool, token: string, asked: { prompt: string; chatId: string }): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/api',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...asked, customerId: asked.chatId, partnerId: 'bench', giveAgentContext: true }),
  })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`a prompt was answered ${statusCode}: ${text}`)
}

function product(number: number): Record<string, unknown> {
  const pick = <Value>(values: readonly Value[], step: number): Value =>
    values[(Math.imul(number + 1, 2_654_435_761) >>> step) % values.length] as Value
  const [kind, category] = pick(kinds, 1)
  const [brand, colour, material] = [pick(brands, 3), pick(colours, 7), pick(materials, 11)]
  const price = 5 + ((number * 37) % 400)
  const id = `SKU-${String(number).padStart(6, '0')}`
  return {
    product_id: id,
    name: `${brand} ${material} ${kind}, ${colour}`,
    url: `https://shop.example/p/${id}`,
    image_url: `https://shop.example/i/${id}.jpg`,
    availability: number % 11 === 0 ? 'OutOfStock' : 'InStock',
    price,
    price_currency_code: 'EUR',
    ...(number % 3 === 0 && { list_price: price * 1.25 }),
    rating_value: (3 + (number % 20) / 10).toFixed(1),
    review_count: String((number * 7) % 900),
    categories: [category],
    description: Array.from({ length: 5 }, (_, at) => pick(sentences, at + 2)).join(' '),
    brand,
    tag1: [colour, material],
    inventory_level: number % 60,
    skus: [{ id: `${id}-A`, name: `${kind} ${colour} A` }],
    custom_fields: { material, colour },
  }
}
