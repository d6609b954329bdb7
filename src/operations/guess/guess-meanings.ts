import { type ColumnFacts, findAmount, ofAmounts, spaced } from './column-facts.ts'
import { findMembers, settleFurtherImages } from './find-members.ts'
import { findSlug } from './find-slug.ts'
import type { HeaderNames, Meaning, NameMatch } from './header-names.ts'
import type { Guesses, MeaningGuess } from './model.ts'
import { settleMeanings } from './settle-meanings.ts'
import { readVisibility } from './visibility-words.ts'

type Fits = (facts: ColumnFacts) => boolean

const isText: Fits = ({ urls }) => urls < 0.5
// "On request" in some cells makes no other column of one that is called a price.
const isAmount: Fits = ({ numbers }) => numbers > 0.5
/** Today there may be no sale, and nothing blocked: what the columns are for counts tomorrow. */
const emptyMeanings: ReadonlySet<Meaning> = new Set(['sale_from', 'sale_until', 'sale_period', 'blocked'])
/** What the cells must look like for a name to count; a column that is empty fits nothing. */
const fits: Readonly<Record<Meaning, Fits>> = {
  product_id: (facts) =>
    facts.fill > 0.5 && facts.urls < 0.1 && facts.characters <= 80 && !isOther(facts) && !isMoney(facts),
  name: ({ fill, urls, numbers, dates }) => fill > 0.3 && urls < 0.1 && numbers < 0.9 && dates < 0.9,
  url: ({ urls, imageUrls, urlLists, reach }) =>
    reach !== undefined || (urls > 0.8 && imageUrls < 0.8 && urlLists < 0.2),
  image_url: ({ urls, urlLists, reach }) => reach !== undefined || urls + urlLists > 0.8,
  alternate_image_urls: ({ urls, urlLists }) => urls + urlLists > 0.8,
  availability: ({ sellable, urls, dates, characters }) =>
    sellable > 0.5 || (urls < 0.5 && dates < 0.9 && characters < 60),
  blocked: ({ values, dates, characters, urls }) =>
    values.length <= 12 && dates < 0.9 && characters < 40 && urls === 0,
  visibility: ({ values, dates, characters }) => values.length <= 12 && dates < 0.9 && characters < 40,
  inventory_level: ({ quantities }) => quantities > 0.9,
  price: isAmount,
  // Some exports merely say whether there is an offer.
  sale_price: (facts) => isAmount(facts) && !facts.examples.every((text) => /^[01]$/.test(text)),
  list_price: isAmount,
  price_currency_code: ({ examples }) => examples.every((text) => /^[A-Za-z]{3}$/.test(text)),
  rating_value: ({ numbers }) => numbers > 0.5,
  review_count: ({ numbers }) => numbers > 0.5,
  brand: (facts) => isText(facts) && !isCodes(facts),
  categories: (facts) =>
    isText(facts) && !isCodes(facts) && !isKind(facts) && !/\.@?type$/i.test(facts.column),
  date_published: ({ dates }) => dates > 0.9,
}

/** Of something in the record: its category, its brand. */
function isOther(facts: ColumnFacts): boolean {
  const depth = depthOf(facts)
  return depth > 0 && facts.distinct < (depth === 1 ? 0.2 : 0.98)
}

/** What something costs tells no products apart. */
function isMoney({ column, values }: ColumnFacts): boolean {
  const decimals = values.filter((text) =>
    /^(?:[A-Z]{3}|\p{Sc})?\s*-?\d+[.,]\d{1,4}\s*(?:[A-Z]{3}|\p{Sc})?$/u.test(text),
  ).length
  const isNamed = ofAmounts.test(column) || /\bcosts?\b|kosten|co[uû]t\b/i.test(spaced(column))
  return isNamed || decimals > values.length / 2
}

/** Of what stands beside a product or around it: its unit, its producer. */
const ofThings =
  /(?:^|[.:])(?:unit|size|producer|manufacturer|brand|vendor|supplier|seller|warranty|tax|vat|shipping|delivery|series|category|warehouse|currency)s?\.[^.]+$/i
const ofProductsOnly: ReadonlySet<Meaning> = new Set(['product_id', 'name', 'url', 'image_url'])

/** Numbers of categories say nothing to anybody outside the shop. */
function isCodes({ values }: ColumnFacts): boolean {
  return values.every((text) =>
    /^(?:\d+|[\da-f]{16,}|[a-z]{1,5}[_-]?\d{2,})(?:[\s,;|/]+(?:\d+|[\da-f]{16,}|[a-z]{1,5}[_-]?\d{2,}))*$/i.test(
      text,
    ),
  )
}

/** What a record is, and not what a product is like. */
function isKind({ values }: ColumnFacts): boolean {
  return values.every((text) => kinds.test(text))
}

const kinds =
  /^(?:\w|products?|items?|variants?|variations?|parents?|child|sku|(?:simple|grouped|external|variable|configurable|bundle|virtual|downloadable|physical|digital|standard|normal|regular|stor(?:e)?able|consumable|com-variacao|sem-variacao|variacao|physical|bundled|inventory|non-inventory|service|gift ?card)(?:[ -]product)?)$/i

/** What each column of the file holds; a column counts once, and each meaning has one column. `members`: see `findMembers`. */
export function guessMeanings(
  columns: readonly ColumnFacts[],
  names: HeaderNames,
  members: readonly ColumnFacts[] = [],
): Guesses {
  const guesses = new Map<Meaning, MeaningGuess>()
  const used = new Set<number>()
  const take = (
    meaning: Meaning,
    facts: ColumnFacts,
    reason: string,
    others: readonly ColumnFacts[] = [],
  ) => {
    guesses.set(meaning, { facts, reason, others })
    used.add(facts.index)
  }
  const counts = columns.filter(
    (facts) =>
      names.find(facts.column)?.meaning === 'inventory_level' && facts.quantities > 0.9 && !isFlag(facts),
  )
  const named = columns.flatMap((facts) => {
    const found = names.find(facts.column)
    if (!found) return []
    const match = { ...found, meaning: meaningOf(found.meaning, facts, counts) }
    return [{ facts, match, score: scoreOf(facts, match) }]
  })
  const fitting = named
    .filter(({ facts, match }) => facts.filled > 0 || emptyMeanings.has(match.meaning))
    .filter(({ facts, match }) => !ofProductsOnly.has(match.meaning) || !ofThings.test(facts.column))
    .filter(({ facts, match }) => (fits[match.meaning] ?? isText)(facts) && facts.json !== 'objects')
    .sort((one, other) => other.score - one.score)
  for (const { facts, match } of fitting) {
    if (guesses.has(match.meaning)) continue
    const others = fitting
      .filter((other) => other.match.meaning === match.meaning && other.facts !== facts)
      .filter((other) => depthOf(other.facts) === depthOf(facts))
      .map((other) => other.facts)
    take(match.meaning, facts, `the name is ${match.language} for it`, others)
  }
  settleMeanings(guesses, { columns, ofDescriptions: fitting.flatMap(textOfDescription) })
  findMembers(guesses, { members, names, columns })
  for (const [meaning, find] of Object.entries(byContent)) {
    if (guesses.has(meaning)) continue
    const facts = find(
      columns.filter(({ index, filled }) => filled > 0 && !used.has(index)),
      guesses,
    )
    if (facts) take(meaning, facts, 'the cells look like it')
  }
  settleFurtherImages(guesses, { columns, members, names })
  if (!guesses.has('price') && !guesses.has('sale_price')) {
    const free = columns.filter(({ index }) => !used.has(index))
    const facts = findAmount(free, guesses.get('list_price')?.facts)
    const other = facts ? undefined : findAmount(members, undefined)
    const doubt = facts
      ? 'is it what the product costs?'
      : `which of several in "${other?.list}" is what the product costs?`
    const found = facts ?? other
    if (found)
      guesses.set('price', { facts: found, reason: 'the name speaks of an amount', others: [], doubt })
  }
  return guesses
}

function textOfDescription({ facts, match }: { facts: ColumnFacts; match: NameMatch }): ColumnFacts[] {
  return match.meaning === 'description' ? [facts] : []
}

/** Where the cells show that a name stands for something near to what it says. */
function meaningOf(meaning: Meaning, facts: ColumnFacts, counts: readonly ColumnFacts[]): Meaning {
  const { column, quantities, availabilities, values } = facts
  if (meaning === 'inventory_level') {
    const isAsked = column.includes('?') || counts.length > 0
    if (isFlag(facts) && isAsked) return 'availability'
    // Texts in its place say something all the same.
    if (quantities <= 0.9) return 'availability'
  }
  const isStock = availabilities > 0.8 && values.every((value) => readVisibility(value) === undefined)
  return meaning === 'visibility' && isStock ? 'availability' : meaning
}

function isFlag({ values }: ColumnFacts): boolean {
  return values.length > 0 && values.every((value) => value === '0' || value === '1')
}

const netName =
  /\b(ht|net|netto|nettopreis|excl|exkl|zzgl)\b|hors taxe|\b(sin|bez|sem|senza|zonder|utan|uden) ?(iva|dph|vat|btw|moms)|(tax|vat) excl|\b(without|no|ex) ?(tax|vat)\b|ohne ?(mwst|steuer)/i

/** Shops show prices with tax. */
export function isWithoutTax({ column }: Pick<ColumnFacts, 'column'>): boolean {
  return netName.test(spaced(column).replace(/(?<=\p{L})\d+$/u, ''))
}

/** Whole names before parts, then columns that tell products apart, then those that say most. */
function scoreOf(facts: ColumnFacts, { exact, meaning }: NameMatch): number {
  const { fill, distinct, column } = facts
  // An id that some lack is better than none, and worse than one that all have.
  const apart = meaning === 'product_id' ? distinct * 2 + (fill - 1) * 4 : 0
  // `shipping.price` is no price of the product.
  const short = /short|kurz|courte|corta|kort/i.test(column) ? 0.3 : 0
  const net = isWithoutTax(facts) ? 2.5 : 0
  // What is called a type or a group may be anything.
  const vague = meaning === 'categories' && !/cat|kat|rubri|famil/i.test(column) ? 0.5 : 0
  // The longer text says more.
  // What most products are called is the name of something else.
  const same = meaning === 'name' && facts.filled > 2 && distinct < 0.2 ? 3 : 0
  const telling = meaning === 'description' ? Math.min(facts.characters, 1000) / 2000 : 0
  const clear = meaning === 'availability' ? Math.max(facts.availabilities, facts.quantities) * 2.5 : 0
  return (exact ? 4 : 2) + apart + telling + clear + fill - depthOf(facts) - short - net - vague - same
}

/** The value of a name is no deeper than its list. */
function depthOf({ column }: Pick<ColumnFacts, 'column'>): number {
  return column.replace(/\]\..*$/, '').split('.').length - 1
}

type FindByContent = (columns: readonly ColumnFacts[], guesses: Guesses) => ColumnFacts | undefined

/** What can be told without the name, in this order. */
const byContent: Readonly<Record<Meaning, FindByContent>> = {
  image_url: (columns) => columns.find(({ imageUrls, fill }) => imageUrls > 0.8 && fill > 0.5),
  url: (columns) =>
    columns.find(({ urls, imageUrls, distinct }) => urls > 0.95 && imageUrls < 0.3 && distinct > 0.5),
  price: (columns, guesses) => {
    if (guesses.has('sale_price') || guesses.has('list_price')) return undefined
    return columns.find(({ numbers, currencies, fill }) => numbers > 0.95 && currencies > 0.9 && fill > 0.8)
  },
  product_id: (columns) => {
    const known = columns.filter((facts) => !isMoney(facts) && !ofThings.test(facts.column))
    const codes = known.filter(({ fill, values, urls }) => {
      return fill === 1 && urls === 0 && values.every((text) => /^[\p{L}\p{N}_%./-]+$/u.test(text))
    })
    const unique = known.filter(({ fill, distinct, urls, characters, dates }) => {
      return fill === 1 && distinct === 1 && urls === 0 && characters <= 40 && dates === 0
    })
    return (
      codes.find(({ column }) => /(?:^|[ _.-])sku$/i.test(column)) ??
      unique.find((facts) => codes.includes(facts) && facts.values.every((text) => /\d/.test(text))) ??
      codes.find(({ column }) => /(?:^|[ _.-])(?:handle|permalink|slug)$/i.test(column)) ??
      unique[0]
    )
  },
  // The last part of the address of a product.
  slug: (columns) => findSlug(columns),
  name: (columns, guesses) => {
    // A text alone may be anything: of options, brands, suppliers.
    if (!guesses.has('url') && !guesses.has('image_url')) return undefined
    return columns.find(({ fill, distinct, urls, numbers, characters, values }) => {
      const words = values.filter((text) => /\S\s+\S/.test(text)).length
      const isSaid = fill > 0.95 && distinct > 0.5 && urls === 0 && numbers < 0.5
      return isSaid && characters > 8 && characters < 200 && words > values.length / 2
    })
  },
}
