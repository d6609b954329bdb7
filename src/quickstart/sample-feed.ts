import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { seededRandom } from '../lib/seeded-random.ts'

/** The columns of the sample, named as an ERP would name them. */
export const sampleColumns = [
  'sku',
  'title',
  'link',
  'image',
  'stock_state',
  'price',
  'currency',
  'list_price',
  'rating',
  'reviews',
  'category',
  'category_ids',
  'parent_category_ids',
  'description',
  'brand',
  'tags',
  'colour_tags',
  'season_tags',
  'published',
  'variation',
  'more_images',
  'qty',
  'cost',
  'material',
  'colour',
  'supplier',
  'weight',
] as const

const brands = ['Alder & Finch', 'Nordhav', 'Casa Lumo', 'Brightwell', 'Fjällro', 'Ébène', 'Tern', 'Oakline']
const kinds = [
  ['Lamp', 'Home > Lighting > Table lamps'],
  ['Armchair', 'Home > Furniture > Seating'],
  ['Trail shoe', 'Sports > Running > Shoes'],
  ['Rain jacket', 'Clothing > Outerwear > Rain'],
  ['Coffee grinder', 'Kitchen > Coffee > Grinders'],
  ['Backpack', 'Travel > Bags > Backpacks'],
  ['Notebook', 'Office > Paper > Notebooks'],
  ['Cycling light', 'Sports > Cycling > Lights'],
] as const
const colours = ['slate', 'moss', 'ochre', 'crème', 'midnight', 'rust', 'petrol', 'birch']
const materials = [
  'oak',
  'recycled nylon',
  'brushed steel',
  'linen',
  'wool',
  'ceramic',
  'cork',
  'full-grain leather',
]
const sentences = [
  'Made in small batches by people who know the material and care how it ages.',
  'The seams are taped, the edges are bound, and every part can be replaced.',
  'It fits narrow shelves, deep bags and hands of any size.',
  'Tested for five years, guaranteed for ten, repairable for as long as we exist.',
  'Looks quiet in the morning, warm in the evening and good in photographs.',
  'Ships flat, assembles without tools, and comes with spare screws in a labelled bag.',
  'The colour comes from the fibre itself, so it does not wash out – even at 60 °C.',
  'Weighs less than it looks; “surprisingly light”, as one reviewer put it.',
]

export interface SampleOptions {
  products: number
  /** Of the description, so that documents have about the size wanted: 6 gives about 1.3 KB. */
  sentencesPerProduct?: number
  /** Products (by number, from 0) whose price differs from the plain sample. */
  isRepriced?: (product: number) => boolean
  /** The same for descriptions. */
  isReworded?: (product: number) => boolean
  /** Products that stand in the file; default: all. */
  isIncluded?: (product: number) => boolean
}

export function sampleId(product: number): string {
  return `SKU-${String(product).padStart(8, '0')}`
}

/** One row of the sample as cells in the order of the columns, the same for the same number every time. */
export function sampleRow(product: number, options: SampleOptions): string[] {
  const { sentencesPerProduct = 6, isRepriced, isReworded } = options
  const random = seededRandom((product + 1) * 0x9e3779b1)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const [kind, category] = pick(kinds)
  const brand = pick(brands)
  const colour = pick(colours)
  const material = pick(materials)
  const sku = sampleId(product)
  const cents = 500 + Math.floor(random() * 40_000)
  const price = (cents + (isRepriced?.(product) ? 100 : 0)) / 100
  const quantity = Math.floor(random() * 60)
  const words = Array.from({ length: sentencesPerProduct }, () => pick(sentences))
  if (isReworded?.(product)) words.push('Now with a longer cable.')
  const image = `https://images.shop.example/${sku.toLowerCase()}`
  return [
    sku,
    `${brand} ${kind}, ${colour}`,
    `https://shop.example/p/${sku.toLowerCase()}`,
    `${image}/front.jpg`,
    quantity === 0 ? 'sold out' : 'available',
    price.toFixed(2),
    'EUR',
    ((cents + 1500) / 100).toFixed(2),
    (3 + random() * 2).toFixed(1),
    String(Math.floor(random() * 900)),
    category,
    `${100 + (product % 90)}|${200 + (product % 70)}`,
    String(10 + (product % 9)),
    words.join('\n'),
    brand,
    `${colour}|${material}`,
    colour,
    pick(['spring', 'summer', 'autumn', 'winter']),
    `20${10 + Math.floor(random() * 16)}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`,
    `${sku}-A`,
    `${image}/side.jpg|${image}/back.jpg`,
    String(quantity),
    (price * 0.6).toFixed(2),
    material,
    colour,
    pick(['Hamburg', 'Porto', 'Gävle', 'Łódź']),
    `${(random() * 9).toFixed(2)} kg`,
  ]
}

/** Writes the sample as CSV; memory stays constant. Returns its size in bytes. */
export async function writeSampleFeed(file: string, options: SampleOptions): Promise<number> {
  const stream = createWriteStream(file)
  stream.write(`${sampleColumns.join(',')}\n`)
  for (let product = 0; product < options.products; product += 1) {
    if (options.isIncluded?.(product) === false) continue
    const row = sampleRow(product, options).map(quoteCell).join(',')
    if (!stream.write(`${row}\n`)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
  return stream.bytesWritten
}

/** The feed's `fields` that map the sample, as YAML lines without indentation. */
export const sampleFields = [
  'product_id: sku',
  'name: title',
  'url: link',
  'image_url: image',
  'availability: { column: stock_state, when: { available: InStock, sold out: OutOfStock } }',
  'price: price',
  'price_currency_code: currency',
  'list_price: list_price',
  'rating_value: rating',
  'review_count: reviews',
  'categories: { column: category, separator: ">" }',
  'categoryIds: category_ids',
  'parentCategoryIds: parent_category_ids',
  'description: description',
  'brand: brand',
  'tag1: tags',
  'tag2: colour_tags',
  'tag3: season_tags',
  'date_published: published',
  'variation_id: variation',
  'alternate_image_urls: more_images',
  'inventory_level: qty',
  'supplier_cost: cost',
  'custom_fields: { entries: { material: material, colour: colour, supplier: supplier, weight: weight } }',
]

function quoteCell(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
