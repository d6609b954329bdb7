import type { ProductField } from '../api/contract/product.ts'
import type { Compute } from './compiled-rule.ts'

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
