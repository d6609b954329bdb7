import { splitMoney } from '../../catalog/money-text.ts'
import { parseNumberText } from '../../catalog/number-text.ts'
import { type ColumnFacts, ofAmounts, ofOthers } from './column-facts.ts'
import { findLocale } from './find-locale.ts'
import type { Row } from './guess-links.ts'
import type { Meaning } from './header-names.ts'
import type { Guesses, MeaningGuess } from './model.ts'

interface Table {
  rows: readonly Row[]
  columns: readonly ColumnFacts[]
}

/** No price before it is more than this many times the price. */
const timesMost = 10
const ofNoPrice =
  /\b(?:id|nr|no|ean|gtin|sku|weight|gewicht|stock|qty|points?|score|rating|width|height|length|depth|volume|year|sort|position|count)\b/i

/** What customers may pay where the price is that of a dealer, and prices in another currency. */
const ofOtherBuyers = /pvp|retail|consumer|\bvk\b/i
const ofParts = /varia|option|sku|size|combination/i
const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** A second price that is never below the price is taken for what products cost before, where no name says another thing. */
export function withListPrice(guesses: Guesses, { rows, columns }: Table): Guesses {
  const price = guesses.get('price')
  if (!price || guesses.has('list_price') || guesses.has('sale_price') || price.facts.list !== undefined)
    return guesses
  const taken = new Set([...guesses.values()].map(({ facts }) => facts.index))
  const facts = columns.find((facts) => {
    const name = facts.column.replace(/[_.-]|(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    if (taken.has(facts.index) || facts.list !== undefined || ofOthers.test(name) || ofNoPrice.test(name))
      return false
    if (ofOtherBuyers.test(name) || ofParts.test(name)) return false
    if (name.split(/\W+/).some((word) => currencies.has(word.toUpperCase()))) return false
    return isPrice(facts, price.facts) && isNeverBelow(rows, { price: price.facts, facts })
  })
  if (!facts) return guesses
  const guess: MeaningGuess = {
    facts,
    reason: 'it is never below the price',
    others: [],
    doubt: `is ${JSON.stringify(facts.column)} what products cost before?`,
  }
  return new Map<Meaning, MeaningGuess>([...guesses, ['list_price', guess]])
}

/** Written as the price is, and not as a number of something else. */
function isPrice(facts: ColumnFacts, price: ColumnFacts): boolean {
  if (facts.numbers <= 0.9 || facts.dates > 0) return false
  if (ofAmounts.test(facts.column)) return true
  const decimals = (one: ColumnFacts) => one.amounts.filter((text) => /[.,]\d{2}$/.test(text)).length
  const isWritten = price.currencies > 0.9 && facts.currencies > 0.9
  return isWritten || (facts.amounts.length > 0 && decimals(facts) > facts.amounts.length * 0.5)
}

function isNeverBelow(
  rows: readonly Row[],
  { price, facts }: { price: ColumnFacts; facts: ColumnFacts },
): boolean {
  const locale = findLocale([...price.amounts, ...facts.amounts]) ?? { decimal: '.', thousands: undefined }
  const numberOf = (row: Row, { index }: ColumnFacts) => {
    const cell = row[index] ?? ''
    if (typeof cell === 'number') return cell
    const digits = parseNumberText(splitMoney(cell)?.amount ?? '', locale)
    return typeof digits === 'string' ? Number(digits) : 0
  }
  const pairs = rows
    .map((row) => [numberOf(row, price), numberOf(row, facts)] as const)
    .filter(([now, before]) => now > 0 && before > 0)
  const higher = pairs.filter(([now, before]) => before > now)
  return higher.length > 0 && pairs.every(([now, before]) => before >= now && before <= now * timesMost)
}
