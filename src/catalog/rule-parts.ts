import { fieldKinds, type ProductField } from '../api/contract/product.ts'
import type { FieldRule } from '../config/model.ts'

/** Parts of a rule that cannot have an effect where they stand: a rule that is ignored misleads more than none. */
export function rulePartProblems(field: ProductField, rule: FieldRule): string[] {
  const kind = fieldKinds[field]
  const isList = kind.endsWith('-list') && kind !== 'object-list'
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
  only('date', kind === 'date', 'on date_published')
  only('otherwise', rule.when !== undefined, 'beside when')
  for (const part of ['split', 'separator'] as const) {
    if (rule[part] === '') problems.push(`${part} cannot be empty`)
  }
  if (rule.slash !== undefined && /[/>]/.test(rule.slash)) problems.push('slash cannot hold "/" or ">"')
  if (rule.from.kind === 'entries' && field !== 'custom_fields')
    problems.push('entries belong to custom_fields only')
  if (field === 'product_id' && isConstant(rule.from))
    problems.push('a constant product_id would be one product')
  if (field === 'product_id' && rule.trim === false) problems.push('product_id is always trimmed')
  return problems
}

function isConstant(from: FieldRule['from']): boolean {
  return from.kind === 'value' || (from.kind === 'template' && !from.template.includes('{'))
}
