import { type ColumnFacts, columnFacts } from './column-facts.ts'
import { checkLine, type FeedLine, feedLines } from './feed-text.ts'
import { guessMeanings } from './guess-meanings.ts'
import { guessRules } from './guess-rules.ts'
import type { HeaderNames, Meaning } from './header-names.ts'
import { type Given, type Guesses, listed, type MeaningGuess } from './model.ts'
import { namesIn } from './rule-columns.ts'
import type { SampleTable } from './sample-table.ts'

/** A table whose first line holds an address as the lines below it do, or an amount and no name that is known. */
export function looksLikeData({ columns, rows, dialect }: SampleTable, names: HeaderNames): boolean {
  if (dialect.type !== 'csv') return false
  const isNamed = columns.some((column) => names.find(column) !== undefined)
  return columns.some((column, index) => {
    const [own, below] = [columnFacts('', 0, [[column]]), columnFacts('', index, rows)]
    if (rows.length === 0) return own.urls > 0
    return (own.urls > 0 && below.urls > 0.8) || (!isNamed && own.numbers > 0 && below.numbers > 0.8)
  })
}

type Looks = (facts: ColumnFacts) => boolean

/** What cells can be where no name says so, in this order: a guess to begin with. */
const looks: Readonly<Record<Meaning, Looks>> = {
  price_currency_code: ({ values }) => values.every((text) => /^[A-Z]{3}$/.test(text)),
  availability: ({ availabilities, numbers }) => availabilities > 0.8 && numbers < 0.5,
  price: ({ numbers, fill, amounts }) =>
    numbers > 0.9 && fill > 0.8 && amounts.some((text) => /[.,]\d{2}$/.test(text)),
  name: ({ fill, distinct, urls, numbers, dates, characters }) =>
    fill > 0.9 && distinct > 0.5 && urls === 0 && numbers < 0.5 && dates === 0 && characters > 3,
  inventory_level: ({ quantities, integers }) => quantities > 0.9 && integers > 0.5,
}

/** The guesses with what the cells of the other columns look like. */
function guessByCells(guesses: Guesses, columns: readonly ColumnFacts[]): Guesses {
  const found = new Map<Meaning, MeaningGuess>(guesses)
  for (const [meaning, fits] of Object.entries(looks)) {
    if (found.has(meaning)) continue
    const used = new Set([...found.values()].map(({ facts }) => facts.index))
    const facts = columns.find((one) => one.filled > 0 && !used.has(one.index) && fits(one))
    if (facts) found.set(meaning, { facts, reason: 'the cells look like it', others: [] })
  }
  return found
}

const firstLineIsData = 'its first line looks like data: its columns are numbered, from 1'

const asYouSaid = 'as you said'

interface Known {
  names: HeaderNames
  given: Given
}

/** A configuration to begin with: nothing but cells says what a column is. */
export function headerlessLines(columns: readonly ColumnFacts[], { names, given }: Known): FeedLine[] {
  const lists = { members: [], names }
  const rules = guessRules(guessByCells(guessMeanings(columns, names), columns), given, lists)
  const used = new Set(namesIn(rules.map(({ rule }) => rule)))
  const missing = ['name', 'price'].filter((field) => !rules.some((rule) => rule.field === field))
  const unused = columns.filter(({ column, filled }) => filled > 0 && !used.has(column))
  const doubts = [
    ...missing.map((field) => `fields.${field}: which column is it?`),
    ...unused.map(({ column, examples }) => `column ${column} is not used: it holds ${listed(examples)}`),
  ]
  return [
    { key: 'format', value: { header: 'none' }, comment: firstLineIsData, open: true },
    ...feedLines(rules.map((rule) => (rule.comment === asYouSaid ? rule : { ...rule, open: true }))),
    ...doubts.map(checkLine),
  ]
}
