import type { ColumnFacts } from './column-facts.ts'
import { ofSmallOnes } from './find-members.ts'
import type { Meaning } from './header-names.ts'
import type { MeaningGuess } from './model.ts'

interface File {
  columns: readonly ColumnFacts[]
  /** Those whose names say that they describe the product. */
  ofDescriptions: readonly ColumnFacts[]
}

/** What one column is taken for may follow from what stands beside it. */
export function settleMeanings(guesses: Map<Meaning, MeaningGuess>, { columns, ofDescriptions }: File): void {
  settleStandard(guesses)
  settleRegular(guesses)
  settleLevels(guesses, columns)
  settleName(guesses, ofDescriptions)
  settleImage(guesses, columns)
  addDoubts(guesses, columns)
}

const regularName =
  /regular|normal|ordinar|r[eé]guli|habitual|retail|standard|\bfull|cheio|intero|pieno|plein|lleno|reg[_ -]?price|before/i

/** Dealers pay less than that, too. */
const ofCosts = /retail|standard/i

/** Beside a regular price, "price" alone is what the product costs now: with the discount, where there is one. */
function settleRegular(guesses: Map<Meaning, MeaningGuess>): void {
  const price = guesses.get('price')
  if (!price || guesses.has('list_price')) return
  const candidates = [price.facts, ...price.others]
  const regular = candidates.find(({ column }) => regularName.test(column))
  const [now, ...others] = candidates.filter((facts) => facts !== regular)
  if (!regular || !now || now.mean > regular.mean) return
  if (ofCosts.test(regular.column) && guesses.has('sale_price')) return
  const doubt = ofCosts.test(regular.column)
    ? { doubt: `is it what customers pay, and ${JSON.stringify(regular.column)} what it cost before?` }
    : {}
  guesses.set('price', { ...price, ...doubt, facts: now, others })
  guesses.set('list_price', { facts: regular, reason: price.reason, others: [] })
  if (now.mean < regular.mean) guesses.delete('sale_price')
}

/** Below a list price, a standard price may be what the shop pays. */
function settleStandard(guesses: Map<Meaning, MeaningGuess>): void {
  const [price, list] = [guesses.get('price'), guesses.get('list_price')]
  if (!price || !list || price.others.length > 0 || guesses.has('sale_price')) return
  if (/standard|cost/i.test(price.facts.column) && list.facts.mean > price.facts.mean) guesses.delete('price')
}

const levelNumber = /(?<![\d])(\d)(?=\D*$)/

/** Numbered columns of categories are the levels of one path. */
function settleLevels(guesses: Map<Meaning, MeaningGuess>, columns: readonly ColumnFacts[]): void {
  const known = guesses.get('sub_category') ?? guesses.get('categories')
  const stem = known?.facts.column.replace(levelNumber, '#')
  if (!known || stem === undefined || !stem.includes('#')) return
  const [first, second, ...others] = columns
    .filter(({ column, filled }) => filled > 0 && column.replace(levelNumber, '#') === stem)
    .toSorted((one, other) => levelOf(one) - levelOf(other))
  if (!first || !second) return
  const isAmong = [first, second, ...others].includes(guesses.get('categories')?.facts ?? first)
  const reason = 'the names are those of levels'
  if (isAmong) guesses.set('categories', { facts: first, reason, others: [] })
  const rest = isAmong ? [second, ...others] : [first, second, ...others]
  const [below, ...further] = rest
  if (below) guesses.set('sub_category', { facts: below, reason, others: further })
}

function levelOf({ column }: ColumnFacts): number {
  return Number(levelNumber.exec(column)?.[1] ?? 0)
}

/** ERPs call the name a description, and the description a long one. */
function settleName(guesses: Map<Meaning, MeaningGuess>, candidates: readonly ColumnFacts[]): void {
  if (guesses.has('name')) return
  const [name] = candidates
    .filter(({ fill, distinct, characters, html }) => {
      return fill > 0.95 && distinct > 0.5 && characters <= 120 && html === 0
    })
    .sort((one, other) => one.characters - other.characters)
  if (!name) return
  const rest = candidates.find((facts) => facts !== name)
  const description = guesses.get('description')
  guesses.set('name', { facts: name, reason: 'it is short, and no column is called a name', others: [] })
  if (description && rest) guesses.set('description', { ...description, facts: rest })
  else guesses.delete('description')
}

/** A small picture is taken only where there is no other. */
function settleImage(guesses: Map<Meaning, MeaningGuess>, columns: readonly ColumnFacts[]): void {
  const image = guesses.get('image_url')
  if (!image || !ofSmallOnes.test(image.facts.column)) return
  const taken = new Set([...guesses.values()].map(({ facts }) => facts.index))
  const other = columns.find((facts) => {
    const isImage = facts.imageUrls > 0.8 && facts.urlLists === 0 && facts.fill >= image.facts.fill
    return isImage && !taken.has(facts.index) && !ofSmallOnes.test(facts.column)
  })
  if (other) guesses.set('image_url', { facts: other, reason: 'the cells look like it', others: [] })
}

export const ofDiscounts = /discount|rabatt|remise|descuento|rebate/i
const isFlag = (value: string) => /^(?:yes|no|true|false|y|n|0|1|ja|nein|nej|oui|non|s[ií])$/i.test(value)

function addDoubts(guesses: Map<Meaning, MeaningGuess>, columns: readonly ColumnFacts[]): void {
  const doubt = (meaning: Meaning, text: string) => {
    const guess = guesses.get(meaning)
    if (guess) guesses.set(meaning, { ...guess, doubt: text })
  }
  const minor = columns.find(({ column }) => /minor.?unit|divisor|fraction.?digits/i.test(column))
  if (minor)
    doubt(
      'price',
      `the amounts may be in a hundredth of the currency, as ${JSON.stringify(minor.column)} says`,
    )
  const off = columns.find(
    ({ column, numbers, mean }) => ofDiscounts.test(column) && numbers > 0.9 && mean > 0,
  )
  if (off && !guesses.has('sale_price') && !guesses.has('list_price'))
    doubt('price', `is ${JSON.stringify(off.column)} still to be taken off it?`)
  const sale = guesses.get('sale_price')?.facts
  const flag = columns.find(({ column, values }) => /\bon[ _]?sale$/i.test(column) && values.every(isFlag))
  const isMixed = flag !== undefined && flag.values.length > 1
  if (sale && isMixed) doubt('sale_price', `does it count only where ${JSON.stringify(flag.column)} says so?`)
}
