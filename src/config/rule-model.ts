import type { Defined } from '../lib/without-undefined.ts'
import type { FieldRuleDetails } from './field-schema.ts'
import type { FormatConfig } from './format-model.ts'

export type EmptyPolicy = NonNullable<FieldRuleDetails['empty']>

/** Where the value of a field comes from. */
type Source = 'column' | 'value' | 'template' | 'entries' | 'matching' | 'parts' | 'each' | 'key' | 'item'
/** What the configuration writes in another way. */
type Converted =
  | ('pattern' | 'result' | 'elements' | 'lookup')
  | ('trim' | 'optional' | 'where' | 'prefer' | 'during')

/** How one contract field is computed from a record. Parts that are not here mean what the schema says of them. */
export interface FieldRule extends Defined<Omit<FieldRuleDetails, Source | Converted>> {
  from:
    | { kind: 'columns'; columns: readonly string[] }
    | { kind: 'value'; value: unknown }
    /** Text with `{column}` placeholders; empty when one of the columns is empty, unless it is a `{column?}`. */
    | { kind: 'template'; template: string }
    /** One entry per key of a map field (`custom_fields`); keys are templates. */
    | { kind: 'entries'; entries: Readonly<Record<string, FieldRule>> }
    /** One entry per column whose name matches; the group `name` of the RE2 expression is its key. */
    | { kind: 'matching'; regex: string }
    /** Entries of several rules; of entries with one key the first counts. */
    | { kind: 'parts'; parts: readonly FieldRule[] }
    /**
     * One member per row of the record (`rows`) or per member of the list in a column. `key` makes a map of them
     * (`variations`), else they are a list (`skus`).
     */
    | { kind: 'each'; each: string; key: FieldRule | undefined; item: Readonly<Record<string, FieldRule>> }
  /** RE2 syntax with named groups; `result` is a template over the group names, default: the first group or the match. */
  pattern?: { regex: string; result: string | undefined }
  trim?: boolean
  /** The columns may be absent: the rule says nothing then. */
  optional?: boolean
  /** By column: which rows (or members) count. */
  where?: Readonly<Record<string, CellCondition>>
  /** By column: rows that count alone where a record has such. */
  prefer?: Readonly<Record<string, CellCondition>>
  lookup?: LookupTable
  /** What becomes of each element of a list; one that does not match stays. */
  elements?: { regex: string; result: string | undefined }
  /** By column: when its cell counts, in the form of `date`; without it ISO 8601. */
  during?: Readonly<Record<string, TimeColumns>>
}

/** Whether a cell's text is (`not`: is none) of `values`; `""` is an empty cell. */
export interface CellCondition {
  values: readonly string[]
  not: boolean
}

/** A column with an interval `start/end`, or columns with its ends. */
export type TimeColumns =
  | { kind: 'interval'; column: string }
  | { kind: 'ends'; from: string | undefined; until: string | undefined }

/** A table of two columns that translates values. */
export interface LookupTable {
  file: string
  key: string
  value: string
  /** What of its form is not detected. */
  format?: Omit<FormatConfig, 'recordBytes'>
}
