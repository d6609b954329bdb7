import { DateTime } from 'luxon'
import { RE2JS } from 're2js'
import type { AsOfRule } from '../config/model.ts'

/** Milliseconds since the epoch; undefined when the text says no time. */
export type ReadTime = (text: string) => number | undefined

/** Reads as of when a file holds from its name; undefined when the feed's names say nothing about that. */
export function compileNameTime(rule: AsOfRule | undefined): ReadTime | undefined {
  if (rule?.from !== 'name') return undefined
  const pattern = RE2JS.compile(rule.regex)
  const groups = Object.keys(pattern.namedGroups())
  return (name) => {
    const matcher = pattern.matcher(name)
    if (!matcher.find()) return undefined
    const found = Object.fromEntries(groups.map((group) => [group, matcher.group(group) ?? '']))
    const time =
      found.stamp === undefined ? timeOfParts(found, rule.zone) : timeOfStamp(found.stamp, rule.zone)
    return time === undefined || time < 0 ? undefined : time
  }
}

/** Reads the same from a cell. The form has the letters of field dates, and `HH mm ss`; default: ISO 8601. */
export function compileCellTime({ date, zone }: Extract<AsOfRule, { from: 'column' }>): ReadTime {
  if (date === 'unix') return (text) => timeOfUnix(text.trim())
  const form = date?.replaceAll('Y', 'y').replaceAll('D', 'd')
  return (text) => {
    const cell = text.trim()
    const read =
      form === undefined ? DateTime.fromISO(cell, { zone }) : DateTime.fromFormat(cell, form, { zone })
    return read.isValid ? read.toMillis() : undefined
  }
}

function timeOfParts(found: Readonly<Record<string, string>>, zone: string): number | undefined {
  const { year = '', month = '1', day = '1', hour = '0', minute = '0', second = '0' } = found
  const texts = { year: year.length === 2 ? `20${year}` : year, month, day, hour, minute, second }
  const parts = Object.entries(texts).map(([unit, text]) => [unit, Number(text || '0')] as const)
  if (parts.some(([, number]) => !Number.isInteger(number))) return undefined
  const read = DateTime.fromObject(Object.fromEntries(parts), { zone })
  return read.isValid ? read.toMillis() : undefined
}

/** Whatever stands between the digits: `2026-11-20T03-30`, `20261120_033000`, `20261120`; also seconds since 1970. */
function timeOfStamp(stamp: string, zone: string): number | undefined {
  const digits = stamp.replace(/\D/g, '')
  if (digits === stamp && (stamp.length === 13 || (stamp.length === 10 && !stamp.startsWith('20')))) {
    return timeOfUnix(stamp)
  }
  const offset = /(?:Z|[+-]\d\d:?\d\d)$/.exec(stamp)?.[0]
  const isOffset = offset !== undefined && /T.*\d{2}/.test(stamp.slice(0, -offset.length))
  const [local, suffix] = isOffset
    ? [stamp.slice(0, -offset.length).replace(/\D/g, ''), offset]
    : [digits, '']
  const form = {
    8: 'yyyyMMdd',
    10: 'yyyyMMddHH',
    12: 'yyyyMMddHHmm',
    14: 'yyyyMMddHHmmss',
    17: 'yyyyMMddHHmmssSSS',
  }[local.length]
  if (form === undefined) return undefined
  const read = DateTime.fromFormat(local, form, { zone: suffixZone(suffix) ?? zone })
  return read.isValid ? read.toMillis() : undefined
}

function suffixZone(suffix: string): string | undefined {
  if (suffix === '') return undefined
  return suffix === 'Z' ? 'UTC' : `UTC${suffix.slice(0, 3)}:${suffix.slice(-2)}`
}

/** Seconds, or milliseconds when there are so many digits. */
function timeOfUnix(text: string): number | undefined {
  if (!/^\d{1,13}(?:\.\d+)?$/.test(text)) return undefined
  return text.length === 13 && !text.includes('.') ? Number(text) : Math.round(Number(text) * 1000)
}
