import type { Recommendation } from '../../api/contract/intent.ts'
import { brandKey } from './intent-prompt.ts'
import { wordsOf } from './intent-words.ts'

/** What is searched; the names are those of MiniSearch's fields. */
export interface SearchedText {
  id: string
  code: string
  name: string
  brand: string
  categories: string
  tags: string
  more: string
}

/** What ranking looks at, of one product. The product itself stays in the store as bytes. */
export interface IndexedProduct {
  id: string
  /** The stems of the whole name and of the id, with blanks between them: for prompts that name a product. */
  nameKey: string
  idKey: string
  brand: string | undefined
  brandKey: string
  /** The last level of each category path, as it is written. */
  categories: readonly string[]
  categoryWords: ReadonlySet<string>
  nameWords: ReadonlySet<string>
  price: number | undefined
  currency: string | undefined
  /** Share of the list price, 0 without one. */
  discount: number
  rating: number
  reviews: number
  published: string
  isInStock: boolean
  isExcluded: boolean
  /** Stems of all searched text, each between blanks; `|` ends what one field of the search holds. */
  words: string
  /** The same of the description. */
  description: string
}

const wordsKeptMax = 2000
const sensitiveName = /supplier.?cost/i

/** Undefined: never recommended, because it is not to be seen or sold any more. */
export function parseIndexedProduct(
  document: Buffer,
): { product: IndexedProduct; text: SearchedText } | undefined {
  const fields = parseFields(document)
  const id = textOf(fields.product_id)
  if (id === undefined || /^(?:invisible|discontinued)$/i.test(textOf(fields.availability) ?? ''))
    return undefined
  const name = textOf(fields.name) ?? ''
  const brand = textOf(fields.brand)
  const categories = textsOf(fields.categories)
  const text: SearchedText = {
    id,
    code: id,
    name,
    brand: brand ?? '',
    categories: categories.join(' '),
    tags: [fields.tag1, fields.tag2, fields.tag3].flatMap(textsOf).join(' '),
    more: [
      ...objectsOf(fields.skus).flatMap((sku) => [textOf(sku.name) ?? '', ...customTexts(sku)]),
      ...customTexts(fields),
    ]
      .join(' ')
      .slice(0, wordsKeptMax),
  }
  const searched = [name, text.brand, text.categories, text.tags, text.more, id].map(wordsOf)
  return {
    text,
    product: {
      id,
      nameKey: wordsOf(name).join(' '),
      idKey: wordsOf(id).join(' '),
      brand,
      brandKey: brandKey(wordsOf(brand ?? '')),
      categories: categories.map((path) => path.slice(path.lastIndexOf('/') + 1)),
      categoryWords: new Set(wordsOf(text.categories)),
      nameWords: new Set(wordsOf(name)),
      price: numberOf(fields.price),
      currency: textOf(fields.price_currency_code)?.toUpperCase(),
      discount: discountOf(fields),
      rating: numberOf(fields.rating_value) ?? 0,
      reviews: numberOf(fields.review_count) ?? 0,
      published: textOf(fields.date_published) ?? '',
      isInStock: isInStock(textOf(fields.availability)),
      isExcluded: isExcluded(fields),
      words: between(searched.flatMap((words) => [...words, '|'])),
      description: between(wordsOf((textOf(fields.description) ?? '').slice(0, wordsKeptMax))),
    },
  }
}

/** A product as the intent API names its fields; what is not known is null. The supplier's cost is none of them. */
export function recommendationOf(document: Buffer): Recommendation {
  const fields = parseFields(document)
  const currency = textOf(fields.price_currency_code) ?? null
  return {
    productId: textOf(fields.product_id) ?? '',
    name: textOf(fields.name) ?? null,
    url: textOf(fields.url) ?? null,
    description: textOf(fields.description) ?? null,
    imageUrl: textOf(fields.image_url) ?? null,
    brand: textOf(fields.brand) ?? null,
    availability: textOf(fields.availability) ?? null,
    currencyCode: currency,
    priceCurrencyCode: currency,
    price: numberOf(fields.price) ?? null,
    listPrice: numberOf(fields.list_price) ?? null,
    ratingValue: numberOf(fields.rating_value) ?? null,
    reviewCount: integerOf(fields.review_count),
    inventoryLevel: integerOf(fields.inventory_level),
    isExcluded: isExcluded(fields),
    onDiscount: discountOf(fields) > 0,
    skus: Array.isArray(fields.skus) ? objectsOf(fields.skus).map(recommendedSku) : null,
  }
}

function recommendedSku(sku: Fields) {
  return {
    id: textOf(sku.id) ?? '',
    inventoryLevel: integerOf(sku.inventory_level),
    availability: textOf(sku.availability) ?? null,
    name: textOf(sku.name) ?? null,
  }
}

type Fields = Readonly<Record<string, unknown>>

function parseFields(document: Buffer): Fields {
  const [fields] = objectsOf([JSON.parse(document.toString('utf8'))])
  return fields ?? {}
}

/** Lenient products may hold numbers where the contract has texts. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

function integerOf(value: unknown): number | null {
  const number = numberOf(value)
  return Number.isSafeInteger(number) && number !== undefined ? number : null
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((one) => textOf(one) ?? []) : []
}

function objectsOf(value: unknown): Fields[] {
  if (!Array.isArray(value)) return []
  return value.filter((one): one is Fields => typeof one === 'object' && one !== null && !Array.isArray(one))
}

function customTexts({ custom_fields: custom }: Fields): string[] {
  return objectsOf([custom])
    .flatMap((fields) => Object.entries(fields))
    .filter(([name]) => !sensitiveName.test(name))
    .map(([, value]) => textOf(value) ?? '')
}

function discountOf({ price, list_price: listPrice }: Fields): number {
  const [now, before] = [numberOf(price), numberOf(listPrice)]
  return now !== undefined && before !== undefined && before > now ? (before - now) / before : 0
}

function isInStock(availability: string | undefined): boolean {
  return /^in[ _-]?stock$/i.test(availability?.trim() ?? '')
}

/** The contract has no field for it; merchants may say so in a custom field. */
function isExcluded({ custom_fields: custom }: Fields): boolean {
  const [fields] = objectsOf([custom])
  return /^(?:true|1|yes)$/i.test(String(fields?.excluded ?? fields?.is_excluded ?? ''))
}

function between(words: readonly string[]): string {
  return ` ${words.join(' ')} `
}
