import type { ProductField } from '../api/contract/product.ts'
import type { ParsedRecord } from '../records/model.ts'

/** A sentence in its two halves. */
export interface ProblemWords {
  /** What was found, and what is expected. */
  found: string
  /** What to do. */
  remedy: string
}

interface Details {
  /** Part of the text. */
  remedy?: string | undefined
  value?: unknown
}

/**
 * What is wrong with one value, as a value: every step from cell to field answers with the result, with `undefined`
 * for "empty", or with one of these. `text` never holds a value of a sensitive field.
 */
export class Problem {
  /** Stable, kebab-case; becomes the code of the record's issue. */
  readonly code: string
  /** What was found, what is expected and what to do, without the field's name. */
  readonly text: string
  /** Place inside the field, such as `.EU.price`; empty for the field itself; null where `text` names the place. */
  readonly path: string | null
  /** What to do, as it stands in `text`; undefined where nothing can be said about it. */
  readonly remedy: string | undefined
  /** What was read from the record before anything was made of it; undefined where it is not known or sensitive. */
  readonly value: unknown

  constructor(code: string, words: string | ProblemWords, path: string | null = '', details: Details = {}) {
    this.code = code
    this.text = typeof words === 'string' ? words : `${words.found}; ${words.remedy}`
    this.path = path
    this.remedy = typeof words === 'string' ? details.remedy : words.remedy
    this.value = details.value
  }

  below(path: string): Problem {
    return this.with({ path: this.path === null ? null : path + this.path })
  }

  /** The same with something said otherwise. */
  with({ text = this.text, path = this.path, value = this.value }: Partial<Problem>): Problem {
    return new Problem(this.code, text, path, { remedy: this.remedy, value })
  }
}

/** What the fields of one record tell each other, and what they look at besides their cells; fresh for each record. */
export interface RecordNotes {
  /** What stood beside amounts: codes, and signs with the code that they mean unless `meanings` says otherwise. */
  currencies: { field: ProductField; code: string; mark: string }[]
  /** What the rule of the currency has made of signs and codes. */
  meanings: Map<string, string>
  /** Keys of `custom_fields` about which the record says nothing, though it sets others. */
  keepEntries: string[]
  /** All others of them stay, too, but for those that are empty and go. */
  keepsOthers: boolean
  dropEntries: string[]
  /** Of the field that is computed at the moment; whoever asked for it takes them. */
  warnings: Problem[]
  /** Times after `now`, in ms, at which a timed cell begins or ends to count. */
  boundaries: number[]
  /** The time for which the record is read, in ms. */
  now: number
  /** Of a record of several rows: all of them. */
  rows: readonly ParsedRecord[] | undefined
  /** The one of `rows`, or the element of a list, that gave the price; null: none did; undefined: the price does not come from rows. */
  priceRow: (Pick<ParsedRecord, 'cells' | 'line'> & { element?: number }) | null | undefined
  /** The whole record, where it is an object. */
  source: Readonly<Record<string, unknown>> | undefined
}

export function openNotes(record: ParsedRecord | undefined, now: number): RecordNotes {
  const source = record?.source
  return {
    currencies: [],
    meanings: new Map(),
    ...noEntries(),
    warnings: [],
    boundaries: [],
    now,
    rows: record?.rows,
    priceRow: undefined,
    source: typeof source === 'object' ? source : undefined,
  }
}

export function noEntries(): Pick<RecordNotes, 'keepEntries' | 'keepsOthers' | 'dropEntries'> {
  return { keepEntries: [], keepsOthers: false, dropEntries: [] }
}

export const currencyRemedy = 'correct one of them, or take the number alone with part: amount'

/** The currencies that stood beside amounts and are not the one that the amounts are said to have. */
export function otherCurrencies(
  { currencies, meanings }: RecordNotes,
  own: unknown,
): RecordNotes['currencies'] {
  if (typeof own !== 'string') return []
  return currencies.filter(
    ({ code, mark }) => (meanings.get(mark) ?? code).toUpperCase() !== own.toUpperCase(),
  )
}
