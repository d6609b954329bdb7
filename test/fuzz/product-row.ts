import type { Random } from './random.ts'

export const productColumns = [
  'sku',
  'title',
  'description',
  'price',
  'stock',
  'availability',
  'url',
  'categories',
] as const
export type ProductRow = Record<(typeof productColumns)[number], string>

const words = [
  'Größe',
  'Pfanne',
  'Röstung',
  '5" nail',
  "men's",
  'a;b',
  'x,y',
  'A & B',
  '<b>neu</b>',
  'Café',
  '12 l',
  '–',
  '€',
]
const paths = ['Home/Kitchen', '/Sale', 'Home/Garden|New', 'Möbel / Stühle', 'A > B', '', 'Tools|Tools/Saws|']

/** A product as it stands in a feed, now and then with what is wrong there. */
export function generateRow(random: Random): ProductRow {
  const text = (most: number) => random.list(random.between(1, most), () => random.pick(words)).join(' ')
  const id = random.chance(0.97) ? `SKU-${random.below(80)}` : random.pick(['', ' ', '0815', 'A"1'])
  return {
    sku: id,
    title: random.chance(0.97) ? text(4) : '',
    description: random.chance(0.8) ? text(12) + (random.chance(0.2) ? `\n${text(5)}` : '') : '',
    price: random.chance(0.95)
      ? (random.below(100_000) / 100).toFixed(2)
      : random.pick(['', 'n/a', '1,50', '-1', '7']),
    stock: random.chance(0.9) ? String(random.below(500)) : random.pick(['', '3.5', 'many']),
    availability: random.chance(0.97) ? random.pick(['in stock', 'out of stock']) : 'soon',
    url: random.chance(0.97) ? `https://shop.example.com/p/${id.trim()}` : 'shop.example.com/p',
    categories: random.pick(paths),
  }
}
