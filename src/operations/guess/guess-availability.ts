import type { NumberLocale } from '../../catalog/number-text.ts'
import { type ColumnFacts, isAvailability } from './column-facts.ts'
import { findLocale } from './find-locale.ts'
import { amountRule, amountsOf } from './guess-prices.ts'
import { guessVisibility, type VisibilityGuess } from './guess-visibility.ts'
import { doubted, type Guesses, listed, type MeaningGuess, type RuleGuess, why } from './model.ts'
import { partsOf } from './rule-columns.ts'

/** What can be sold, before what is hidden is left aside. */
interface StockGuess {
  /** In the words of a rule; undefined where no column says it. */
  parts: (Readonly<Record<string, unknown>> & { when?: Readonly<Record<string, string>> }) | undefined
  comment: string
  doubts: readonly string[]
}

/** More pieces than are counted. */
const isPlenty =
  /^(?:>=?\s*\d+|[1-9]\d*\s*\+|unlimited|unbegrenzt|unbeschränkt|illimitée?|ilimitad[oa]|obegränsa[dt])$/i

const noStock: StockGuess = {
  parts: undefined,
  comment: 'no column says so: all products count as in stock',
  doubts: [],
}

/** Of what can be sold, and of what is shown at all. */
export function availabilityRule(guesses: Guesses): RuleGuess {
  const stock = guessStock(guesses)
  const visibility = guessVisibility(guesses)
  const columns = Object.keys(visibility.where)
  const hidden =
    columns.length === 0
      ? []
      : [`not shown where ${columns.map((name) => JSON.stringify(name)).join(' or ')} says so`]
  const comment = [stock.comment, ...hidden].join('; ')
  const open = stock.parts === undefined ? true : undefined
  const line = { field: 'availability', rule: ruleOf(stock, visibility), comment, open }
  return doubted(line, [...stock.doubts, ...visibility.doubts])
}

/** What `where` leaves out has no value, and `default` takes its place. */
function ruleOf({ parts }: StockGuess, { where }: VisibilityGuess): unknown {
  const [column] = Object.keys(where)
  if (column === undefined) return parts ?? { value: 'InStock' }
  const hiding = { where, default: 'Invisible' }
  if (!parts) return shownRule(column, where[column], hiding)
  // An empty cell must not become what is hidden.
  return { ...parts, when: { '': 'OutOfStock', ...parts.when }, ...hiding }
}

/** Where no column says what can be sold. */
function shownRule(column: string, cells: unknown, hiding: Pick<VisibilityGuess, 'where'>): unknown {
  if (Object.keys(hiding.where).length > 1 || !Array.isArray(cells))
    return { column, when: { '': 'InStock' }, otherwise: 'InStock', ...hiding }
  return { column, when: Object.fromEntries(cells.map((cell) => [cell, 'InStock'])), otherwise: 'Invisible' }
}

export function guessStock(guesses: Guesses): StockGuess {
  const words = guesses.get('availability')
  const pieces = guesses.get('inventory_level')
  if (words && !isCount(words.facts)) return wordStock(words, { pieces, guesses })
  const counted = pieces ?? words
  return counted ? countStock(counted, guesses) : noStock
}

function countStock(guess: MeaningGuess, guesses: Guesses): StockGuess {
  const { column } = guess.facts
  const when = { '': 'OutOfStock', '<=0': 'OutOfStock', ...belowNone(guess.facts) }
  const marks = partsOf(amountRule(column, stockLocale(guess.facts, guesses)))
  const parts = { column, ...marks, when, otherwise: 'InStock', ...anyOf(guess) }
  const doubts = isCode(guess, guesses)
    ? ['are these numbers of pieces, or codes that stand for something?']
    : []
  return { parts, comment: why(guess, 'a quantity: none is out of stock'), doubts }
}

/** SAP writes a minus behind the digits. */
function belowNone({ values }: ColumnFacts): Readonly<Record<string, string>> {
  return values.some((value) => value.endsWith('-')) ? { '/-$/': 'OutOfStock' } : {}
}

/** Few small numbers under a name that speaks of no pieces. */
function isCode(guess: MeaningGuess, guesses: Guesses): boolean {
  const { values, filled } = guess.facts
  const isSmall =
    values.length <= 8 && filled >= values.length * 2 && values.every((text) => /^\d{1,2}$/.test(text))
  return isSmall && guesses.get('availability') === guess
}

function anyOf({ facts }: MeaningGuess): { rows?: 'any' } {
  return facts.list === undefined ? {} : { rows: 'any' }
}

/** A word that is not known rejects its record; where most are such, the column alone is no help. */
function wordStock(
  guess: MeaningGuess,
  { pieces, guesses }: { pieces: MeaningGuess | undefined; guesses: Guesses },
): StockGuess {
  const { column, sellable, values } = guess.facts
  const plenty = values.filter((value) => !isAvailability(value) && isPlenty.test(value))
  const unknown = values.filter(
    (value) => !isAvailability(value) && !isNumber(value) && !isPlenty.test(value),
  )
  // Some exports write the number of pieces where they know it.
  const hasNumbers = values.some((value) => isNumber(value) && !isAvailability(value))
  const pairs = [
    ...(hasNumbers ? [['<=0', 'OutOfStock'] as const, ['>0', 'InStock'] as const] : []),
    ...plenty.map((value) => [value, 'InStock'] as const),
  ]
  const when = pairs.length === 0 ? {} : { when: Object.fromEntries(pairs) }
  const parts = { column, words: 'availability', ...when, ...anyOf(guess) }
  if (unknown.length === 0) return { parts, comment: why(guess), doubts: sameForAll(guess, pieces) }
  if (sellable >= 0.5) {
    return { parts, comment: why(guess), doubts: [`say with when what is meant by ${listed(unknown)}`] }
  }
  const doubt = `${JSON.stringify(column)} says it in words that are not known, such as ${listed(unknown)}`
  if (pieces) {
    const counted = countStock(pieces, guesses)
    return { ...counted, doubts: [doubt] }
  }
  const doubts = [`${doubt}: they count as in stock until when says otherwise`]
  return { parts: { ...parts, otherwise: 'InStock' }, comment: why(guess), doubts }
}

/** What is said of every product tells nothing. */
function sameForAll({ facts }: MeaningGuess, pieces: MeaningGuess | undefined): string[] {
  if (facts.values.length > 1 || facts.filled < 5 || !pieces?.facts.hasZeros) return []
  return [`it says the same of all; ${JSON.stringify(pieces.facts.column)} says that of some there is none`]
}

function isNumber(value: string): boolean {
  return /^-?\d{1,9}$/.test(value)
}

function isCount({ quantities, values }: ColumnFacts): boolean {
  return quantities > 0.9 && !values.every((text) => /^[01]$/.test(text))
}

/** Some exports write pieces as 5.0 or 5,000: the prices of the file show which mark that is. */
export function stockLocale(facts: ColumnFacts, guesses: Guesses): NumberLocale | undefined {
  if (facts.integers === 1) return undefined
  return findLocale([...amountsOf(guesses), ...facts.amounts]) ?? facts.locale
}
