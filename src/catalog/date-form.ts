import { isCalendarDate } from '../api/contract/values.ts'

/** A way of writing dates, as a regular expression with the groups year, month, day, hour, minute and second. */
export interface DateForm {
  /** Without anchors. */
  source: string
  hasTime: boolean
}

type Groups = Readonly<Record<string, string | undefined>>

const monthName = '(?<month>[a-z]{3,9})\\.?'
const tokens: Readonly<Record<string, string>> = {
  YYYY: '(?<year>\\d{4})',
  YY: '(?<year>\\d{2})',
  MMMM: monthName,
  MMM: monthName,
  MM: '(?<month>\\d{2})',
  DD: '(?<day>\\d{2})',
  M: '(?<month>\\d{1,2})',
  D: '(?<day>\\d{1,2})',
  HH: '(?<hour>\\d{1,2})',
  mm: '(?<minute>\\d{2})',
  ss: '(?<second>\\d{2})',
}
const tokenForm = /YYYY|YY|MMMM|MMM|MM|DD|M|D|HH|mm|ss|[^YMDHms]+|./g

const months = 'january february march april may june july august september october november december'.split(
  ' ',
)

/** Answers a sentence where the format cannot work. */
export function compileDateForm(format: string): DateForm | string {
  const parts = format.match(tokenForm) ?? []
  const used = parts.filter((part) => Object.hasOwn(tokens, part)).map((part) => part[0])
  const count = (unit: string) => used.filter((letter) => letter === unit).length
  const isWhole = ['Y', 'M', 'D'].every((unit) => count(unit) === 1)
  const isOrdered = count('H') <= 1 && count('m') === count('H') && count('s') <= count('m')
  if (!isWhole || !isOrdered || parts.some((part) => !Object.hasOwn(tokens, part) && /[YMD]/.test(part))) {
    return `date: "${format}" must hold YYYY or YY, MM, M or MMM (a name), and DD or D once each, perhaps HH, mm and ss, or be unix`
  }
  const source = parts.map((part) => tokens[part] ?? part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('')
  return { source, hasTime: count('H') === 1 }
}

/** `YYYY-MM-DD`; undefined when there is no such day. Two digits of a year are of this century. */
export function dayOf({ year = '', month = '', day = '' }: Groups): string | undefined {
  const date = `${year.length === 2 ? '20' : ''}${year}-${monthNumber(month)}-${day.padStart(2, '0')}`
  return isCalendarDate(date) ? date : undefined
}

/** English names, in full or by their first letters. */
function monthNumber(month: string): string {
  if (/^\d/.test(month)) return month.padStart(2, '0')
  const place = months.findIndex((name) => name.startsWith(month.toLowerCase()))
  return String(place + 1).padStart(2, '0')
}
