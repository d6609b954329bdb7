import type { ColumnFacts } from './column-facts.ts'
import { doubted, type Given, type Guesses, listed, type MeaningGuess, type RuleGuess, why } from './model.ts'

const field = 'price_currency_code'
const unknownCurrency = 'EUR'

interface Reading {
  /** ISO codes that stand beside amounts, or that a sign there means. */
  codes: readonly string[]
  /** Signs that several currencies share. */
  marks: readonly string[]
  /** The file says another currency than the user. */
  doubt: string | undefined
}

export function readsCurrency(
  priced: readonly Pick<ColumnFacts, 'codes' | 'marks'>[],
  { currency }: Given,
): Reading {
  const codes = [...new Set(priced.flatMap((facts) => facts.codes))]
  const marks = [...new Set(priced.flatMap((facts) => facts.marks))]
  return { codes, marks, doubt: contradiction(codes, currency) }
}

function contradiction(codes: readonly string[], currency: string | undefined): string | undefined {
  const own = currency?.toUpperCase()
  if (own === undefined || codes.length === 0 || codes.includes(own)) return undefined
  return `${field}: the file says ${listed(codes)}, and you said ${own}: the file counts`
}

/** What the file says of the currency; the user's word is for what it leaves open. */
export function currencyRule(guesses: Guesses, given: Given): RuleGuess {
  const own = given.currency?.toUpperCase()
  const column = guesses.get(field)
  if (column) return columnRule(column, own)
  const [price] = ['price', 'sale_price', 'list_price']
    .flatMap((meaning) => guesses.get(meaning) ?? [])
    .toSorted((one, other) => other.facts.fill - one.facts.fill)
  const { codes, marks, doubt } = readsCurrency(price ? [price.facts] : [], given)
  const comment = `guessed: amounts such as ${price?.facts.examples[0]}`
  if (price && doubt !== undefined)
    return { field, rule: markRule(price, own, []), comment: doubt, open: true }
  if (own !== undefined) {
    const isOne = codes.every((code) => code === own)
    if (isOne || !price) return { field, rule: { value: own }, comment: 'as you said' }
    return { field, rule: markRule(price, own, marks), comment: `${comment}; the others as you said` }
  }
  if (price && price.facts.currencies > 0.5 && codes.length > 0) {
    const doubts = marks.length === 0 ? [] : [`say with when what is meant by ${listed(marks)}`]
    return doubted({ field, rule: markRule(price, undefined, []), comment }, doubts)
  }
  const shared = marks.length > 0 ? `${listed(marks)} may be of several` : 'no column holds it'
  return { field, rule: { value: unknownCurrency }, comment: `${shared}: put in yours`, open: true }
}

function columnRule(guess: MeaningGuess, own: string | undefined): RuleGuess {
  const { column, values, fill } = guess.facts
  const doubt = contradiction(
    values.map((value) => value.toUpperCase()),
    own,
  )
  if (doubt !== undefined) return { field, rule: column, comment: doubt, open: true }
  const rule = own !== undefined && fill < 1 ? { column, default: own } : column
  return { field, rule, comment: why(guess) }
}

function markRule(
  { facts: { column } }: MeaningGuess,
  own: string | undefined,
  marks: readonly string[],
): unknown {
  const when =
    own !== undefined && marks.length > 0
      ? { when: Object.fromEntries(marks.map((mark) => [mark, own])) }
      : {}
  return { column, part: 'currency', ...when, ...(own === undefined ? {} : { default: own }) }
}
