import type { ColumnFacts } from './column-facts.ts'
import { doubted, type Given, type Guesses, type MeaningGuess, type RuleGuess, why } from './model.ts'
import { ruleOfColumn } from './rule-columns.ts'

export const unknownShopUrl = 'https://shop.example'

export function urlRule(guesses: Guesses, rules: readonly RuleGuess[], given: Given): RuleGuess {
  const guess = guesses.get('url')
  if (!guess) return builtUrlRule(rules, { given, slug: guesses.get('slug')?.facts })
  const open = isOfShop(guess.facts) && given.shopUrl === undefined ? true : undefined
  const comment = why(guess, reachWords(guess))
  return { field: 'url', rule: addressRule(guess.facts, given), comment, open }
}

function builtUrlRule(
  rules: readonly RuleGuess[],
  { given, slug }: { given: Given; slug: ColumnFacts | undefined },
): RuleGuess {
  const id = rules.find(({ field }) => field === 'product_id')?.rule
  const column = slug?.column ?? (typeof id === 'string' && !id.includes('{') ? id : undefined)
  const template = `${shopOf(given)}/products/${column === undefined ? 'your-path' : `{${column}}`}`
  const rule = column === undefined ? { value: template } : template
  return {
    field: 'url',
    rule,
    comment: 'no column holds the address of the product: check how your shop builds it',
    open: true,
  }
}

export function imageRules(guesses: Guesses, given: Given): RuleGuess[] {
  const main = guesses.get('image_url')
  const others = guesses.get('alternate_image_urls')
  const source = main ?? others
  const list = others ?? (main && isList(main.facts) ? main : undefined)
  return [...(source ? [mainImageRule(source, given)] : []), ...(list ? otherImagesRule(list) : [])]
}

function mainImageRule(source: MeaningGuess, given: Given): RuleGuess {
  const { facts } = source
  const field = 'image_url'
  if (facts.list !== undefined)
    return { field, rule: { column: facts.column, rows: 'first' }, comment: why(source, 'the first of them') }
  if (!isList(facts)) {
    // Pictures often stand at another host than the shop.
    const open = isOfShop(facts) ? true : undefined
    return { field, rule: addressRule(facts, given), comment: why(source, reachWords(source)), open }
  }
  const rule = { column: facts.column, pattern: firstOf(facts) }
  const isClear = facts.listMark !== undefined
  const doubts = isClear ? [] : ['no one mark separates the others, which are left out']
  return doubted({ field, rule, comment: why(source, 'the first address of the cell') }, doubts)
}

function otherImagesRule(list: MeaningGuess): RuleGuess[] {
  const { column, listMark, reach } = list.facts
  const field = 'alternate_image_urls'
  if (list.facts.list !== undefined) return [{ field, rule: column, comment: why(list) }]
  if (listMark === 'json') return [{ field, rule: column, comment: why(list, 'lists of JSON') }]
  const joined = joinedRule(list)
  if (joined) return [{ field, rule: joined, comment: why(list, 'each of them') }]
  if (!isList(list.facts)) return reach === undefined ? [{ field, rule: column, comment: why(list) }] : []
  if (listMark === undefined) return []
  const name = listMark === '\n' ? 'line ends' : JSON.stringify(listMark)
  return [{ field, rule: { column, split: listMark }, comment: why(list, `addresses separated by ${name}`) }]
}

/** Several columns in one text, each with one address or with lists of the same mark; undefined where that is not so. */
function joinedRule({ facts, others }: MeaningGuess): unknown {
  const sources = [facts, ...others]
  const isPlain = sources.every(({ list, reach, column }) => {
    return list === undefined && reach === undefined && !/[{}]/.test(column)
  })
  const marks = new Set(sources.filter(isList).map(({ listMark }) => listMark))
  if (others.length === 0 || !isPlain || marks.size > 1) return undefined
  const single = sources.filter((source) => !isList(source)).flatMap(({ values }) => values)
  const isFree = (mark: string) => single.every((text) => !text.includes(mark))
  const [mark = marks.size === 0 ? ['|', ' ', '\n'].find(isFree) : undefined] = marks
  if (mark === undefined || mark === 'json' || !isFree(mark)) return undefined
  return { template: sources.map(({ column }) => `{${column}?}`).join(mark), split: mark }
}

function isList({ urlLists }: ColumnFacts): boolean {
  return urlLists > 0
}

function firstOf({ listMark }: ColumnFacts): string {
  if (listMark === undefined) return '(?s)^(.+?)(?:[\\s,|;]+https?://.*)?$'
  if (listMark === 'json') return '"(https?:[^"]+)"'
  const mark = listMark.trim()
  if (mark.length > 1) return `(?s)^(.*?)\\s*(?:${mark.replace(/[^\w\s]/g, '\\$&')}.*)?$`
  // Addresses may hold blanks where something else separates them.
  return mark === '' ? '^[^\\s]+' : `^[^${mark}]*[^${mark}\\s]`
}

function addressRule({ column, reach, entities }: ColumnFacts, given: Given): unknown {
  const html = entities > 0 ? { html: 'text' } : {}
  if (reach === undefined) return ruleOfColumn(column, html)
  const before = isOfShop({ reach }) ? `${shopOf(given)}${reach === 'shop/' ? '/' : ''}` : reach
  const template = `${before}{${column}}`
  return entities > 0 ? { template, ...html } : template
}

function reachWords({ facts }: MeaningGuess): string {
  if (facts.reach === undefined) return ''
  const example = facts.examples[0] ?? ''
  return isOfShop(facts)
    ? `${example} is taken for an address of your shop`
    : `${example} lacks "${facts.reach}"`
}

function isOfShop({ reach }: Pick<ColumnFacts, 'reach'>): boolean {
  return reach === 'shop' || reach === 'shop/'
}

function shopOf({ shopUrl }: Given): string {
  return (shopUrl ?? unknownShopUrl).replace(/\/+$/, '')
}
