import { type NumberLocale, parseNumberText } from '../../catalog/number-text.ts'

type Mark = '.' | ',' | ' ' | "'"

/** How often each mark stood where it can mean one thing only, and where it can mean both. */
interface Evidence {
  decimal: Map<Mark, number>
  thousands: Map<Mark, number>
  /** One mark with exactly three digits behind it. */
  either: Map<Mark, number>
  /** Of the decimal marks: those that group thousands in the same amount (4,417,08). */
  both: Map<Mark, number>
}

const readable = 0.9

/**
 * Which marks the amounts of a file use; undefined where no way reads nearly all. A mark that is always followed by exactly
 * three digits groups thousands: prices have two decimals or none.
 */
export function findLocale(amounts: readonly string[]): NumberLocale | undefined {
  if (amounts.length === 0) return undefined
  const locale = localeOf(evidenceOf(amounts))
  const read = amounts.filter((text) => typeof parseNumberText(text, locale) === 'string').length
  return read >= amounts.length * readable ? locale : undefined
}

/** Nothing in the amounts says whether a mark before three digits groups thousands (1,499) or not (12.500). */
export function readsTwoWays(amounts: readonly string[]): boolean {
  const { decimal, thousands, either } = evidenceOf(amounts)
  return decimal.size === 0 && thousands.size === 0 && either.size > 0
}

function evidenceOf(amounts: readonly string[]): Evidence {
  const evidence: Evidence = { decimal: new Map(), thousands: new Map(), either: new Map(), both: new Map() }
  for (const amount of amounts) weigh(amount.trim().replace(/^[-−]\s*/, ''), evidence)
  return evidence
}

function weigh(amount: string, { decimal, thousands, either, both }: Evidence): void {
  const marks = [...amount.replace(/[’‘ʼ′´`]/g, "'").replace(/\s/g, ' ')].filter(
    (character) => !/\d/.test(character),
  )
  const last = marks.at(-1)
  if (last === undefined || !isMark(last)) return
  const others = new Set(marks.filter((mark) => mark !== last).filter(isMark))
  const [, before = '', behind = ''] = /^(.*)[^\d](\d*)$/.exec(amount) ?? []
  const isPoint = last === '.' || last === ','
  if (others.size > 0) {
    count(isPoint ? decimal : thousands, last)
    for (const mark of others) count(thousands, mark)
  } else if (marks.length > 1 && isPoint && behind.length < 3) {
    count(decimal, last)
    count(both, last)
  } else if (marks.length > 1 || !isPoint) count(thousands, last)
  else count(behind.length === 3 && /^[1-9]\d{0,2}$/.test(before) ? either : decimal, last)
}

function localeOf({ decimal, thousands, either, both }: Evidence): NumberLocale {
  const points = decimal.get('.') ?? 0
  const commas = decimal.get(',') ?? 0
  const sure = (mark: Mark) => (thousands.get(mark) ?? 0) + (either.get(mark) ?? 0)
  const isComma = points === commas ? sure('.') > sure(',') : commas > points
  const mark = isComma ? ',' : '.'
  const grouping = ([',', '.', "'", ' '] as const)
    .filter((one) => one !== mark && sure(one) > 0)
    .sort((one, other) => sure(other) - sure(one))
  if (grouping.length === 0 && both.has(mark)) return { decimal: mark, thousands: mark }
  return { decimal: mark, thousands: grouping[0] }
}

function count(tally: Map<Mark, number>, mark: Mark): void {
  tally.set(mark, (tally.get(mark) ?? 0) + 1)
}

function isMark(character: string): character is Mark {
  return character === '.' || character === ',' || character === ' ' || character === "'"
}
