import type { ProductField } from '../api/contract/product.ts'
import type { ReadDate } from './date-text.ts'
import type { NumberLocale } from './number-text.ts'
import type { RecordNotes } from './problem.ts'

/** Turns one non-empty value into the wire form of a field. Answers a `Problem` where it cannot. */
export type Coerce = (value: unknown, notes: RecordNotes) => unknown

export interface CoerceOptions {
  field: ProductField
  locale: NumberLocale
  readDate: ReadDate
  split: string | undefined
  separator: string | undefined
  slash: string | undefined
  /** Values must not be shown. */
  secret: boolean
  /** For messages: the value, cut, or its type alone where it must not be shown. */
  describe: (value: unknown) => string
}
