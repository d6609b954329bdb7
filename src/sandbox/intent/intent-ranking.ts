import type { Constraints } from './intent-constraints.ts'
import type { Hit, ProductIndex } from './intent-index.ts'
import type { IndexedProduct } from './intent-product.ts'

/** What is asked for, all turns of a conversation taken together. */
export interface IntentQuery {
  terms: readonly string[]
  /** Of each stem, the word as it was written. */
  written: ReadonlyMap<string, string>
  brands: readonly string[]
  negatives: readonly (readonly string[])[]
  constraints: Constraints
}

export interface RankingOptions {
  /** Of the terms, those that only choose among what the others find: each must stand somewhere in the product. */
  required?: readonly string[]
  /** Not again. */
  without?: ReadonlySet<string>
  /** At least 1; how much more a product counts for this shopper. */
  preference?: (product: IndexedProduct) => number
  /** Products that the prompt names: they come first whatever they are, even if excluded from recommendations. */
  named?: readonly IndexedProduct[]
}

export interface Ranking {
  products: readonly IndexedProduct[]
  /** Products that match the words, whatever else is demanded. */
  matching: number
  corrected: readonly { from: string; to: string }[]
  unknown: readonly string[]
  /** The brands that were named exclude all others, unless no product would be left. */
  brandsCount: boolean
  /** No product has a price in the currency that was named: numbers were compared as they are. */
  isCurrencyUnknown: boolean
}

interface Scored {
  product: IndexedProduct
  /** How much of what was asked it is. */
  share: number
  score: number
}

const subjectFactor = 2
/** Of two kinds that are asked for together, such as running and shoes, one is not enough. */
const subjectShareMin = 0.6
const descriptionFactor = 0.5
/** Little: other brands are left out anyway, and the brand alone is not what was asked. */
const brandFactor = 0.2
/** A product that is half of what was asked, or less, is something else. */
const shareMin = 0.5

export function rankProducts(index: ProductIndex, query: IntentQuery, options: RankingOptions = {}): Ranking {
  const required = options.required ?? []
  const finding = query.terms.filter((term) => !required.includes(term))
  const { terms, corrected, unknown } = resolveTerms(index, finding.length > 0 ? finding : query.terms)
  const { currencies = [] } = query.constraints
  const isCurrencyUnknown = !currencies.some((code) => index.vocabulary.hasCurrency(code))
  const fits = openFilter(query, { ...options, isCurrencyUnknown })

  const brandWords = new Set(query.brands.flatMap((key) => key.split(' ')))
  const found = terms.length === 0 ? scoreAll(index) : scoreByTerms(index, terms, brandWords)
  const all = required.length > 0 ? keepNearest(found) : found
  const relevant = all.filter(({ product }) => fits(product))
  const ofBrand = relevant.filter(({ product }) => query.brands.includes(product.brandKey))
  const brandsCount = ofBrand.length > 0
  const chosen = keepNearest(brandsCount ? ofBrand : relevant)
  for (const one of chosen) one.score *= options.preference?.(one.product) ?? 1
  chosen.sort((a, b) => compare(a, b, query.constraints.order))
  const { named = [] } = options
  const products = [...new Set([...named, ...chosen.map(({ product }) => product)])]
  return {
    products,
    matching: Math.max(all.length, products.length),
    corrected,
    unknown,
    brandsCount,
    isCurrencyUnknown,
  }
}

/** Which words of the catalogue the words of the prompt mean. */
function resolveTerms(index: ProductIndex, asked: readonly string[]) {
  const { vocabulary } = index
  const terms: string[] = []
  const corrected: { from: string; to: string }[] = []
  const unknown: string[] = []
  for (const term of asked) {
    const isBeginning = term.length > 2 && vocabulary.isBeginning(term)
    const isKnown = vocabulary.has(term) || isBeginning || vocabulary.isDescribed(term)
    const better = isKnown ? undefined : index.correct(term)
    if (better !== undefined) corrected.push({ from: term, to: better })
    else if (!isKnown) unknown.push(term)
    terms.push(better ?? term)
  }
  return { terms, corrected, unknown }
}

/** Without words all products are alike; what many like comes first. */
function scoreAll(index: ProductIndex): Scored[] {
  return [...index.values()].map((product) => ({
    product,
    share: 1,
    score: 1 + (product.rating / 5) * Math.log10(1 + product.reviews),
  }))
}

function scoreByTerms(
  index: ProductIndex,
  terms: readonly string[],
  brandWords: ReadonlySet<string>,
): Scored[] {
  const { vocabulary } = index
  const weights = terms.map((term) => {
    const rarity = Math.log(1 + index.size / Math.max(1, vocabulary.countOf(term)))
    const isSubject = vocabulary.isSubject(term)
    const factor = brandWords.has(term) ? brandFactor : isSubject ? subjectFactor : 1
    return { term, isSubject, isDescribed: vocabulary.isDescribed(term), weight: rarity * factor }
  })
  const scored: (Scored & { subjects: number })[] = []
  let mostSubjects = 0
  for (const { product, score, terms: has } of candidatesOf(index, terms)) {
    const one = { product, share: 0, score, subjects: 0 }
    for (const { term, isSubject, isDescribed, weight } of weights) {
      if (has.includes(term)) one.share += weight
      else if (isDescribed && product.description.includes(` ${term} `)) {
        one.share += weight * descriptionFactor
        one.score += weight
      }
      if (isSubject && (product.categoryWords.has(term) || product.nameWords.has(term)))
        one.subjects += weight
    }
    one.score *= one.share * one.share
    mostSubjects = Math.max(mostSubjects, one.subjects)
    if (one.share > 0) scored.push(one)
  }
  return scored.filter(({ subjects }) => subjects >= mostSubjects * subjectShareMin)
}

/** Where the names, categories and so on have none of the words, the descriptions may. */
function candidatesOf(index: ProductIndex, terms: readonly string[]): Iterable<Hit> {
  const hits = index.search(terms)
  if (hits.length > 0 || !terms.some((term) => index.vocabulary.isDescribed(term))) return hits
  return [...index.values()].map((product) => ({ product, score: 0, terms: [] }))
}

function keepNearest(scored: Scored[]): Scored[] {
  const best = scored.reduce((most, { share }) => Math.max(most, share), 0)
  return scored.filter(({ share }) => share > best * shareMin)
}

function openFilter(
  { negatives, constraints }: IntentQuery,
  options: RankingOptions & { isCurrencyUnknown: boolean },
): (product: IndexedProduct) => boolean {
  const { required = [], without, isCurrencyUnknown } = options
  return (product) => {
    if (without?.has(product.id) === true) return false
    if (product.isExcluded) return false
    if (!meets(product, constraints, isCurrencyUnknown)) return false
    if (negatives.some((phrase) => mentions(product, phrase))) return false
    return required.every(
      (term) => product.words.includes(` ${term}`) || product.description.includes(` ${term} `),
    )
  }
}

function meets(product: IndexedProduct, constraints: Constraints, isCurrencyUnknown: boolean): boolean {
  const {
    priceMin,
    priceMax,
    currencies = [],
    ratingMin,
    discountMin,
    onDiscount,
    availability,
  } = constraints
  const { price, currency = '', rating, discount, isInStock } = product
  if (priceMin !== undefined && !(price !== undefined && isAbove(price, priceMin))) return false
  if (
    priceMax !== undefined &&
    !(price !== undefined && isAbove(-price, { ...priceMax, value: -priceMax.value }))
  ) {
    return false
  }
  if (currencies.length > 0 && !isCurrencyUnknown && !currencies.includes(currency)) return false
  if (ratingMin !== undefined && rating < ratingMin) return false
  if (discountMin !== undefined && discount < discountMin) return false
  if (onDiscount !== undefined && discount > 0 !== onDiscount) return false
  return availability === undefined || isInStock === (availability === 'in-stock')
}

function isAbove(value: number, bound: { value: number; isInclusive: boolean }): boolean {
  return value > bound.value || (bound.isInclusive && value === bound.value)
}

const denials = new Set(['no', 'without', 'not', 'never', 'kein', 'keine', 'ohne', 'nicht'])

/** Whether a product has what must not be; `made without leather` and `leather-free` do not count. */
function mentions({ words, description }: IndexedProduct, phrase: readonly string[]): boolean {
  const wanted = ` ${phrase.join(' ')} `
  if (words.includes(wanted)) return true
  for (let at = description.indexOf(wanted); at !== -1; at = description.indexOf(wanted, at + 1)) {
    const before =
      description
        .slice(Math.max(0, at - 20), at)
        .split(' ')
        .at(-1) ?? ''
    const isFree = description.startsWith('free ', at + wanted.length)
    if (!denials.has(before) && !isFree) return true
  }
  return false
}

/** Of two that are equal otherwise the one in stock comes first, then the smaller id: the same order every time. */
function compare(a: Scored, b: Scored, order: Constraints['order']): number {
  const byOrder =
    order === undefined ? 0 : rounded(b.share) - rounded(a.share) || orders[order](a.product, b.product)
  return (
    byOrder ||
    rounded(b.score) - rounded(a.score) ||
    Number(b.product.isInStock) - Number(a.product.isInStock) ||
    (a.product.id < b.product.id ? -1 : 1)
  )
}

function rounded(value: number): number {
  return Math.round(value * 1e6)
}

const orders: Readonly<
  Record<NonNullable<Constraints['order']>, (a: IndexedProduct, b: IndexedProduct) => number>
> = {
  'price-up': (a, b) => (a.price ?? Infinity) - (b.price ?? Infinity),
  'price-down': (a, b) => (b.price ?? 0) - (a.price ?? 0),
  rating: (a, b) => b.rating - a.rating,
  popularity: (a, b) => b.reviews - a.reviews,
  newest: (a, b) => (a.published < b.published ? 1 : a.published > b.published ? -1 : 0),
}
