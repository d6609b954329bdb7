import type { NumberLocale } from '../../catalog/number-text.ts'
import { findLocale, readsTwoWays } from './find-locale.ts'
import { type Guesses, isWithoutTax, type MeaningGuess } from './guess-meanings.ts'
import { why } from './guess-reason.ts'
import type { Given, RuleGuess } from './model.ts'

const unknownCurrency = 'EUR'
/** Nothing is left of an amount of 0. */
const notZero = '^(?:\\D*0+(?:[.,]0+)?\\D*$)?(.*)$'

/** What a product costs, what it cost before, and in which currency. */
export function priceRules(guesses: Guesses, { currency }: Given): RuleGuess[] {
  const [sale, price, list] = ['sale_price', 'price', 'list_price'].map((meaning) => guesses.get(meaning))
  const regular = price ?? list
  const rules: RuleGuess[] = []
  const now = sale ?? price ?? list
  if (now) {
    const amounts = amountsOf(guesses)
    const locale = findLocale(amounts)
    const columns = sale && regular ? [sale.facts.column, regular.facts.column] : now.facts.column
    // Many exports write 0 where there is no sale.
    const hasZeros = sale && regular && sale.facts.hasZeros
    const rule = amountRule(columns, locale, hasZeros ? { pattern: notZero } : {})
    const comment = why(now, `numbers such as ${now.facts.examples[0]}${localeWords(locale)}`)
    const doubts = doubtsOf(sale && regular ? [sale, regular] : [now], amounts)
    if (now === list) doubts.push('the name is that of a list price: is it what the product costs?')
    rules.push(
      doubts.length === 0
        ? { field: 'price', rule, comment }
        : { field: 'price', rule, comment: [comment, ...doubts].join('; '), open: true },
    )
    const before = sale ? regular : price && list ? list : undefined
    if (before && before !== now) {
      const rule = amountRule(before.facts.column, locale, { above: 'price' })
      rules.push({ field: 'list_price', rule, comment: why(before) })
    }
  }
  rules.push(currencyRule(guesses, now, currency))
  return rules
}

/** Columns of one file are written alike; each may hold too few marks to show how. */
export function amountsOf(guesses: Guesses): string[] {
  return ['sale_price', 'price', 'list_price'].flatMap((meaning) => guesses.get(meaning)?.facts.amounts ?? [])
}

/** A wrong price is worse than a question. */
function doubtsOf(sources: readonly MeaningGuess[], amounts: readonly string[]): string[] {
  const others = sources.flatMap((source) => source.others).map((column) => JSON.stringify(column))
  const doubts = sources.flatMap(({ doubt }) => doubt ?? [])
  if (others.length > 0) doubts.push(`${others.join(', ')} may be it too`)
  if (sources.some(({ facts }) => isWithoutTax(facts))) doubts.push('the name says that tax is not in it')
  if (readsTwoWays(amounts)) doubts.push('they may as well have three decimals')
  return doubts
}

export function amountRule(
  column: string | readonly string[],
  locale: NumberLocale | undefined,
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  const parts = { ...marksOf(locale), ...more }
  return typeof column === 'string' && Object.keys(parts).length === 0 ? column : { column, ...parts }
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

function currencyRule(
  guesses: Guesses,
  price: MeaningGuess | undefined,
  currency: string | undefined,
): RuleGuess {
  const field = 'price_currency_code'
  if (currency !== undefined)
    return { field, rule: { value: currency.toUpperCase() }, comment: 'as you said' }
  const own = guesses.get('price_currency_code')
  if (own) return { field, rule: own.facts.column, comment: why(own) }
  if (price && price.facts.currencies > 0.5) {
    const { column, examples } = price.facts
    const ambiguous = /^(\$|kr|£|¥)|(\$|kr|¥)\.?$/i.exec(examples[0] ?? '')?.[0]
    if (ambiguous === undefined || ambiguous === '£')
      return { field, rule: { column, part: 'currency' }, comment: `guessed: amounts such as ${examples[0]}` }
  }
  return { field, rule: { value: unknownCurrency }, comment: 'no column holds it: put in yours', open: true }
}
