import { resolve } from 'node:path'
import { withoutUndefined } from '../lib/without-undefined.ts'
import type { DuringInput, FieldRuleDetails, FieldRuleInput, WhereInput } from './field-schema.ts'
import { buildFormat } from './format-schema.ts'
import { isTrue } from './leaves.ts'
import type { CellCondition, FieldRule, LookupTable, TimeColumns } from './rule-model.ts'

const placeholder = /\{[^{}]+\}/

/**
 * The rule that a shorthand stands for. The input has passed `fieldRuleSchema` and `ruleProblems`. Relative paths begin
 * at `folder`.
 */
export function normalizeRule(input: FieldRuleInput, folder = ''): FieldRule {
  if (typeof input === 'string') return { from: sourceOf(shorthand(input), folder) }
  const { column, value, template, entries, matching, parts, each, key, item, ...others } = input
  const { pattern, result, trim, optional, elements, where, prefer, during, lookup, ...plain } = others
  return {
    from: sourceOf(input, folder),
    ...withoutUndefined({
      ...plain,
      pattern: pattern === undefined ? undefined : { regex: pattern, result },
      trim: trim === undefined ? undefined : isTrue(trim),
      optional: optional === undefined ? undefined : isTrue(optional),
      elements: elements && { regex: elements.pattern, result: elements.result },
      where: where && conditionsOf(where),
      prefer: prefer && conditionsOf(prefer),
      during: during && mapValues(during, timeColumnsOf),
      lookup: lookup && tableOf(lookup, folder),
    }),
  }
}

function tableOf(
  { file, key, value, format }: NonNullable<FieldRuleDetails['lookup']>,
  folder: string,
): LookupTable {
  const table = { file: resolve(folder, file), key, value }
  return format === undefined ? table : { ...table, format: buildFormat(format) }
}

function shorthand(text: string): FieldRuleDetails {
  return placeholder.test(text) ? { template: text } : { column: text }
}

function sourceOf(input: FieldRuleDetails, folder: string): FieldRule['from'] {
  const { column, template, entries, matching, parts, each, key, item, value } = input
  const ruleOf = (rule: FieldRuleInput) => normalizeRule(rule, folder)
  if (column !== undefined)
    return { kind: 'columns', columns: typeof column === 'string' ? [column] : column }
  if (template !== undefined) return { kind: 'template', template }
  if (entries !== undefined) return { kind: 'entries', entries: mapValues(entries, ruleOf) }
  if (matching !== undefined) return { kind: 'matching', regex: matching }
  if (parts !== undefined) return { kind: 'parts', parts: parts.map(ruleOf) }
  if (each === undefined) return { kind: 'value', value }
  return {
    kind: 'each',
    each,
    key: key === undefined ? undefined : ruleOf(key),
    item: mapValues(item ?? {}, ruleOf),
  }
}

export function conditionsOf(where: Readonly<Record<string, WhereInput>>): Record<string, CellCondition> {
  return mapValues(where, conditionOf)
}

function conditionOf(input: WhereInput): CellCondition {
  const not = typeof input === 'object' && !Array.isArray(input)
  const values = not ? input.not : input
  return { values: (Array.isArray(values) ? values : [values]).map((value) => String(value).trim()), not }
}

function timeColumnsOf(input: DuringInput): TimeColumns {
  return typeof input === 'string'
    ? { kind: 'interval', column: input }
    : { kind: 'ends', from: input.from, until: input.until }
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  convert: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, convert(value)]))
}
