import { DateTime } from 'luxon'
import { compileDateForm, dayOf } from './date-form.ts'

/** A point in time that a cell names. */
export interface Instant {
  atMs: number
  /** Until when it lasts: a date without a time is a whole day, a time is itself. */
  endMs: number
}

/** Undefined when the text is not in the configured form or names no time. */
export type ReadInstant = (text: string) => Instant | undefined

const timeOfDay = '(?:[T ](?<hour>\\d{1,2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:\\.\\d+)?)?)?'
const offset = '(?: ?(?<offset>Z|UTC|[+-]\\d{2}(?::?\\d{2})?))?'
const isoForm = 'YYYY-MM-DD'

/**
 * ISO 8601, beside which a format may give another form; dates in that form that do not exist are not read otherwise. A time and an offset may follow a date; without an offset, times are those of `zone`.
 * Answers a sentence where the format cannot work.
 */
export function compileInstant(format: string | undefined, zone = 'UTC'): ReadInstant | string {
  if (format === 'unix') return readUnix
  const expressions: RegExp[] = []
  for (const each of format === undefined ? [isoForm] : [format, isoForm]) {
    const form = compileDateForm(each)
    if (typeof form === 'string') return form
    expressions.push(new RegExp(`^${form.source}${form.hasTime ? '' : timeOfDay}${offset}$`, 'i'))
  }
  return (text) => {
    const fitting = expressions.find((expression) => expression.test(text))
    const groups = fitting?.exec(text)?.groups
    return groups && readGroups(groups, zone)
  }
}

function readGroups(groups: Readonly<Record<string, string | undefined>>, zone: string): Instant | undefined {
  const date = dayOf(groups)
  if (date === undefined) return undefined
  const { hour, minute = '00', second = '00' } = groups
  const day = DateTime.fromISO(date, { zone: zoneOf(groups.offset) ?? zone })
  // 24:00 is the end of its day.
  const [hours, minutes, seconds] = [Number(hour ?? 0), Number(minute), Number(second)]
  if (!day.isValid || hours > 24 || minutes > 59 || seconds > 60) return undefined
  if (hour === undefined) return { atMs: day.toMillis(), endMs: day.plus({ days: 1 }).toMillis() }
  const time =
    hours === 24
      ? day.plus({ days: 1 })
      : day.set({ hour: hours, minute: minutes, second: Math.min(seconds, 59) })
  return { atMs: time.toMillis(), endMs: time.toMillis() }
}

/** In the form that luxon knows: `UTC+05:30`. */
function zoneOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const digits = /^([+-]\d{2}):?(\d{2})?$/.exec(text)
  return digits ? `UTC${digits[1]}:${digits[2] ?? '00'}` : 'UTC'
}

/** Seconds since 1970. */
function readUnix(text: string): Instant | undefined {
  if (!/^\d{1,12}(\.\d+)?$/.test(text)) return undefined
  const atMs = Math.floor(Number(text) * 1000)
  return { atMs, endMs: atMs }
}
