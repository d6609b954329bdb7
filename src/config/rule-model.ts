import type { FormatConfig } from './format-model.ts'

export type EmptyPolicy = 'keep' | 'clear'

/** How one contract field is computed from a record; normalised (shorthand strings are expanded by the configuration). */
export interface FieldRule {
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
  /** Splits a cell into the elements of an array field. */
  split?: string
  /** What separates the levels of a category path in the cells. */
  separator?: string
  /** What replaces a `/` inside one segment of a category path. */
  slash?: string
  decimal?: '.' | ','
  thousands?: '.' | ',' | ' ' | "'"
  when?: Readonly<Record<string, unknown>>
  otherwise?: unknown
  /** What the value is where all before gives none. */
  default?: unknown
  /** `YYYY`, `YY` (of this century), `MM`, `M`, `MMM` (a name), `DD`, `D`, `HH`, `mm`, `ss` and literal characters, or `unix` (seconds). */
  date?: string
  trim?: boolean
  /** Default: `clear` in a full file, `keep` in a delta. */
  empty?: EmptyPolicy
  /** The columns may be absent: the rule says nothing then. */
  optional?: boolean
  /** Of records of several rows: which rows count. Default: the first whose value is not empty. */
  rows?: 'first' | 'last' | 'all' | 'min' | 'max' | 'sum' | 'any' | 'price'
  /** By column: which rows (or members) count. */
  where?: Readonly<Record<string, CellCondition>>
  /** By column: rows that count alone where a record has such. */
  prefer?: Readonly<Record<string, CellCondition>>
  /** The cell holds pairs of names and values (`custom_fields`). */
  pairs?: { separator: string; equals: string }
  /** What stands for the end of a line; behind a backslash it stands for itself. */
  newline?: string
  /** The cell holds JSON: a text, or a list of texts. */
  json?: 'text'
  html?: 'text'
  part?: 'currency' | 'amount'
  words?: 'availability'
  /** `file` is an absolute path. */
  lookup?: LookupTable
  /** Before a split mark: it separates nothing. */
  unescape?: string
  /** What becomes of each element of a list; one that does not match stays. */
  elements?: { regex: string; result: string | undefined }
  /** An amount that counts only where it is above the field. */
  above?: 'price'
  /** A number counts only where it is not above that of this column; one with a `?` behind its name may be absent. */
  below?: string
  /** Columns with what is taken off the number, of both the amount alone; one with a `?` behind its name may be absent. */
  less?: { percent?: string | undefined; amount?: string | undefined }
  /** By column: when its cell counts, in the form of `date`; without it ISO 8601. */
  during?: Readonly<Record<string, TimeColumns>>
  /** Name of the tz database, of times without an offset; default UTC. */
  zone?: string
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
