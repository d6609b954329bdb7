import type { ColumnFacts } from './column-facts.ts'
import { availabilityRule, stockLocale } from './guess-availability.ts'
import type { Guesses } from './guess-meanings.ts'
import { amountRule, priceRules } from './guess-prices.ts'
import { why } from './guess-reason.ts'
import type { Meaning } from './header-names.ts'
import type { Given, RuleGuess } from './model.ts'

const unknownShopUrl = 'https://shop.example'

const plainFields = ['name', 'url', 'brand'] as const
const extraEntries = ['gtin', 'mpn', 'color', 'size', 'material'] as const

/** The rules of a file that fits no preset. */
export function guessRules(guesses: Guesses, given: Given): RuleGuess[] {
  const rules: RuleGuess[] = [idRule(guesses, given)]
  for (const field of plainFields) addPlain(rules, field, guesses)
  if (!guesses.has('url')) rules.push(urlRule(rules, given))
  rules.push(...imageRules(guesses), availabilityRule(guesses), ...priceRules(guesses, given))
  rules.push(
    ...descriptionRules(guesses),
    ...categoryRules(guesses),
    ...countRules(guesses),
    ...entriesRule(guesses),
  )
  return rules
}

/** Columns that the rules read. */
export function columnsOf(rules: readonly RuleGuess[]): Set<string> {
  const columns = new Set<string>()
  const visit = (value: unknown, key: string) => {
    if (typeof value === 'string') {
      if (key === 'template' || value.includes('{'))
        for (const [, name = ''] of value.matchAll(/\{([^{}]+)\}/g)) columns.add(name)
      else columns.add(value)
    } else if (Array.isArray(value)) for (const element of value) visit(element, key)
    else if (typeof value === 'object' && value !== null)
      for (const [below, content] of Object.entries(value)) {
        if (key === 'where') columns.add(below)
        else visit(content, below)
      }
  }
  for (const { rule } of rules) visit(rule, '')
  return columns
}

function idRule(guesses: Guesses, { id }: Given): RuleGuess {
  if (id !== undefined) return { field: 'product_id', rule: id, comment: 'as you said' }
  const guess = guesses.get('product_id')
  if (!guess) {
    const any = guesses.get('gtin') ?? guesses.get('url') ?? guesses.get('name')
    const rule = any?.facts.column ?? 'id'
    return {
      field: 'product_id',
      rule,
      comment: 'no column is an id for sure: what tells your products apart, and never changes?',
      open: true,
    }
  }
  const { facts, reason } = guess
  if (facts.distinct > 0.98) return { field: 'product_id', rule: facts.column, comment: `guessed: ${reason}` }
  const times = Math.round(1 / Math.max(facts.distinct, 0.001))
  return {
    field: 'product_id',
    rule: facts.column,
    comment: `guessed: ${reason}; but it repeats (about ${times} rows each): the rows of one id are taken for one product`,
    open: true,
  }
}

function addPlain(rules: RuleGuess[], field: Meaning, guesses: Guesses): void {
  const guess = guesses.get(field)
  if (guess) rules.push({ field, rule: guess.facts.column, comment: why(guess) })
}

function urlRule(rules: readonly RuleGuess[], { shopUrl }: Given): RuleGuess {
  const id = rules.find(({ field }) => field === 'product_id')?.rule
  const column = typeof id === 'string' && !id.includes('{') ? id : undefined
  const template = `${shopUrl ?? unknownShopUrl}/products/${column === undefined ? 'your-path' : `{${column}}`}`
  const rule = column === undefined ? { value: template } : template
  return {
    field: 'url',
    rule,
    comment: 'no column holds the address of the product: check how your shop builds it',
    open: true,
  }
}

function imageRules(guesses: Guesses): RuleGuess[] {
  const main = guesses.get('image_url')
  const others = guesses.get('alternate_image_urls')
  const rules: RuleGuess[] = []
  const source = main ?? others
  if (source) {
    const { facts } = source
    const isList = facts.urlLists > 0.02
    const rule = isList ? { column: facts.column, pattern: '^[^\\s,|;]+' } : facts.column
    rules.push({
      field: 'image_url',
      rule,
      comment: why(source, isList ? 'the first address of the cell' : ''),
    })
  }
  const list = others ?? (main && main.facts.urlLists > 0.02 ? main : undefined)
  if (list) {
    const split = listMark(list.facts)
    rules.push({
      field: 'alternate_image_urls',
      rule: { column: list.facts.column, split },
      comment: why(list, `addresses separated by "${split}"`),
    })
  }
  return rules
}

function listMark({ examples }: ColumnFacts): string {
  const text = examples.join('\n')
  return ['|', ';', ','].find((mark) => new RegExp(`\\${mark}\\s*https?:`).test(text)) ?? ','
}

function descriptionRules(guesses: Guesses): RuleGuess[] {
  const guess = guesses.get('description')
  if (!guess) return []
  const { column, html } = guess.facts
  const rule = html > 0.05 ? { column, html: 'text' } : column
  return [
    {
      field: 'description',
      rule,
      comment: why(guess, html > 0.05 ? 'it holds HTML, which becomes text' : ''),
    },
  ]
}

function categoryRules(guesses: Guesses): RuleGuess[] {
  const main = guesses.get('categories')
  if (!main) return []
  const sub = guesses.get('sub_category')
  const text = main.facts.examples.join('\n')
  const separator = [' > ', '>', ' / ', ' » ', '/'].find((mark) => text.includes(mark))?.trim()
  const split = ['|', ';', ', '].find((mark) => text.includes(mark))
  if (sub) {
    const rule = {
      template: `{${main.facts.column}} > {${sub.facts.column}}`,
      separator: '>',
      slash: '-',
      split: '|',
    }
    return [{ field: 'categories', rule, comment: why(main, `with "${sub.facts.column}" below it`) }]
  }
  // One text with commas is a list only where another mark separates the levels.
  const splits =
    split !== undefined && (split.trim() !== ',' || separator !== undefined || /,\S/.test(text) === false)
  const rule = {
    column: main.facts.column,
    separator: separator ?? '>',
    ...(separator === '/' ? {} : { slash: '-' }),
    split: splits ? (split ?? '|').trim() : '|',
  }
  return [{ field: 'categories', rule, comment: why(main) }]
}

function countRules(guesses: Guesses): RuleGuess[] {
  const rules: RuleGuess[] = []
  const stock = guesses.get('inventory_level')
  // ">10" is enough to sell, and no number of pieces.
  if (stock && stock.facts.numbers > 0.9)
    rules.push({
      field: 'inventory_level',
      rule: amountRule(stock.facts.column, stockLocale(stock.facts, guesses)),
      comment: why(stock),
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
