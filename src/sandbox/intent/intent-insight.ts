import type { CheckedIntentRequest, Recommendation } from '../../api/contract/intent.ts'
import type { Constraints, PriceBound } from './intent-constraints.ts'
import type { Continued } from './intent-conversation.ts'
import type { IntentQuery } from './intent-ranking.ts'

type Request = Pick<CheckedIntentRequest, 'locale' | 'country' | 'responseFormat'>

export interface Told {
  request: Request
  continued: Continued
  products: readonly Recommendation[]
  /** As it is written, of the key of a brand. */
  brandName: (key: string) => string
}

/** The answer in words: one sentence on the selection, and each product. English, with numbers as the locale writes them. */
export function writeInsight(told: Told): string {
  const { request, continued, products } = told
  const isMarkdown = request.responseFormat?.trim().toLowerCase() === 'markdown'
  const { query, ranking, turn } = continued
  const wanted = describeWanted(query, told)
  if (products.length === 0) {
    const what = turn === 'more' ? 'There are no more products' : 'No product in this catalogue fits'
    return `${what}${wanted === '' ? '' : ` for ${wanted}`}. Ask for less, or in other words.`
  }
  const all = ranking.products.length
  const count =
    all > products.length ? `the best ${products.length} of ${all} products` : countOf(products.length)
  const head = `Here ${products.length === 1 && all === 1 ? 'is' : 'are'} ${count}${wanted === '' ? '' : ` for ${wanted}`}`
  if (!isMarkdown) return `${head}: ${products.map((one) => describePlain(one, request)).join('; ')}.`
  return `${escapeMarkdown(head)}:\n\n${products.map((one, at) => `${at + 1}. ${describeMarkdown(one, request)}`).join('\n')}`
}

/** Why these products: what was understood of the prompt and what it did. */
export function writeContext(told: Told): string {
  const { continued, products } = told
  const { query, ranking, turn } = continued
  const { corrected, unknown, brandsCount, isCurrencyUnknown } = ranking
  const { currencies = [] } = query.constraints
  const lines = [
    turns[turn],
    query.terms.length > 0
      ? `Looked for: ${asWritten(query, query.terms)}.`
      : 'No word describes a product: all were considered.',
    ...describeConstraints(query, told).map((text) => `${text[0]?.toUpperCase()}${text.slice(1)}.`),
    corrected.length > 0 ? `Read ${corrected.map(({ from, to }) => `"${from}" as "${to}"`).join(', ')}.` : '',
    unknown.length > 0 ? `No product has: ${unknown.join(', ')}.` : '',
    query.brands.length > 0 && !brandsCount
      ? 'The brand that was named has nothing that fits; other brands are shown.'
      : '',
    currencies.length > 0 && isCurrencyUnknown
      ? 'No price is in that currency; the numbers were compared as they are.'
      : '',
    `${ranking.products.length} of ${ranking.matching} products with these words meet all demands; ${products.length} shown, ${ordered(query.constraints)}.`,
  ]
  return lines.filter((line) => line !== '').join(' ')
}

const turns = {
  first: '',
  named: 'The prompt is the name or id of a product.',
  narrowed: 'Follow-up: narrows the answer before.',
  more: 'Follow-up: goes on without what was shown.',
  'new-subject': 'A new subject: nothing of the conversation before counts.',
} as const

function ordered({ order }: Constraints): string {
  const texts = {
    'price-up': 'cheapest first',
    'price-down': 'most expensive first',
    rating: 'best rated first',
    popularity: 'most reviewed first',
    newest: 'newest first',
  }
  return order === undefined ? 'by relevance, of equal ones those in stock first' : texts[order]
}

function describeWanted(query: IntentQuery, told: Told): string {
  const words = query.terms.length > 0 ? [`“${asWritten(query, query.terms)}”`] : []
  return [...words, ...describeConstraints(query, told)].join(', ')
}

function asWritten({ written }: IntentQuery, stems: readonly string[]): string {
  return stems.map((stem) => written.get(stem) ?? stem).join(' ')
}

function describeConstraints(query: IntentQuery, { request, brandName }: Told): string[] {
  const { constraints, negatives, brands } = query
  const {
    priceMin,
    priceMax,
    currencies = [],
    ratingMin,
    discountMin,
    onDiscount,
    availability,
  } = constraints
  const [currency] = currencies
  const price = (bound: PriceBound) => formatPrice(bound.value, currency ?? null, request)
  return [
    brands.length > 0 ? `brand ${brands.map(brandName).join(' or ')}` : '',
    priceMin === undefined ? '' : `price ${priceMin.isInclusive ? 'at least' : 'above'} ${price(priceMin)}`,
    priceMax === undefined ? '' : `price ${priceMax.isInclusive ? 'at most' : 'below'} ${price(priceMax)}`,
    ratingMin === undefined ? '' : `rated at least ${ratingMin}`,
    discountMin === undefined ? '' : `at least ${Math.round(discountMin * 100)} % off`,
    onDiscount === true && discountMin === undefined ? 'on discount' : '',
    onDiscount === false ? 'not on discount' : '',
    availability === undefined ? '' : availability === 'in-stock' ? 'in stock' : 'out of stock',
    negatives.length === 0 ? '' : `without ${negatives.map((phrase) => asWritten(query, phrase)).join(', ')}`,
  ].filter((text) => text !== '')
}

function describePlain(product: Recommendation, request: Request): string {
  return `${product.name ?? product.productId} (${describeOffer(product, request)})`
}

function describeMarkdown(product: Recommendation, request: Request): string {
  const name = escapeMarkdown(product.name ?? product.productId)
  const title = product.url ? `[${name}](<${product.url.replaceAll(/[<>]/g, encodeURIComponent)}>)` : name
  return `**${title}** – ${escapeMarkdown(describeOffer(product, request))}`
}

function describeOffer(product: Recommendation, request: Request): string {
  const { price, listPrice, priceCurrencyCode, onDiscount, availability, ratingValue } = product
  const format = (value: number) => formatPrice(value, priceCurrencyCode ?? null, request)
  const was = onDiscount && typeof listPrice === 'number' ? `, was ${format(listPrice)}` : ''
  return [
    typeof price === 'number' ? `${format(price)}${was}` : '',
    typeof ratingValue === 'number' ? `rated ${ratingValue}` : '',
    availability === 'OutOfStock' ? 'out of stock' : '',
  ]
    .filter((text) => text !== '')
    .join(', ')
}

function formatPrice(value: number, currency: string | null, { locale, country }: Request): string {
  const language = (locale ?? 'en').replaceAll('_', '-')
  const tag =
    country !== undefined && !language.includes('-') ? `${language}-${country.toUpperCase()}` : language
  try {
    return new Intl.NumberFormat(tag, currency === null ? {} : { style: 'currency', currency }).format(value)
  } catch {
    // The contract takes any text as a currency code, and any language.
    return currency === null ? String(value) : `${value} ${currency}`
  }
}

function countOf(count: number): string {
  return count === 1 ? 'one product' : `${count} products`
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, '\\$&').replaceAll(/\s+/g, ' ')
}
