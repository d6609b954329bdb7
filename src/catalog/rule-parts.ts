import type { FieldKind } from '../api/contract/kinds.ts'
import type { FieldRule } from '../config/rule-model.ts'

interface Place {
  /** Of a field, or of what else a rule computes. */
  name: string
  kind: FieldKind
  /** Of `skus` or `variations`. */
  isMember: boolean
}

const numeric: ReadonlySet<FieldKind> = new Set(['number', 'integer', 'decimal-string', 'integer-string'])

/** Parts of a rule that cannot have an effect where they stand: a rule that is ignored misleads more than none. */
export function rulePartProblems(place: Place, rule: FieldRule): string[] {
  const { name, kind } = place
  const isList = kind.endsWith('-list') && kind !== 'object-list'
  const isText = !numeric.has(kind) && kind !== 'date' && !kind.startsWith('object')
  const problems: string[] = []
  const only = (part: keyof FieldRule, holds: boolean, where: string) => {
    if (rule[part] !== undefined && !holds) problems.push(`${part} has an effect only ${where}`)
  }
  only('split', isList, 'on a list field')
  only('separator', kind === 'category-list', 'on categories')
  only(
    'slash',
    kind === 'category-list' && rule.separator !== undefined && rule.separator.trim() !== '/',
    'on categories with a separator other than "/"',
  )
  only('date', kind === 'date' || rule.during !== undefined, 'on date_published or beside during')
  only(
    'otherwise',
    rule.when !== undefined || rule.words !== undefined || rule.part === 'currency',
    'beside when or words',
  )
  only('html', isText || rule.from.kind === 'matching', 'on texts and lists of texts')
  only('newline', isText && !isList, 'on texts')
  only('json', isText && !isList, 'on texts')
  only('elements', isList, 'on a list field')
  only('above', name === 'list_price', 'on list_price')
  only(
    'less',
    (name === 'price' || name === 'list_price') && rule.from.kind !== 'value',
    'on price and list_price that are read',
  )
  only('below', numeric.has(kind) && rule.from.kind !== 'value', 'on numbers that are read')
  only('words', name === 'availability', 'on availability')
  only('lookup', isText, 'on texts and lists of texts')
  only('pairs', name === 'custom_fields' && rule.from.kind === 'columns', 'on custom_fields, beside column')
  only('unescape', rule.split !== undefined, 'beside split')
  if (rule.part === 'currency') only('part', isText && !isList, 'on texts such as price_currency_code')
  if (rule.part === 'amount')
    only('part', !isList && !kind.startsWith('object') && kind !== 'date', 'on numbers and texts')
  problems.push(...rowProblems(place, rule), ...sourceProblems(place, rule))
  for (const part of ['split', 'separator'] as const) {
    if (rule[part] === '') problems.push(`${part} cannot be empty`)
  }
  if (rule.split !== undefined && rule.split.trim() === rule.separator?.trim() && rule.split.trim() !== '')
    problems.push(
      `split and separator are both "${rule.split.trim()}", which leaves no levels; without split, separator alone counts`,
    )
  if (rule.slash !== undefined && /[/>]/.test(rule.slash)) problems.push('slash cannot hold "/" or ">"')
  if (name === 'product_id') problems.push(...idProblems(rule))
  return problems
}

function rowProblems({ name, kind, isMember }: Place, { rows, prefer }: FieldRule): string[] {
  if (prefer && isMember) return ['prefer has no effect in a member: it is one row']
  if (rows === undefined) return []
  if (isMember) return ['rows has no effect in a member: it is one row']
  const isList = kind.endsWith('-list') && kind !== 'object-list'
  if (rows === 'all' && !isList) return ['rows: all has an effect only on a list field']
  if (['min', 'max', 'sum'].includes(rows) && !numeric.has(kind))
    return [`rows: ${rows} has an effect only on numbers`]
  if (rows === 'price' && name !== 'list_price') return ['rows: price has an effect only on list_price']
  return rows === 'any' && name !== 'availability' ? ['rows: any has an effect only on availability'] : []
}

function sourceProblems({ name, isMember }: Place, { from }: FieldRule): string[] {
  switch (from.kind) {
    case 'entries':
    case 'matching':
    case 'parts':
      return name === 'custom_fields' ? [] : [`${from.kind} belong to custom_fields only`]
    case 'each':
      if (isMember || (name !== 'skus' && name !== 'variations'))
        return ['each belongs to skus and variations only']
      if (name === 'variations' && !from.key) return ['each makes variations only with key, the id of each']
      return name === 'skus' && from.key ? ['key has no effect on skus: set item.id'] : []
    default:
      return []
  }
}

/** The id is read from each row by itself, before anything else is known. */
function idProblems(rule: FieldRule): string[] {
  const problems: string[] = []
  const isConstant =
    rule.from.kind === 'value' || (rule.from.kind === 'template' && !rule.from.template.includes('{'))
  if (isConstant) problems.push('a constant product_id would be one product')
  if (rule.trim === false) problems.push('product_id is always trimmed')
  for (const part of ['rows', 'where', 'prefer', 'during', 'optional', 'default'] as const) {
    if (rule[part] !== undefined)
      problems.push(`${part} has no effect on product_id, which every row must have`)
  }
  return problems
}
