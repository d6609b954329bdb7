import type { Conditions, Grouping } from './guess-groups.ts'
import { doubted, type RuleGuess } from './model.ts'
import { columnsIn, partsOf } from './rule-columns.ts'

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

function foldedRule(line: RuleGuess, grouping: Grouping, sold: boolean): RuleGuess {
  const { field, rule, comment } = line
  const { varies, members, isOfMembers, hasHeads } = grouping
  const columns = columnsIn(rule)
  const isList = field === 'categories' || field === 'alternate_image_urls'
  if (isList && columns.some(varies)) return { ...line, rule: withRows(rule, 'all') }
  const fold = sold && columns.length > 0 ? folds[field] : undefined
  if (fold) {
    const prefer = members && isOfMembers(columns) ? { prefer: members } : {}
    const shown = ofProduct(withRows(rule, fold[0]), grouping)
    return { ...line, rule: { ...shown, ...prefer }, comment: `${comment}; ${fold[1]}` }
  }
  if (field === 'name' && !hasHeads && columns.some(varies))
    return doubted(line, ['the rows of one product differ: the first one counts'])
  return line
}

function withRows(rule: unknown, rows: string): Conditions {
  if (typeof rule === 'string') return rule.includes('{') ? { template: rule, rows } : { column: rule, rows }
  return typeof rule === 'object' ? { ...partsOf(rule), rows } : {}
}

/** What the row of a product says of all its variants, such as whether it is shown. */
function ofProduct(rule: Conditions, { isOfHeads, hasHeads }: Grouping): Conditions {
  if (typeof rule.where !== 'object' || rule.where === null) return rule
  const where = Object.entries(rule.where).flatMap(([column, cells]) => {
    if (isOfHeads(column)) return [[`../${column}`, cells]]
    const own = [column, cells]
    return hasHeads ? [[`../${column}`, structuredClone(cells)], own] : [own]
  })
  return { ...rule, where: Object.fromEntries(where) as Conditions }
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

function skusOfRows(rules: readonly RuleGuess[], grouping: Grouping): RuleGuess | undefined {
  const { variantIds, varies, members } = grouping
  const [first, ...others] = variantIds.map(({ column }) => column)
  if (first === undefined) return undefined
  const item: Record<string, unknown> = { id: others.length === 0 ? first : { column: [first, ...others] } }
  for (const part of partsOfSkus) {
    const rule = rules.find(({ field }) => field === part)?.rule
    const columns = columnsIn(rule)
    if (columns.length > 0 && (soldParts.has(part) || columns.some(varies)))
      item[part] = typeof rule === 'object' ? ofProduct(rule as Conditions, grouping) : rule
  }
  const entries = Object.entries(entriesOf(rules)).filter(([, column]) => columnsIn(column).some(varies))
  if (entries.length > 0) item.custom_fields = { entries: Object.fromEntries(entries) }
  return {
    field: 'skus',
    rule: { each: 'rows', ...(members ? { where: members } : {}), item },
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
