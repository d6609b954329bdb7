import type { NumberLocale } from '../../catalog/number-text.ts'
import { findLocale } from './find-locale.ts'
import type { Guesses, MeaningGuess } from './guess-meanings.ts'
import { why } from './guess-reason.ts'
import type { Given, RuleGuess } from './model.ts'

const unknownCurrency = 'EUR'

/** What a product costs, what it cost before, and in which currency. */
export function priceRules(guesses: Guesses, { currency }: Given): RuleGuess[] {
  const [sale, price, list] = ['sale_price', 'price', 'list_price'].map((meaning) => guesses.get(meaning))
  const regular = price ?? list
  const rules: RuleGuess[] = []
  const now = sale ?? price ?? list
  if (now) {
    // Columns of one file are written alike; each may hold too few marks to show how.
    const locale = findLocale([sale, price, list].flatMap((guess) => guess?.facts.amounts ?? []))
    const columns = sale && regular ? [sale.facts.column, regular.facts.column] : now.facts.column
    const comment = why(now, `numbers such as ${now.facts.examples[0]}${localeWords(locale)}`)
    rules.push({ field: 'price', rule: amountRule(columns, locale), comment })
    const before = sale ? regular : price && list ? list : undefined
    if (before && before !== now)
      rules.push({ field: 'list_price', rule: amountRule(before.facts.column, locale), comment: why(before) })
  }
  rules.push(currencyRule(guesses, now, currency))
  return rules
}

export function amountRule(column: string | readonly string[], locale: NumberLocale | undefined): unknown {
  if (!locale || (locale.decimal === '.' && locale.thousands === undefined))
    return typeof column === 'string' ? column : { column }
  const { decimal, thousands } = locale
  return {
    column,
    ...(decimal === '.' ? {} : { decimal }),
    ...(thousands === undefined ? {} : { thousands }),
  }
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
