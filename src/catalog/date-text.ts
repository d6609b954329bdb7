import { isCalendarDate } from '../api/contract/values.ts'

/** `YYYY-MM-DD` of a cell; undefined when it is not in the configured form or no day of the calendar. */
export type ReadDate = (value: unknown) => string | undefined

// A time may follow any date. It is dropped as it stands: the day is the one that the feed's own clock shows.
const time = '(?:[T ]\\d{1,2}:\\d{2}.*)?'
const tokens: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  MM: '(?<month>\\d{2})',
  DD: '(?<day>\\d{2})',
  M: '(?<month>\\d{1,2})',
  D: '(?<day>\\d{1,2})',
}

/** Without a format: `YYYY-MM-DD`. Answers a sentence where the format cannot work. */
export function compileDate(format = 'YYYY-MM-DD'): ReadDate | string {
  if (format === 'unix') return readUnix
  const parts = format.match(/YYYY|MM|DD|M|D|[^YMD]+|./g) ?? []
  const used = parts.filter((part) => Object.hasOwn(tokens, part)).map((part) => part[0])
  const isWhole = ['Y', 'M', 'D'].every((unit) => used.filter((letter) => letter === unit).length === 1)
  if (!isWhole || parts.some((part) => !Object.hasOwn(tokens, part) && /[YMD]/.test(part))) {
    return `date: "${format}" must hold YYYY, MM or M, and DD or D once each, or be unix`
  }
  const source = parts.map((part) => tokens[part] ?? part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('')
  const form = new RegExp(`^${source}${time}$`)
  return (value) => {
    const groups = typeof value === 'string' ? form.exec(value)?.groups : undefined
    if (!groups) return undefined
    const { year, month = '', day = '' } = groups
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
    return isCalendarDate(date) ? date : undefined
  }
}

/** Seconds since 1970, as UTC date. */
function readUnix(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,12}(\.\d+)?$/.test(text)) return undefined
  const date = new Date(Math.floor(Number(text)) * 1000).toISOString().slice(0, 10)
  return isCalendarDate(date) ? date : undefined
}
