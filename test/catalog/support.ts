import { type BoundMapping, compileMapping } from '../../src/catalog/mapping.ts'
import type { ReadTable } from '../../src/catalog/translate.ts'
import type { FeedConfig, FeedMode } from '../../src/config/model.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import type { ParsedRecord, RecordIssue } from '../../src/records/model.ts'

export function columnRule(...columns: string[]): FieldRule {
  return { from: { kind: 'columns', columns } }
}

export function valueRule(value: unknown): FieldRule {
  return { from: { kind: 'value', value } }
}

export function templateRule(template: string): FieldRule {
  return { from: { kind: 'template', template } }
}

export function feedOf(fields: Record<string, FieldRule>, feed: Partial<FeedConfig> = {}): FeedConfig {
  return {
    name: 'products' as FeedName,
    kind: 'products',
    dropDir: '/drop',
    files: [{ pattern: '*.csv', mode: 'full' }],
    settle: { kind: 'quiet', forMs: 0 },
    format: {
      type: undefined,
      delimiter: undefined,
      quote: undefined,
      encoding: undefined,
      recordBytes: 1_000_000,
    },
    fields,
    owns: [],
    missing: { action: 'out_of_stock', atMost: 0.1, forgetMs: 1 },
    rejects: { atMost: 0.05 },
    ...feed,
  }
}

/** A mapping for tests, most of which do not care about the time. */
interface BoundTo extends Pick<BoundMapping, 'idReader'> {
  map(record: ParsedRecord, now?: number): ReturnType<BoundMapping['map']>
}

export function bindTo(
  columns: readonly string[],
  fields: Record<string, FieldRule>,
  mode: FeedMode = 'full',
  readTable?: ReadTable,
): BoundTo {
  const binding = compileMapping({ feed: feedOf(fields), mode, readTable }).bind(columns)
  if (binding.kind !== 'bound') throw new Error(`missing: ${JSON.stringify(binding.missingColumns)}`)
  const { idReader, map } = binding.bound
  return { idReader, map: (record, now = 0) => map(record, now) }
}

export function recordOf(cells: readonly unknown[], record = 1): ParsedRecord {
  return { record, line: record + 1, cells }
}

/** One field mapped from one cell: its value, `cleared`, `silent`, or the issues. */
export function mapCell(
  field: string,
  cell: unknown,
  { rule = {}, mode = 'full' }: { rule?: Partial<FieldRule>; mode?: FeedMode } = {},
): unknown {
  const fields = { product_id: columnRule('id'), [field]: { ...columnRule('cell'), ...rule } }
  const { patch, issues } = bindTo(['id', 'cell'], fields, mode).map(recordOf(['P1', cell]))
  if (!patch) return issues
  const name = field as keyof typeof patch.set
  if (patch.set[name] !== undefined) return patch.set[name]
  return patch.clear.includes(name) ? 'cleared' : 'silent'
}

/** The code and message of the one issue that the cell brings. */
export function issueOf(field: string, cell: unknown, rule: Partial<FieldRule> = {}): RecordIssue {
  const result = mapCell(field, cell, { rule })
  if (!Array.isArray(result) || result.length !== 1)
    throw new Error(`no single issue: ${JSON.stringify(result)}`)
  return result[0] as RecordIssue
}
