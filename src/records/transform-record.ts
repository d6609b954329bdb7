/** Types for a file that a feed names under `transform`: `import type { Transform } from 'catalogd/transform'`. */

/**
 * One record of a feed file. Of CSV and spreadsheets the cells by column, all of them text; of NDJSON, JSON and XML the
 * whole object. Columns that the configuration maps may be added, so that a file need not have them.
 */
export interface TransformRecord {
  /** The rows of a product, the head first, where the feed has `group`; the record's own cells are the first of theirs. */
  rows?: readonly TransformRecord[]
  readonly [column: string]: unknown
}

/**
 * The default export of such a file. Answers what is mapped in place of the record, or undefined to skip it. It must
 * depend on the record alone, and leave what `product_id` is read from as it is. Called again for the same record when
 * the one before it took too long.
 */
export type Transform = (record: TransformRecord) => TransformRecord | undefined
