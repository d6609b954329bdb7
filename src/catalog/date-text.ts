import { isCalendarDate } from '../api/contract/values.ts'
import { compileDateForm, type DateForm, dayOf } from './date-form.ts'

/** `YYYY-MM-DD` of a cell; undefined when it is not in the configured form or no day of the calendar. */
export type ReadDate = (value: unknown) => string | undefined

const isoFormat = 'YYYY-MM-DD'
const iso = expressionOf(compileDateForm(isoFormat) as DateForm)

/** A time may follow. */
function expressionOf({ source, hasTime }: DateForm): RegExp {
  return new RegExp(`^${source}${hasTime ? '' : '(?:[T ]\\d{1,2}:\\d{2}.*)?'}$`, 'i')
}

/**
 * Without a format: `YYYY-MM-DD`. That is read beside every other form, too, because spreadsheets give dates so. Answers a
 * sentence where the format cannot work. A time is dropped as it stands: the day is the one that the feed's own clock shows.
 */
export function compileDate(format = isoFormat): ReadDate | string {
  if (format === 'unix') return readUnix
  const form = compileDateForm(format)
  if (typeof form === 'string') return form
  const expression = expressionOf(form)
  return (value) => {
    if (typeof value !== 'string') return undefined
    const groups = (expression.exec(value) ?? iso.exec(value))?.groups
    return groups && dayOf(groups)
  }
}

/** Seconds since 1970, as UTC date. */
function readUnix(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,12}(\.\d+)?$/.test(text)) return undefined
  const date = new Date(Math.floor(Number(text)) * 1000).toISOString().slice(0, 10)
  return isCalendarDate(date) ? date : undefined
}
