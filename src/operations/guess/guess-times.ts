import { compileInstant, type ReadInstant } from '../../catalog/instant-text.ts'
import type { ColumnFacts } from './column-facts.ts'
import type { Guesses } from './model.ts'

/** When a sale price counts: what a rule says of it, and what is to be looked at. */
export type SaleTime =
  | { kind: 'always' }
  | { kind: 'timed'; parts: Readonly<Record<string, unknown>>; words: string; doubts: readonly string[] }
  /** Nobody can tell from when until when. */
  | { kind: 'unreadable'; columns: readonly string[] }

/** ISO 8601 is read without a form. */
const forms = [
  undefined,
  'DD.MM.YYYY',
  'D.M.YYYY',
  'D.M.YY',
  'DD/MM/YYYY',
  'D/M/YYYY',
  'M/D/YYYY',
  'M/D/YY',
  'D/M/YY',
  'DD-MM-YYYY',
  'YYYY/MM/DD',
  'YYYYMMDD',
  'D MMM YYYY',
]
/** What databases write where there is no date. */
const noDate = /^0000-00-00/

export function saleTime(sale: ColumnFacts, guesses: Guesses): SaleTime {
  const period = guesses.get('sale_period')?.facts
  const [from, until] = [guesses.get('sale_from')?.facts, guesses.get('sale_until')?.facts]
  const sources = (period ? [period] : [from, until]).filter((facts) => facts !== undefined)
  if (sources.length === 0) return { kind: 'always' }
  const reads = period ? readsInterval : readsTime
  const cells = sources.flatMap(({ values }) => values).filter((text) => !noDate.test(text))
  const found = forms.filter((form) => {
    const read = compileInstant(form)
    return typeof read !== 'string' && cells.every((cell) => reads(cell, read))
  })
  if (found.length === 0) return { kind: 'unreadable', columns: sources.map(({ column }) => column) }
  const ends = period ? period.column : { ...endOf('from', from), ...endOf('until', until) }
  const [form] = found
  return {
    kind: 'timed',
    parts: { during: { [sale.column]: ends }, ...(form === undefined ? {} : { date: form }) },
    words: `in the time of ${sources.map(({ column }) => JSON.stringify(column)).join(' and ')}`,
    doubts: isEitherFirst(found) ? [`dates such as ${cells[0]} may begin with the month`] : [],
  }
}

function endOf(end: 'from' | 'until', facts: ColumnFacts | undefined): Record<string, string> {
  return facts ? { [end]: facts.column } : {}
}

function readsTime(text: string, read: ReadInstant): boolean {
  return text === '' || read(text) !== undefined
}

/** The dates may hold slashes themselves. */
function readsInterval(text: string, read: ReadInstant): boolean {
  return [...text.matchAll(/\//g)].some(({ index }) => {
    return readsTime(text.slice(0, index).trim(), read) && readsTime(text.slice(index + 1).trim(), read)
  })
}

/** Where everything reads, nothing was there to be read. */
function isEitherFirst(found: readonly (string | undefined)[]): boolean {
  const begins = (unit: string) => found.some((form) => form?.startsWith(unit))
  return begins('M') && begins('D') && found[0] !== undefined
}
