import { type ProductField, productFields } from '../api/contract/product.ts'
import type { FeedConfig, FeedMode } from '../config/model.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { ConfigError } from '../lib/errors.ts'
import type { IdReader } from '../records/judge-model.ts'
import type { ParsedRecord, RecordIssue } from '../records/model.ts'
import type { TransformStep } from '../records/transform-records.ts'
import { type Aliases, type NamedColumns, openAliases, withAliases } from './aliases.ts'
import { closestName, didYouMean } from './closest-name.ts'
import type { BoundField, CompiledRule } from './compiled-rule.ts'
import { issueOfKey, rulesOf } from './feed-key.ts'
import { type CompiledGroup, compileGroup } from './group-links.ts'
import { mapRecord, readId } from './map-record.ts'
import type { ProductPatch } from './model.ts'
import { compileRule } from './rule.ts'
import type { ReadTable } from './translate.ts'

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

export type MappingBinding = Binding<BoundMapping>

export type Binding<Bound> =
  | { kind: 'bound'; bound: Bound }
  | { kind: 'missing-columns'; missingColumns: readonly MissingColumn[] }

/** What a record says of what; without an item where it is rejected. */
export interface MappedRecord<Item> {
  id: string | undefined
  item: Item | undefined
  issues: readonly RecordIssue[]
}

export interface MissingColumn {
  column: string
  /** `group` where rows could not be put together without the column. */
  field: string
  /** The column of the file with the most similar name, where one is similar. */
  suggestion?: string
}

export interface BoundMapping {
  /** For the pass that only needs ids: `cells[i]` is the cell of the column at `indices[i]`. The same id as `map`. */
  readonly idReader: IdReader
  /** What makes the records that `map` is given. */
  readonly transform?: TransformStep
  /** All problems of the record at once, as ids of a feed with a key the values of its key; no patch when one of them rejects it. */
  map(record: ParsedRecord, now: number): { patch: ProductPatch | undefined; issues: readonly RecordIssue[] }
}

interface MappingOptions {
  feed: FeedConfig
  mode: FeedMode
  /** For feeds whose rules look values up. */
  readTable?: ReadTable | undefined
}

/** Throws a ConfigError that names everything wrong with the feed's rules, whatever its files hold. */
export function compileMapping(options: MappingOptions): Mapping {
  const { feed } = options
  const mapping = tieRows(compileFields(options), feed)
  const { transform } = feed
  if (!transform) return mapping
  const bindMade = (bind: Mapping['bind'], columns: readonly string[]): MappingBinding => {
    // What the file must have; all other columns may come of the transform.
    const own = mapping.bindLeniently(columns)
    const all = [...columns, ...mapping.neededColumns.filter((column) => !columns.includes(column))]
    const binding = own.kind === 'bound' ? bind(all) : own
    if (binding.kind !== 'bound') return binding
    const { bound } = binding
    return {
      kind: 'bound',
      bound: { ...bound, transform: { ...transform, columns: all, idReader: bound.idReader } },
    }
  }
  return {
    ...mapping,
    bind: (columns) => bindMade(mapping.bind, columns),
    bindLeniently: (columns) => bindMade(mapping.bindLeniently, columns),
  }
}

/** The mapping that reads too which rows are one product, where the feed has such. */
function tieRows(mapping: Mapping, { group, name, aliases }: FeedConfig): Mapping {
  if (!group) return mapping
  const problems: string[] = []
  const compiled = compileGroup(group, problems)
  if (!compiled) throw new ConfigError('mapping', `feed ${name}: group: ${problems.join('; ')}`)
  return {
    ...mapping,
    neededColumns: [...new Set([...mapping.neededColumns, ...withAliases(compiled.columns, aliases)])],
    bind: (columns) => bindGroup(mapping.bind(columns), compiled, openAliases(columns, aliases)),
    bindLeniently: (columns) =>
      bindGroup(mapping.bindLeniently(columns), compiled, openAliases(columns, aliases)),
  }
}

function compileFields(options: MappingOptions): Mapping {
  const { feed } = options
  const { key, aliases } = feed
  const isImplicit = Object.keys(feed.fields).length === 0
  const rules = compileRules(isImplicit ? implicitRules(productFields) : rulesOf(feed), options)
  const id = rules.find(({ field }) => field === 'product_id')
  if (!id) {
    throw new ConfigError('mapping', `feed ${feed.name}: fields do not map product_id`, {
      hint: 'Add product_id with the column that identifies a product',
    })
  }
  return {
    fields: rules.map(({ field }) => field).filter((field) => field !== 'product_id'),
    neededColumns: withAliases(
      rules.flatMap(({ rule }) => rule.columns),
      aliases,
    ),
    // Without configured fields a file brings what it has; other feeds may bring the rest.
    bind: (columns) =>
      bindColumns(columns, { rules, id, key, aliases, isImplicit, needed: isImplicit ? [id] : rules }),
    bindLeniently: (columns) => bindColumns(columns, { rules, id, key, aliases, isImplicit, needed: [id] }),
  }
}

/** What is wrong with one rule whatever a file holds; empty when nothing is. */
export function checkRule(field: string, rule: FieldRule): string[] {
  if (!isProductField(field)) return [`${field} is no field of a product${didYouMean(field, productFields)}`]
  const problems: string[] = []
  compileRule(field, rule, { problems })
  return problems
}

interface FieldRuleReady {
  field: ProductField
  rule: CompiledRule
  /** What the mode makes of an empty cell, unless the rule says otherwise. */
  clears: boolean
  abovePrice: boolean
  /** Changes when the price does. */
  followsPrice: boolean
}

function compileRules(
  fields: Readonly<Record<string, FieldRule>>,
  { feed, mode, readTable }: MappingOptions,
): FieldRuleReady[] {
  const problems = Object.entries(fields).flatMap(([field, rule]) =>
    checkRule(field, rule).map((problem) => `fields.${field}: ${problem}`),
  )
  if (problems.length > 0) throw new ConfigError('mapping', `feed ${feed.name}: ${problems.join('; ')}`)
  return productFields.flatMap((field) => {
    const rule = Object.hasOwn(fields, field) ? fields[field] : undefined
    const empty = rule?.empty ?? (mode === 'full' ? 'clear' : 'keep')
    const compiled = rule && compileRule(field, { ...rule, empty }, { problems: [], readTable })
    if (!compiled) return []
    const abovePrice = rule.above !== undefined
    const followsPrice = abovePrice || rule.rows === 'price'
    return [{ field, rule: compiled, clears: empty === 'clear', abovePrice, followsPrice }]
  })
}

/** Each field has the column of its name. */
export function implicitRules(fields: readonly string[]): Readonly<Record<string, FieldRule>> {
  return Object.fromEntries(fields.map((field) => [field, { from: { kind: 'columns', columns: [field] } }]))
}

export function missingColumn(column: string, field: string, names: readonly string[]): MissingColumn {
  const suggestion = closestName(column, names)
  return suggestion === undefined ? { column, field } : { column, field, suggestion }
}

interface Rules {
  rules: readonly FieldRuleReady[]
  id: FieldRuleReady
  /** The id is the value of this field. */
  key: string | undefined
  aliases: Aliases | undefined
  isImplicit: boolean
}

function bindColumns(
  names: readonly string[],
  { needed, ...rules }: Rules & { needed: readonly FieldRuleReady[] },
): MappingBinding {
  const columns = openAliases(names, rules.aliases)
  const missingColumns = needed.flatMap(({ field, rule }) =>
    rule.missing(columns).map((column) => missingColumn(column, field, names)),
  )
  if (missingColumns.length > 0) return { kind: 'missing-columns', missingColumns }
  return { kind: 'bound', bound: bindRules(rules, columns) }
}

function bindRules({ rules, id, key, aliases, isImplicit }: Rules, columns: NamedColumns): BoundMapping {
  const isTimedPrice = rules.some(({ field, rule }) => field === 'price' && rule.timed)
  const fields: BoundField[] = rules
    .filter(({ field }) => field !== 'product_id')
    .map(({ field, rule, clears, abovePrice, followsPrice }) => ({
      field,
      clears,
      abovePrice,
      columns: rule.valueColumns,
      compute: rule.bind(columns),
      timed: rule.timed || (followsPrice && isTimedPrice),
      ownPlace: isImplicit ? columns.placeOf(field) : undefined,
    }))
  const idField = { field: id.field, clears: true, columns: id.rule.valueColumns, ownPlace: undefined }
  const compute = id.rule.bind(columns)
  const boundId: BoundField = { ...idField, compute, timed: false, abovePrice: false }
  return {
    idReader: openIdReader(id.rule, columns),
    map: (given, now) => {
      const record = aliases ? fillRecord(given, columns) : given
      const mapped = mapRecord(record, { id: boundId, fields }, now)
      if (key === undefined) return mapped
      return { ...mapped, issues: mapped.issues.map((issue) => issueOfKey(issue, key)) }
    },
  }
}

/** It is given only the id's cells, so for it the columns have other places. */
export function openIdReader(rule: CompiledRule, columns: NamedColumns): IdReader {
  const picked = columns.pick(rule.columns)
  const compute = rule.bind(picked.columns)
  return { indices: picked.indices, read: (cells) => readId(compute, picked.columns.fill(cells)) }
}

function fillRecord(record: ParsedRecord, columns: NamedColumns): ParsedRecord {
  const { rows } = record
  const filled = { ...record, cells: columns.fill(record.cells) }
  return rows ? { ...filled, rows: rows.map((row) => ({ ...row, cells: columns.fill(row.cells) })) } : filled
}

/** Without the columns that tie rows together no file is bound: its rows would be taken for products. */
function bindGroup(binding: MappingBinding, group: CompiledGroup, columns: NamedColumns): MappingBinding {
  const { names, placeOf } = columns
  const absent = group.missing(placeOf).map((column) => missingColumn(column, 'group', names))
  const missingColumns = [...(binding.kind === 'bound' ? [] : binding.missingColumns), ...absent]
  if (binding.kind !== 'bound' || missingColumns.length > 0)
    return { kind: 'missing-columns', missingColumns }
  const { bound } = binding
  return { kind: 'bound', bound: { ...bound, idReader: group.bind(bound.idReader, columns) } }
}

function isProductField(name: string): name is ProductField {
  return (productFields as readonly string[]).includes(name)
}
