import type { ProductField } from '../api/contract/product.ts'
import type { RecordNotes } from './problem.ts'

/** The record says nothing about the field, whatever `empty` is: its columns are absent. */
export const nothingSaid = Symbol('nothing said')

/** The columns of a file (or of the members of a list), by place. Of columns with one name the first counts. */
export interface Columns {
  names: readonly string[]
  placeOf(name: string): number | undefined
}

export function columnsOf(names: readonly string[]): Columns {
  const places = new Map<string, number>()
  for (const [place, name] of names.entries()) if (!places.has(name)) places.set(name, place)
  return { names, placeOf: (name) => places.get(name) }
}

/** The value of a field in one record: in wire form, undefined for empty, `nothingSaid`, or a `Problem`. */
export type Compute = (cells: readonly unknown[], notes: RecordNotes) => unknown

/** A rule made ready, before the columns of a file are known. */
export interface CompiledRule {
  /** All that it looks at. */
  columns: readonly string[]
  /** Those that hold the value, for messages. */
  valueColumns: readonly string[]
  /** Columns without which the rule cannot be applied as it is written. */
  missing(columns: Columns): readonly string[]
  bind(columns: Columns): Compute
  /** Its value may differ from one time to another. */
  timed: boolean
}

/** How one field is computed from the records of one file. */
export interface BoundField {
  field: ProductField
  /** An empty cell clears the field. */
  clears: boolean
  /** For messages. */
  columns: readonly string[]
  compute: Compute
  /** What it gives depends on the time. */
  timed: boolean
  /** An amount that counts only where it is above the price, which stands before it. */
  abovePrice: boolean
  /** Set where the column maps itself: a record that lacks the key of a required field says nothing about it. */
  ownPlace: number | undefined
}
