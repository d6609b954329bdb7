import { isCalendarDate } from '../api/contract/values.ts'
import { compileDateForm, dayOf } from './date-form.ts'

/** `YYYY-MM-DD` of a cell; undefined when it is not in the configured form or no day of the calendar. */
export type ReadDate = (value: unknown) => string | undefined

/**
 * Without a format: `YYYY-MM-DD`, which is read beside any other, too: spreadsheets give their dates so. Answers a sentence where the format cannot work. A time is dropped as it stands: the
 * day is the one that the feed's own clock shows.
 */
export function compileDate(format = 'YYYY-MM-DD'): ReadDate | string {
  if (format === 'unix') return readUnix
  const form = compileDateForm(format)
  if (typeof form === 'string') return form
  const anyTime = '(?:[T ]\\d{1,2}:\\d{2}.*)?'
  const expression = new RegExp(`^${form.source}${form.hasTime ? '' : anyTime}$`, 'i')
  const iso = new RegExp(`^(?<year>\\d{4})-(?<month>\\d{2})-(?<day>\\d{2})${anyTime}$`, 'i')
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
