/** Of each field: its bounds, and the names that stand for numbers from the first bound on. */
const fields = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC' },
  { min: 0, max: 7, names: 'SUN MON TUE WED THU FRI SAT' },
] as const
type Field = (typeof fields)[number]

/** Whether a text is a cron line of minute, hour, day, month and weekday, with lists, ranges, steps and English names. */
export function isCron(text: string): boolean {
  const parts = text.trim().split(/\s+/)
  return parts.length === fields.length && fields.every((field, index) => isField(parts[index] ?? '', field))
}

function isField(text: string, field: Field): boolean {
  return text.split(',').every((item) => {
    const [, range = '', step] = /^([^/]+)(?:\/([1-9]\d{0,3}))?$/.exec(item) ?? []
    if (range === '*') return true
    const [from, to, ...more] = range.split('-').map((bound) => numberOf(bound, field))
    if (from === undefined || more.length > 0) return false
    if (!range.includes('-')) return step === undefined
    return to !== undefined && from <= to
  })
}

function numberOf(text: string, field: Field): number | undefined {
  const name = 'names' in field ? field.names.split(' ').indexOf(text.toUpperCase()) : -1
  const number = /^\d{1,2}$/.test(text) ? Number(text) : name < 0 ? Number.NaN : name + field.min
  return number >= field.min && number <= field.max ? number : undefined
}
