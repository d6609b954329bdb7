import { compileInstant, type ReadInstant } from '../../catalog/instant-text.ts'
import type { NumberLocale } from '../../catalog/number-text.ts'
import type { ColumnFacts } from './column-facts.ts'
import { findLocale, readsTwoWays } from './find-locale.ts'
import { ofVariants } from './find-members.ts'
import { currencyRule } from './guess-currency.ts'
import { isWithoutTax } from './guess-meanings.ts'
import { doubted, type Given, type Guesses, type MeaningGuess, type RuleGuess, why } from './model.ts'
import { ruleOfColumn } from './rule-columns.ts'

/** Nothing is left of an amount of 0. */
const notZero = '^(?:\\D*0+(?:[.,]0+)?\\D*$)?(.*)$'

/** What a product costs, what it cost before, and in which currency. */
export function priceRules(guesses: Guesses, given: Given): RuleGuess[] {
  const [sale, price, list] = ['sale_price', 'price', 'list_price'].map((meaning) => guesses.get(meaning))
  const regular = price ?? list
  const rules: RuleGuess[] = []
  const now = sale ?? regular
  const amounts = amountsOf(guesses)
  const locale = findLocale(amounts)
  if (sale && regular) rules.push(saleRule(sale, regular, { guesses, amounts }))
  else if (now) {
    const doubts = doubtsOf([now], amounts)
    if (now === list) doubts.push('the name is that of a list price: is it what the product costs?')
    const rule = amountRule(now.facts.column, locale, lowestOf(now))
    rules.push(doubted({ field: 'price', rule, comment: amountWords(now, locale) }, doubts))
  }
  const before = sale ? regular : price && list
  if (before) {
    const same = before.facts.list === undefined ? {} : { rows: 'price' }
    // Beside a sale price and a regular one the list price counts, and the regular one where there is none.
    const further =
      sale && list && list.facts.list === before.facts.list && list !== before ? list.facts : undefined
    const column = further ? [further.column, before.facts.column] : before.facts.column
    const zeros = further?.hasZeros ? { pattern: notZero } : {}
    const rule = amountRule(column, locale, { ...zeros, ...same, above: 'price' })
    const doubt = [...new Set([sale, price, before])].flatMap((guess) => guess?.doubt ?? [])
    rules.push(doubted({ field: 'list_price', rule, comment: why(before) }, doubt))
  }
  rules.push(currencyRule(guesses, given))
  return rules
}

/** A sale price counts in its time, and where it is no higher than the price without it. */
function saleRule(
  sale: MeaningGuess,
  regular: MeaningGuess,
  { guesses, amounts }: { guesses: Guesses; amounts: readonly string[] },
): RuleGuess {
  const locale = findLocale(amounts)
  const doubts = doubtsOf([sale, regular], amounts)
  const time = saleTime(sale.facts, guesses)
  if (time.kind === 'unreadable') {
    const columns = time.columns.map((column) => JSON.stringify(column)).join(' and ')
    doubts.push(
      `${JSON.stringify(sale.facts.column)} is left out, since the dates of ${columns} cannot be read`,
    )
    const rule = amountRule(regular.facts.column, locale, lowestOf(regular))
    return doubted({ field: 'price', rule, comment: amountWords(regular, locale) }, doubts)
  }
  const timed = time.kind === 'timed' ? time : { parts: {}, words: '', doubts: [] }
  // Many exports write 0 where there is no sale.
  const zeros = sale.facts.hasZeros ? { pattern: notZero } : {}
  const limits = { ...zeros, below: regular.facts.column, ...timed.parts, ...lowestOf(sale) }
  const rule = amountRule([sale.facts.column, regular.facts.column], locale, limits)
  const comment = [amountWords(sale, locale), timed.words].filter((words) => words !== '').join(', ')
  return doubted({ field: 'price', rule, comment }, [...doubts, ...timed.doubts])
}

/** A product costs what the cheapest of its variants costs; prices for others, or in other currencies, are no such. */
function lowestOf({ facts: { list } }: MeaningGuess): { rows?: 'min' | 'first' } {
  return list === undefined ? {} : { rows: ofVariants.test(list) ? 'min' : 'first' }
}

function amountWords(guess: MeaningGuess, locale: NumberLocale | undefined): string {
  const example = guess.facts.examples[0]
  return why(guess, `numbers such as ${example}${localeWords(locale)}`)
}

/** Columns of one file are written alike; each may hold too few marks to show how. */
export function amountsOf(guesses: Guesses): string[] {
  return ['sale_price', 'price', 'list_price'].flatMap((meaning) => guesses.get(meaning)?.facts.amounts ?? [])
}

/** A wrong price is worse than a question. */
function doubtsOf(sources: readonly MeaningGuess[], amounts: readonly string[]): string[] {
  const others = sources.flatMap((source) => source.others).map(({ column }) => JSON.stringify(column))
  const doubts = sources.flatMap(({ doubt }) => doubt ?? [])
  if (others.length > 0) doubts.push(`${others.join(', ')} may be it too`)
  if (sources.some(({ facts }) => isWithoutTax(facts))) doubts.push('the name says that tax is not in it')
  const zeros = sources.filter(({ facts }) => facts.hasZeros && !isSale(facts, sources))
  if (zeros.length > 0) doubts.push('some are 0: what costs nothing is sent so')
  if (readsTwoWays(amounts)) doubts.push('they may as well have three decimals')
  return doubts
}

/** Of a sale price 0 means that there is no sale. */
function isSale(facts: MeaningGuess['facts'], [first, ...others]: readonly MeaningGuess[]): boolean {
  return others.length > 0 && first?.facts === facts
}

export function amountRule(
  column: string | readonly string[],
  locale: NumberLocale | undefined,
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  const parts = { ...marksOf(locale), ...more }
  return typeof column === 'string' ? ruleOfColumn(column, parts) : { column, ...parts }
}

/** In the words of a rule: what is not said is a decimal point, and nothing between thousands. */
function marksOf(locale: NumberLocale | undefined): Partial<NumberLocale> {
  const { decimal = '.', thousands } = locale ?? {}
  return { ...(decimal === '.' ? {} : { decimal }), ...(thousands === undefined ? {} : { thousands }) }
}

function localeWords(locale: NumberLocale | undefined): string {
  if (!locale) return ''
  const thousands = locale.thousands === undefined ? '' : ` and "${locale.thousands}" between thousands`
  return `, read with a decimal ${locale.decimal === ',' ? 'comma' : 'point'}${thousands}`
}

/** When a sale price counts: what a rule says of it, and what is to be looked at. */
type SaleTime =
  | { kind: 'always' }
  | { kind: 'timed'; parts: Readonly<Record<string, unknown>>; words: string; doubts: readonly string[] }
  /** Nobody can tell from when until when. */
  | { kind: 'unreadable'; columns: readonly string[] }

/** ISO 8601 is read without a form. */
const forms = [
  undefined,
  'DD.MM.YYYY',
  'D.M.YYYY',
  'D.M.YY',
  'DD/MM/YYYY',
  'D/M/YYYY',
  'M/D/YYYY',
  'M/D/YY',
  'D/M/YY',
  'DD-MM-YYYY',
  'YYYY/MM/DD',
  'YYYYMMDD',
  'D MMM YYYY',
]
/** What databases write where there is no date. */
const noDate = /^0000-00-00/

function saleTime(sale: ColumnFacts, guesses: Guesses): SaleTime {
  const period = guesses.get('sale_period')?.facts
  const [from, until] = [guesses.get('sale_from')?.facts, guesses.get('sale_until')?.facts]
  const sources = (period ? [period] : [from, until]).filter((facts) => facts !== undefined)
  if (sources.length === 0) return { kind: 'always' }
  const reads = period ? readsInterval : readsTime
  const cells = sources.flatMap(({ values }) => values).filter((text) => !noDate.test(text))
  const found = forms.filter((form) => {
    const read = compileInstant(form)
    return typeof read !== 'string' && cells.every((cell) => reads(cell, read))
  })
  if (found.length === 0) return { kind: 'unreadable', columns: sources.map(({ column }) => column) }
  const ends = period ? period.column : { ...endOf('from', from), ...endOf('until', until) }
  const [form] = found
  return {
    kind: 'timed',
    parts: { during: { [sale.column]: ends }, ...(form === undefined ? {} : { date: form }) },
    words: `in the time of ${sources.map(({ column }) => JSON.stringify(column)).join(' and ')}`,
    doubts: isEitherFirst(found) ? [`dates such as ${cells[0]} may begin with the month`] : [],
  }
}

function endOf(end: 'from' | 'until', facts: ColumnFacts | undefined): Record<string, string> {
  return facts ? { [end]: facts.column } : {}
}

function readsTime(text: string, read: ReadInstant): boolean {
  return text === '' || read(text) !== undefined
}

/** The dates may hold slashes themselves. */
function readsInterval(text: string, read: ReadInstant): boolean {
  return [...text.matchAll(/\//g)].some(({ index }) => {
    return readsTime(text.slice(0, index).trim(), read) && readsTime(text.slice(index + 1).trim(), read)
  })
}

/** Where everything reads, nothing was there to be read. */
function isEitherFirst(found: readonly (string | undefined)[]): boolean {
  const begins = (unit: string) => found.some((form) => form?.startsWith(unit))
  return begins('M') && begins('D') && found[0] !== undefined
}
