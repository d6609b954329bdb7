import type { ColumnFacts } from './column-facts.ts'
import type { Lists } from './find-members.ts'
import { imageRules, urlRule } from './guess-addresses.ts'
import { availabilityRule, stockLocale } from './guess-availability.ts'
import { categoryRules } from './guess-categories.ts'
import { amountRule, priceRules } from './guess-prices.ts'
import { skusRule } from './guess-skus.ts'
import type { Meaning } from './header-names.ts'
import { doubted, type Given, type Guesses, type RuleGuess, why } from './model.ts'
import { ruleOfColumn } from './rule-columns.ts'

const plainFields = ['name', 'brand'] as const
/** Nothing is left of a number with a minus behind it. */
const notMinus = '^(?:.*-$)?(.*)$'
const extraEntries = ['gtin', 'mpn', 'color', 'size', 'material'] as const

export function guessRules(guesses: Guesses, given: Given, { members, names }: Lists): RuleGuess[] {
  const rules: RuleGuess[] = [idRule(guesses, given)]
  for (const field of plainFields) addPlain(rules, field, guesses)
  rules.push(urlRule(guesses, rules, given), ...imageRules(guesses, given))
  rules.push(availabilityRule(guesses), ...priceRules(guesses, given))
  rules.push(
    ...descriptionRules(guesses),
    ...categoryRules(guesses),
    ...countRules(guesses),
    ...entriesRule(guesses),
    ...skusRule(guesses, { members, names }),
  )
  return rules
}

function idRule(guesses: Guesses, { id }: Given): RuleGuess {
  const field = 'product_id'
  if (id !== undefined) return { field, rule: id, comment: 'as you said' }
  const guess = guesses.get(field)
  if (!guess) {
    const model = guesses.get('mpn')
    const any =
      (model && model.facts.distinct > 0.98 ? model : undefined) ??
      guesses.get('gtin') ??
      guesses.get('url') ??
      guesses.get('name')
    const comment = 'no column is an id for sure: what tells your products apart, and never changes?'
    return { field, rule: any?.facts.column ?? 'id', comment, open: true }
  }
  const { facts, reason } = guess
  const line = { field, rule: facts.column, comment: `guessed: ${reason}` }
  if (facts.cut !== undefined)
    return doubted(line, [`but a spreadsheet has cut ids such as ${facts.cut}: export the column as text`])
  const doubts: string[] = []
  if (facts.fill < 1) doubts.push('some records have none, and are rejected')
  if (facts.distinct <= 0.98) {
    const times = Math.round(1 / Math.max(facts.distinct, 0.001))
    const each = times > 1 ? ` (about ${times} rows each)` : ''
    doubts.push(`but it repeats${each}: the rows of one id are taken for one product`)
  }
  return doubted(line, doubts)
}

function addPlain(rules: RuleGuess[], field: Meaning, guesses: Guesses): void {
  const guess = guesses.get(field)
  if (!guess) return
  const { column, entities, list } = guess.facts
  const parts = {
    ...jsonPart(guess.facts),
    ...(entities > 0 ? { html: 'text' } : {}),
    ...(list === undefined ? {} : { rows: 'first' }),
  }
  rules.push({ field, rule: ruleOfColumn(column, parts), comment: why(guess) })
}

function jsonPart({ json, list }: ColumnFacts): { json?: 'text' } {
  return json === 'texts' && list === undefined ? { json: 'text' } : {}
}

function descriptionRules(guesses: Guesses): RuleGuess[] {
  const guess = guesses.get('description')
  if (!guess) return []
  const { column, html, entities } = guess.facts
  const isHtml = html > 0.05 || entities > 0
  const parts = { ...jsonPart(guess.facts), ...(isHtml ? { html: 'text' } : {}) }
  const words = [
    ...('json' in parts ? ['it holds JSON, whose texts are taken'] : []),
    ...(isHtml ? ['it holds HTML, which becomes text'] : []),
  ]
  return [{ field: 'description', rule: ruleOfColumn(column, parts), comment: why(guess, words.join(', ')) }]
}

function countRules(guesses: Guesses): RuleGuess[] {
  const rules: RuleGuess[] = []
  const stock = guesses.get('inventory_level')
  // ">10" is enough to sell, and no number of pieces.
  if (stock && stock.facts.numbers > 0.9)
    rules.push({
      field: 'inventory_level',
      rule: amountRule(stock.facts.column, stockLocale(stock.facts, guesses), {
        ...(stock.facts.values.some((value) => value.endsWith('-')) ? { pattern: notMinus } : {}),
        ...(stock.facts.list === undefined ? {} : { rows: 'sum' }),
      }),
      comment: why(stock),
    })
  const words = guesses.get('availability')
  if (!stock && words && isCount(words.facts))
    rules.push({ field: 'inventory_level', rule: words.facts.column, comment: why(words) })
  else if (!stock && words && isMixed(words.facts))
    rules.push({
      field: 'inventory_level',
      rule: { column: words.facts.column, pattern: '^(?:\\D.*)?([0-9]*)$' },
      comment: why(words, 'the numbers among its words'),
    })
  const rating = guesses.get('rating_value')
  if (rating)
    rules.push({
      field: 'rating_value',
      rule: { column: rating.facts.column, pattern: '^(\\d+(?:[.,]\\d+)?)?', ...commaOf(rating.facts) },
      comment: why(rating),
    })
  const reviews = guesses.get('review_count')
  if (reviews)
    rules.push({
      field: 'review_count',
      rule: { column: reviews.facts.column, pattern: '^([0-9.,]*)', thousands: marksOf(reviews.facts) },
      comment: why(reviews),
    })
  const date = guesses.get('date_published')
  if (date?.facts.dateForm)
    rules.push({
      field: 'date_published',
      rule: { column: date.facts.column, date: date.facts.dateForm },
      comment: why(date, `dates such as ${date.facts.examples[0]}`),
    })
  return rules
}

/** Under another name, but pieces all the same. */
function isCount({ values, quantities, integers, list }: ColumnFacts): boolean {
  return (
    list === undefined && quantities === 1 && integers === 1 && values.some((value) => Number(value) > 12)
  )
}

/** Pieces where they are known, and words elsewhere. */
function isMixed({ values, list }: ColumnFacts): boolean {
  const numbers = values.filter((value) => /^\d{1,6}$/.test(value))
  return list === undefined && numbers.length < values.length && numbers.some((value) => Number(value) > 1)
}

function commaOf({ locale }: ColumnFacts): { decimal?: ',' } {
  return locale?.decimal === ',' ? { decimal: ',' } : {}
}

function marksOf({ examples }: ColumnFacts): ',' | '.' {
  return examples.some((text) => /\d\.\d{3}\b/.test(text)) ? '.' : ','
}

function entriesRule(guesses: Guesses): RuleGuess[] {
  const found = extraEntries.flatMap((entry) => {
    const guess = guesses.get(entry)
    return guess ? [[entry, guess.facts.column] as const] : []
  })
  if (found.length === 0) return []
  const rule = { entries: Object.fromEntries(found) }
  return [
    {
      field: 'custom_fields',
      rule,
      comment: 'guessed: useful to agents and filters; add what else you have',
    },
  ]
}
