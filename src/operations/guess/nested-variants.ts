import type { ColumnFacts } from './column-facts.ts'
import type { Lists } from './find-members.ts'
import { doubted, type RuleGuess } from './model.ts'
import { columnsIn, partsOf, ruleOfColumn } from './rule-columns.ts'

interface File extends Lists {
  columns: readonly ColumnFacts[]
}

const ofVariants = /varia|sku|offer|combination|option(?!al)|child|size|kombin/i
const isSoldOut =
  /sold.?out|out.?of.?stock|ausverkauft|agotad|epuis|esgotad|esaurit|vyprod[aá]n|uitverkocht|wyprzedan/i

/** How what the variants of a record say becomes what is said of the product. */
const folds: Readonly<Record<string, readonly [rows: string, words: string]>> = {
  price: ['min', 'the lowest of the variants'],
  list_price: ['price', 'of the variant with the price'],
  availability: ['any', 'in stock where a variant is'],
  inventory_level: ['sum', 'of all variants'],
  price_currency_code: ['first', 'the same for all variants'],
}

/** One variant alone looks like a part of the record: what products without any say themselves goes before it. */
export function withoutParts(
  columns: readonly ColumnFacts[],
  members: readonly { list?: string }[],
): readonly ColumnFacts[] {
  const lists = [...new Set(members.map(({ list = '' }) => list))].filter((list) => ofVariants.test(list))
  const known = new Set(columns.map(({ column }) => column))
  return columns.filter(
    ({ column }) =>
      !lists.some((list) => column.startsWith(`${list}.`) && known.has(column.slice(list.length + 1))),
  )
}

/** Records that hold a list of what is sold under one product: what they do not say themselves their variants do. */
export function withVariants(rules: readonly RuleGuess[], file: File): RuleGuess[] {
  const list = rules.some(({ field }) => field === 'skus') ? undefined : variantList(file)
  if (list === undefined) return [...rules]
  const own = file.members.filter((facts) => facts.list === list)
  const looked = { list, own, file }
  const found = [
    ...rules.map((line) => ({ line, columns: counterparts(line, looked) })),
    ...(['list_price', 'inventory_level'] as const).flatMap((field) => onlyThere(field, rules, looked)),
  ]
  const item: Record<string, unknown> = { id: idOf(looked) }
  const name = own.find((facts) => meaningOf(facts, looked) === 'name' && isPlain(facts, list))
  if (name) item.name = below(name, list)
  for (const { line, columns } of found) {
    const isPart = line.field in folds && line.field !== 'price_currency_code'
    if (isPart && columns)
      item[line.field] = ruleOf(
        line.rule,
        columns.map((column) => column.slice(list.length + 1)),
      )
  }
  const gone = soldOut(looked)
  const result = found.map(({ line, columns }) => (columns ? ofBoth(line, columns, file) : line))
  if (gone && item.availability === undefined) {
    item.availability = { ...gone, column: below(gone, list) }
    const at = result.findIndex(({ field, rule }) => field === 'availability' && columnsIn(rule).length === 0)
    const line = result[at]
    if (line)
      result[at] = {
        ...line,
        rule: { ...gone, rows: 'any' },
        comment: `${line.comment}; "${gone.column}" says which variants are gone`,
      }
  }
  if (item.price === undefined) return [...rules]
  const comment = `guessed: what "${list}" holds is sold under one product`
  return [...result, { field: 'skus', rule: { each: list, item }, comment }]
}

interface Looked {
  list: string
  own: readonly ColumnFacts[]
  file: File
}

/** The list whose objects have a number and a price each; what they add to a price is no such. */
function variantList(file: File): string | undefined {
  const said = file.columns.find(
    ({ column, fill, numbers }) =>
      fill === 1 && numbers > 0.9 && file.names.find(column)?.meaning === 'price',
  )
  const least = (said?.mean ?? 0) / 2
  const lists = new Set(file.members.map(({ list = '' }) => list))
  return [...lists].find((list) => {
    const own = file.members.filter((facts) => facts.list === list)
    const looked = { list, own, file }
    const isPriced = own.some((facts) => {
      const { numbers, fill, mean } = facts
      return numbers > 0.9 && fill > 0.9 && mean >= least && meaningOf(facts, looked) === 'price'
    })
    return ofVariants.test(list) && isPriced && idOf(looked) !== undefined
  })
}

function idOf({ list, own, file }: Looked): string | undefined {
  const ids = own
    .filter((facts) => meaningOf(facts, { list, own, file }) === 'product_id' && isPlain(facts, list))
    .filter(({ fill, distinct }) => fill === 1 && distinct > 0.9)
    .map((facts) => below(facts, list))
    .filter((name) => !/product|parent/i.test(name))
  return ids.find((name) => /sku|code|kod/i.test(name)) ?? ids[0]
}

function meaningOf({ column }: ColumnFacts, { list, file }: Looked): string | undefined {
  return file.names.find(column.slice(list.length + 1))?.meaning
}

function below({ column }: { column: string }, list: string): string {
  return column.slice(list.length + 1)
}

/** A part of the variant itself. */
function isPlain(facts: ColumnFacts, list: string): boolean {
  return !below(facts, list).includes('.')
}

/** What the record itself never says. */
function onlyThere(
  field: 'list_price' | 'inventory_level',
  rules: readonly RuleGuess[],
  looked: Looked,
): { line: RuleGuess; columns: string[] }[] {
  if (rules.some((line) => line.field === field)) return []
  const facts = looked.own.find((one) => one.numbers > 0.9 && meaningOf(one, looked) === field)
  if (!facts) return []
  const { decimal, thousands } = (rules.find((line) => line.field === 'price')?.rule ?? {}) as Marks
  const marks = {
    ...(decimal === undefined ? {} : { decimal }),
    ...(thousands === undefined ? {} : { thousands }),
  }
  const rule = field === 'list_price' ? { ...marks, above: 'price' } : {}
  return [{ line: { field, rule, comment: 'guessed: its variants say it' }, columns: [facts.column] }]
}

type Marks = { decimal?: string; thousands?: string }

/** What holds in the variants what the rule reads in the record. */
function counterparts({ field, rule }: RuleGuess, looked: Looked): string[] | undefined {
  const { list, own } = looked
  if (!(field in folds)) return undefined
  const columns = columnsIn(rule)
  const same = columns.map((column) => `${list}.${column}`)
  const isThere = (column: string) => own.some((facts) => facts.column === column)
  if (columns.length > 0 && same.every(isThere)) return same
  if (columns.length > 1 || columns.some((column) => column.startsWith(`${list}.`))) return undefined
  const named = own.find((facts) => {
    const fits = field === 'availability' ? facts.sellable > 0.9 : facts.numbers > 0.9
    return fits && columns.length > 0 && meaningOf(facts, looked) === field
  })
  return named && [named.column]
}

/** What the record says counts where it has no variants. */
function ofBoth(line: RuleGuess, columns: readonly string[], { columns: all, members }: File): RuleGuess {
  const own = columnsIn(line.rule)
  const [rows, words] = folds[line.field] ?? ['first', '']
  const said = all.find(({ column, fill }) => fill === 1 && own.includes(column))
  const parts = partsOf(line.rule)
  const cheaper = members.some(
    ({ column, mean }) => columns.includes(column) && mean < (said?.mean ?? 0) * 0.99,
  )
  const isDoubtful = said ? line.field === 'price' && cheaper : 'below' in parts || 'during' in parts
  if (isDoubtful) return doubted(line, ['do some of its variants cost less?'])
  if (said) return line
  const rule = { ...parts, column: [...columns, ...own], rows }
  return { ...line, rule, comment: `${line.comment}; ${words}` }
}

function ruleOf(rule: unknown, columns: readonly string[]): unknown {
  const { where: _, default: __, column: ___, ...parts } = partsOf(rule)
  return ruleOfColumn(columns.length === 1 ? columns[0] : columns, parts)
}

/** A flag that says of a variant that it is gone. */
function soldOut({
  list,
  own,
}: Looked): { column: string; when: Record<string, string>; otherwise: string } | undefined {
  const flag = own.find((facts) => {
    const isFlag =
      facts.fill > 0.9 && facts.values.every((text) => /^(?:true|false|0|1|yes|no|y|n)$/i.test(text))
    return isFlag && isSoldOut.test(below(facts, list))
  })
  if (!flag) return undefined
  const gone = flag.values.filter((text) => /^(?:true|1|yes|y)$/i.test(text))
  const when = Object.fromEntries((gone.length > 0 ? gone : ['true']).map((text) => [text, 'OutOfStock']))
  return { column: flag.column, when, otherwise: 'InStock' }
}
