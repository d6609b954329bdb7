import type { ProductField } from '../api/contract/product.ts'
import type { ReadDate } from './date-text.ts'
import type { NumberLocale } from './number-text.ts'
import type { Problem } from './problem.ts'
import type { RecordNotes } from './record-notes.ts'

/** Turns one non-empty value into the wire form of a field. Answers a `Problem` where it cannot. */
export type Coerce = (value: unknown, notes: RecordNotes) => unknown

export interface CoerceOptions {
  field: ProductField
  locale: NumberLocale
  readDate: ReadDate
  split: string | undefined
  /** A split mark behind it separates nothing. */
  escapeMark: string | undefined
  /** What belongs together of the pieces of a list. */
  joinPieces?: ((pieces: readonly string[], mark: string) => readonly string[]) | undefined
  /** Replaces a value, and each element of a list, by what a table says. */
  translate: ((text: string) => string | Problem) | undefined
  /** Of each element of a list, before that; undefined: it leaves the list. */
  reshape: ((text: string) => string | undefined) | undefined
  separator: string | undefined
  slash: string | undefined
  /** Values must not be shown. */
  secret: boolean
  /** For messages: the value, cut, or its type alone where it must not be shown. */
  describe: (value: unknown) => string
}
