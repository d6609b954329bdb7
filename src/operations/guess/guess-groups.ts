import type { ColumnFacts } from './column-facts.ts'
import type { HeaderNames, Meaning } from './header-names.ts'
import type { Guesses, MeaningGuess, RuleGuess } from './model.ts'
import type { SampleTable } from './sample-table.ts'

/** Rows of which several are one product. */
export interface Grouping {
  /** What tells the rows of one product apart: where the first is empty, the next counts. */
  variantIds: readonly ColumnFacts[]
  /** Whether the rows of some product differ in this column. */
  varies: (column: string) => boolean
}

interface File extends Pick<SampleTable, 'rows'> {
  columns: readonly ColumnFacts[]
  names: HeaderNames
}

/** Records whose cell in some column is the id of another are its variants: `column`, or undefined. */
export function parentColumn(
  guesses: Guesses,
  { columns, rows }: Pick<File, 'columns' | 'rows'>,
): string | undefined {
  const own = guesses.get('product_id')?.facts
  const ids = columns.filter(({ distinct, fill, characters, urls }) => {
    return distinct > unique && fill > unique && urls === 0 && characters < 60
  })
  const known = (own && !ids.includes(own) ? [...ids, own] : ids).map((facts) => new Set(facts.values))
  return columns.find(({ column, fill, filled, distinct, values, index }) => {
    if (filled === 0 || fill === 1 || own?.index === index || !ofParents.test(column)) return false
    const isShared = distinct < 1 || rows.length < 20
    return isShared && known.some((set) => values.every((value) => set.has(value)))
  })?.column
}

const ofParents = /parent|child|master|main|group|vater|eltern|padre|pai\b|rodic|p[eè]re|ouder|nadrz/i

type Groups = readonly (readonly (readonly unknown[])[])[]

const unique = 0.98
const ofVariants =
  /(?:sku|varia\w*|child|option|offer|inventory|item|listing|article|artikel|combination)[\w .-]*?(?:id|sku|code|nr|no|number|nummer|ref)$|sku$|^(?:ean|gtin|barcode|upc)\w*$/i

/** The number of the product, where another column tells its variants apart; undefined where the id does not repeat. */
export function groupRows(
  guesses: Guesses,
  file: File,
): { guesses: Guesses; grouping: Grouping } | undefined {
  const chosen = guesses.get('product_id')
  if (!chosen || chosen.facts.cut !== undefined) return undefined
  const parent = chosen.facts.distinct > unique ? parentOf(chosen, guesses, file) : undefined
  const id: MeaningGuess = parent
    ? { ...chosen, facts: parent, reason: 'it says which rows are one product' }
    : chosen
  if (id.facts.distinct > unique) return undefined
  const groups = groupsBy(id.facts, file)
  const placeOf = (column: string) => file.columns.find((facts) => facts.column === column)?.index
  const grouping = {
    variantIds: variantIds(id, groups, file),
    varies: (column: string) => groups.some((rows) => valuesOf(rows, placeOf(column)).size > 1),
  }
  const slug = guesses.has('slug') ? undefined : findSlug(file.columns, id.facts.distinct)
  const more: [Meaning, MeaningGuess][] = [['product_id', id]]
  if (slug) more.push(['slug', { facts: slug, reason: 'the cells look like it', others: [] }])
  return { guesses: new Map([...guesses, ...more]), grouping }
}

const slugName = /(?:^|[.=_ -])(?:(?:url[ _-]?)?(?:handle|slug)|url[ _-]?key|seo?[ _-]?name)(?:\]\.\w+)?$/i

/** The last part of the address of a product: as different as their ids. */
export function findSlug(columns: readonly ColumnFacts[], ids = 1): ColumnFacts | undefined {
  return columns.find(({ column, distinct, values, filled }) => {
    const isSlug = filled > 0 && values.every((text) => /^[\p{L}\p{N}_%.-]+$/u.test(text))
    return isSlug && slugName.test(column) && distinct > 0.9 * ids
  })
}

/** Rows that share it have one name, too. */
function parentOf(chosen: MeaningGuess, guesses: Guesses, file: File): ColumnFacts | undefined {
  const name = guesses.get('name')?.facts
  return file.columns.find((facts) => {
    const { column, distinct, fill, urls, filled } = facts
    if (facts === chosen.facts || distinct > unique || fill <= unique || urls > 0 || filled < 3) return false
    if (file.names.find(column)?.meaning !== 'product_id' || ofVariants.test(column)) return false
    const groups = groupsBy(facts, file)
    const alike = groups.filter((rows) => valuesOf(rows, name?.index).size === 1)
    return groups.length > 0 && distinct > 0.03 && alike.length >= groups.length * 0.9
  })
}

function groupsBy({ index }: ColumnFacts, { rows }: File): Groups {
  const groups = new Map<string, (readonly unknown[])[]>()
  for (const row of rows) {
    const id = String(row[index] ?? '')
    if (id === '') continue
    const group = groups.get(id)
    if (group) group.push(row)
    else groups.set(id, [row])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

function valuesOf(rows: readonly (readonly unknown[])[], index: number | undefined): Set<unknown> {
  return new Set(rows.map((row) => (index === undefined ? '' : row[index])).filter((cell) => cell !== ''))
}

function variantIds({ facts: id }: MeaningGuess, groups: Groups, { columns }: File): ColumnFacts[] {
  const found = columns.filter((facts) => {
    const { column, index, filled, urls, characters } = facts
    if (facts === id || filled === 0 || urls > 0 || characters > 60 || !ofVariants.test(column)) return false
    return groups.every((rows) => {
      const cells = rows.map((row) => row[index]).filter((cell) => cell !== '')
      return new Set(cells).size === cells.length
    })
  })
  const rank = ({ column }: ColumnFacts) =>
    /sku/i.test(column) ? 0 : /ean|gtin|barcode|upc/i.test(column) ? 2 : 1
  const sorted = found.toSorted((one, other) => rank(one) - rank(other))
  const last = sorted.findIndex(({ fill }) => fill > unique)
  return last < 0 ? [] : sorted.slice(0, last + 1)
}

/** Rules for the rows of one product: the lowest price, all pieces, in stock where one is; its variants are SKUs. */
export function rulesOfRows(rules: readonly RuleGuess[], grouping: Grouping): RuleGuess[] {
  const sold = isSoldInRows(rules, grouping)
  const folded = rules.map((line) => foldedRule(line, grouping, sold))
  const image = rules.find(({ field }) => field === 'image_url')?.rule
  if (
    typeof image === 'string' &&
    grouping.varies(image) &&
    !rules.some(({ field }) => field === 'alternate_image_urls')
  )
    folded.push({
      field: 'alternate_image_urls',
      rule: { column: image, rows: 'all' },
      comment: 'guessed: the rows of one product have images of their own',
    })
  if (!sold) return folded
  const skus = skusOfRows(rules, grouping)
  if (!skus) return folded
  return [...folded.flatMap((line) => withoutVaried(line, grouping)), skus]
}

/** Other rows of one product than its variants, such as one for each category, say the same of what is sold. */
function isSoldInRows(rules: readonly RuleGuess[], { variantIds, varies }: Grouping): boolean {
  const ofSale = rules.filter(({ field }) => ['price', 'inventory_level', 'availability'].includes(field))
  return variantIds.length > 0 || ofSale.some(({ rule }) => columnsIn(rule).some(varies))
}

const folds: Readonly<Record<string, readonly [rows: string, words: string]>> = {
  availability: ['any', 'in stock where one of its rows is'],
  inventory_level: ['sum', 'of all its rows'],
  price: ['min', 'the lowest of its rows'],
  list_price: ['price', 'of the row with the price'],
}

function foldedRule(line: RuleGuess, { varies }: Grouping, sold: boolean): RuleGuess {
  const { field, rule, comment } = line
  const columns = columnsIn(rule)
  const isList = field === 'categories' || field === 'alternate_image_urls'
  if (isList && columns.some(varies)) return { ...line, rule: withRows(rule, 'all') }
  const fold = sold && columns.length > 0 ? folds[field] : undefined
  if (fold) return { ...line, rule: withRows(rule, fold[0]), comment: `${comment}; ${fold[1]}` }
  if (field === 'name' && columns.some(varies))
    return {
      ...line,
      comment: `${comment}; the rows of one product differ: the first one counts`,
      open: true,
    }
  return line
}

function withRows(rule: unknown, rows: string): unknown {
  if (typeof rule === 'string') return rule.includes('{') ? { template: rule, rows } : { column: rule, rows }
  return typeof rule === 'object' && rule !== null ? { ...rule, rows } : rule
}

/** Of a rule that reads columns by name; templates of images may be it, too. */
export function columnsIn(rule: unknown): string[] {
  if (typeof rule === 'string') return rule.includes('{') ? placeholders(rule) : [rule]
  if (typeof rule !== 'object' || rule === null) return []
  const { column, template } = rule as { column?: string | string[]; template?: string }
  return column !== undefined ? [column].flat() : placeholders(template ?? '')
}

function placeholders(template: string): string[] {
  return [...template.matchAll(/\{([^{}]+?)\??\}/g)].map(([, name = '']) => name)
}

const partsOfSkus = [
  'name',
  'url',
  'image_url',
  'price',
  'list_price',
  'availability',
  'inventory_level',
] as const
const soldParts: ReadonlySet<string> = new Set(['price', 'list_price', 'availability', 'inventory_level'])

function skusOfRows(rules: readonly RuleGuess[], { variantIds, varies }: Grouping): RuleGuess | undefined {
  const [first, ...others] = variantIds.map(({ column }) => column)
  if (first === undefined) return undefined
  const item: Record<string, unknown> = { id: others.length === 0 ? first : { column: [first, ...others] } }
  for (const part of partsOfSkus) {
    const rule = rules.find(({ field }) => field === part)?.rule
    const columns = columnsIn(rule)
    if (columns.length > 0 && (soldParts.has(part) || columns.some(varies))) item[part] = rule
  }
  const entries = Object.entries(entriesOf(rules)).filter(([, column]) => columnsIn(column).some(varies))
  if (entries.length > 0) item.custom_fields = { entries: Object.fromEntries(entries) }
  return {
    field: 'skus',
    rule: { each: 'rows', item },
    comment: `guessed: ${JSON.stringify(first)} tells the rows of one product apart`,
  }
}

function entriesOf(rules: readonly RuleGuess[]): Readonly<Record<string, unknown>> {
  const rule = rules.find(({ field }) => field === 'custom_fields')?.rule
  return (rule as { entries?: Record<string, unknown> } | undefined)?.entries ?? {}
}

/** What differs between the variants belongs to them. */
function withoutVaried(line: RuleGuess, { varies }: Grouping): RuleGuess[] {
  if (line.field !== 'custom_fields') return [line]
  const own = Object.entries(entriesOf([line])).filter(([, column]) => !columnsIn(column).some(varies))
  return own.length === 0 ? [] : [{ ...line, rule: { entries: Object.fromEntries(own) } }]
}
