import type { ProductField } from '../api/contract/product.ts'
import type { ParsedRecord } from '../records/model.ts'
import type { Problem } from './problem.ts'

/** What the fields of one record tell each other, and what they look at besides their cells; fresh for each record. */
export interface RecordNotes {
  /** Currency codes that stood beside amounts. */
  currencies: { field: ProductField; code: string }[]
  /** Keys of `custom_fields` about which the record says nothing, though it sets others. */
  keepEntries: string[]
  /** Of the field that is computed at the moment; whoever asked for it takes them. */
  warnings: Problem[]
  /** Times after `now`, in ms, at which a timed cell begins or ends to count. */
  boundaries: number[]
  /** The time for which the record is read, in ms. */
  now: number
  /** Of a record of several rows: all of them. */
  rows: readonly ParsedRecord[] | undefined
  /** The one of `rows` that gave the price; null: none did; undefined: the price does not come from rows. */
  priceRow: Pick<ParsedRecord, 'cells' | 'line'> | null | undefined
  /** The whole record, where it is an object. */
  source: Readonly<Record<string, unknown>> | undefined
}

export function openNotes(record: ParsedRecord | undefined, now: number): RecordNotes {
  const source = record?.source
  return {
    currencies: [],
    keepEntries: [],
    warnings: [],
    boundaries: [],
    now,
    rows: record?.rows,
    priceRow: undefined,
    source: typeof source === 'object' ? source : undefined,
  }
}

/** The first currency that stood beside an amount and is not the one that the amounts are said to have. */
export function otherCurrency(
  { currencies }: RecordNotes,
  own: unknown,
): RecordNotes['currencies'][number] | undefined {
  return typeof own === 'string' ? currencies.find(({ code }) => code !== own.toUpperCase()) : undefined
}
