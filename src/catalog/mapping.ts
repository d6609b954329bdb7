import { type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedConfig, FeedMode, FieldRule } from '../config/model.ts'
import { ConfigError } from '../lib/errors.ts'
import type { IdReader } from '../records/judge-pass.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import { closestName } from './closest-name.ts'
import type { CompiledRule, PlaceOf } from './compiled-rule.ts'
import { type CompiledGroup, compileGroup } from './group-links.ts'
import { type BoundField, mapRecord, readId } from './map-record.ts'
import type { ProductPatch } from './model.ts'
import { compileRule } from './rule.ts'

/** How the records of one feed in one mode become product patches. */
export interface Mapping {
  /** What the feed can write, in contract order, without `product_id`. */
  readonly fields: readonly ProductField[]
  readonly neededColumns: readonly string[]
  /** To the columns of one file; all mapped columns must be there. */
  bind(columns: readonly string[]): MappingBinding
  /** For a file that an operator approved: fields whose columns are absent say nothing. Only the id is needed. */
  bindLeniently(columns: readonly string[]): MappingBinding
}

export type MappingBinding =
  | { kind: 'bound'; bound: BoundMapping }
  | { kind: 'missing-columns'; missingColumns: readonly MissingColumn[] }

export interface MissingColumn {
  column: string
  /** `group` where rows could not be put together without the column. */
  field: ProductField | 'group'
  /** The column of the file with the most similar name, where one is similar. */
  suggestion?: string
}

export interface BoundMapping {
  /** For the pass that only needs ids: `cells[i]` is the cell of the column at `indices[i]`. The same id as `map`. */
  readonly idReader: IdReader
  /** All problems of the record at once; no patch when one of them rejects it. */
  map(record: ParsedRecord): { patch: ProductPatch | undefined; issues: readonly RecordIssue[] }
}

/** Throws a ConfigError that names everything wrong with the feed's rules, whatever its files hold. */
export function compileMapping(options: { feed: FeedConfig; mode: FeedMode }): Mapping {
  const { group, name } = options.feed
  const mapping = compileFields(options)
  if (!group) return mapping
  const problems: string[] = []
  const compiled = compileGroup(group, problems)
  if (!compiled) throw new ConfigError('mapping', `feed ${name}: group: ${problems.join('; ')}`)
  return {
    ...mapping,
    neededColumns: [...new Set([...mapping.neededColumns, ...compiled.columns])],
    bind: (columns) => bindGroup(mapping.bind(columns), compiled, columns),
    bindLeniently: (columns) => bindGroup(mapping.bindLeniently(columns), compiled, columns),
  }
}

function compileFields({ feed, mode }: { feed: FeedConfig; mode: FeedMode }): Mapping {
  const isImplicit = Object.keys(feed.fields).length === 0
  const rules = compileRules(isImplicit ? implicitRules() : feed.fields, { feed, mode })
  const id = rules.find(({ field }) => field === 'product_id')
  if (!id) {
    throw new ConfigError('mapping', `feed ${feed.name}: fields do not map product_id`, {
      hint: 'Add product_id with the column that identifies a product',
    })
  }
  return {
    fields: rules.map(({ field }) => field).filter((field) => field !== 'product_id'),
    neededColumns: [...new Set(rules.flatMap(({ rule }) => rule.columns))],
    // Without configured fields a file brings what it has; other feeds may bring the rest.
    bind: (columns) => bindColumns(columns, { rules, id, isImplicit, needed: isImplicit ? [id] : rules }),
    bindLeniently: (columns) => bindColumns(columns, { rules, id, isImplicit, needed: [id] }),
  }
}

/** What is wrong with one rule whatever a file holds; empty when nothing is. */
export function checkRule(field: string, rule: FieldRule): string[] {
  if (!isProductField(field)) {
    const suggestion = closestName(field, productFields)
    return [`${field} is no field of a product${suggestion ? `; did you mean ${suggestion}?` : ''}`]
  }
  const problems: string[] = []
  compileRule(field, rule, problems)
  return problems
}

interface FieldRuleReady {
  field: ProductField
  rule: CompiledRule
  /** What the mode makes of an empty cell, unless the rule says otherwise. */
  clears: boolean
}

function compileRules(
  fields: Readonly<Record<string, FieldRule>>,
  { feed, mode }: { feed: FeedConfig; mode: FeedMode },
): FieldRuleReady[] {
  const problems = Object.entries(fields).flatMap(([field, rule]) =>
    checkRule(field, rule).map((problem) => `fields.${field}: ${problem}`),
  )
  if (problems.length > 0) throw new ConfigError('mapping', `feed ${feed.name}: ${problems.join('; ')}`)
  return productFields.flatMap((field) => {
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined
    const empty = rule?.empty ?? (mode === 'full' ? 'clear' : 'keep')
    const compiled = rule && compileRule(field, { ...rule, empty }, [])
    return compiled ? [{ field, rule: compiled, clears: empty === 'clear' }] : []
  })
}

function implicitRules(): Record<string, FieldRule> {
  const entries = productFields.map(
    (field) => [field, { from: { kind: 'columns', columns: [field] } }] as const,
  )
  return Object.fromEntries<FieldRule>(entries)
}

function missingIn(
  field: ProductField,
  { rule, placeOf, columns }: { rule: CompiledRule; placeOf: PlaceOf; columns: readonly string[] },
): MissingColumn[] {
  return rule.missing(placeOf).map((column) => {
    const suggestion = closestName(column, columns)
    return suggestion === undefined ? { column, field } : { column, field, suggestion }
  })
}

interface Rules {
  rules: readonly FieldRuleReady[]
  id: FieldRuleReady
  isImplicit: boolean
}

function bindColumns(
  columns: readonly string[],
  { needed, ...rules }: Rules & { needed: readonly FieldRuleReady[] },
): MappingBinding {
  const places = new Map<string, number>()
  for (const [place, column] of columns.entries()) if (!places.has(column)) places.set(column, place)
  const placeOf: PlaceOf = (column) => places.get(column)
  const missingColumns = needed.flatMap(({ field, rule }) => missingIn(field, { rule, placeOf, columns }))
  if (missingColumns.length > 0) return { kind: 'missing-columns', missingColumns }
  return { kind: 'bound', bound: bindRules(rules, placeOf) }
}

function bindRules({ rules, id, isImplicit }: Rules, placeOf: PlaceOf): BoundMapping {
  const fields: BoundField[] = rules
    .filter(({ field }) => field !== 'product_id')
    .map(({ field, rule, clears }) => ({
      field,
      clears,
      columns: rule.columns,
      compute: rule.bind(placeOf),
      ownPlace: isImplicit ? placeOf(field) : undefined,
    }))
  const idField = { field: id.field, clears: true, columns: id.rule.columns, ownPlace: undefined }
  const boundId: BoundField = { ...idField, compute: id.rule.bind(placeOf) }
  const present = id.rule.columns.filter((column) => placeOf(column) !== undefined)
  // The id reader is given only the id's cells, so there the columns have other places.
  const computeId = id.rule.bind((column) => {
    const place = present.indexOf(column)
    return place < 0 ? undefined : place
  })
  return {
    idReader: {
      indices: present.map((column) => placeOf(column) ?? 0),
      read: (cells) => readId(computeId, cells),
    },
    map: (record) => mapRecord(record, { id: boundId, fields }),
  }
}

/** Without the columns that tie rows together no file is bound: its rows would be taken for products. */
function bindGroup(binding: MappingBinding, group: CompiledGroup, columns: readonly string[]): MappingBinding {
  const placeOf = (column: string) => (columns.includes(column) ? columns.indexOf(column) : undefined)
  const absent = group.missing(placeOf).map((column): MissingColumn => {
    const suggestion = closestName(column, columns)
    return { column, field: 'group', ...(suggestion === undefined ? {} : { suggestion }) }
  })
  const missingColumns = [...(binding.kind === 'bound' ? [] : binding.missingColumns), ...absent]
  if (binding.kind !== 'bound' || missingColumns.length > 0) return { kind: 'missing-columns', missingColumns }
  const { bound } = binding
  return { kind: 'bound', bound: { ...bound, idReader: group.bind(bound.idReader, placeOf) } }
}

function isProductField(name: string): name is ProductField {
  return (productFields as readonly string[]).includes(name)
}
