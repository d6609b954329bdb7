import type { RecordNotes } from './problem.ts'

/** The record says nothing about the field, whatever `empty` is: its columns are absent. */
export const nothingSaid = Symbol('nothing said')

export type PlaceOf = (column: string) => number | undefined

/** The value of a field in one record: in wire form, undefined for empty, `nothingSaid`, or a `Problem`. */
export type Compute = (cells: readonly unknown[], notes: RecordNotes) => unknown

/** A rule made ready, before the columns of a file are known. */
export interface CompiledRule {
  columns: readonly string[]
  /** Columns without which the rule cannot be applied as it is written. */
  missing(placeOf: PlaceOf): readonly string[]
  bind(placeOf: PlaceOf): Compute
}
