import type { ProblemWords } from './problem.ts'

/** Numbers as people and exports write them. Nothing is guessed: a mark that the locale does not name is a fault. */
export interface NumberLocale {
  decimal: '.' | ','
  thousands: '.' | ',' | ' ' | "'" | undefined
}

/** Why a text is no number under a locale. Holds marks, never digits: the text may be a secret. */
export interface NumberFault extends ProblemWords {
  code: 'not-a-number' | 'number-locale' | 'number-too-long'
}

const plain = /^-?(0|[1-9]\d{0,9})(\.\d{1,5})?$/
// One way to match each text: cells may hold a million digits.
const scientific = /^[-+]?(\d+([.,]\d+)?|[.,]\d+)e[-+]?\d+$/i
// A double holds 15 decimal digits exactly; above that a price would change on its way.
const digitsMax = 15
const charactersMax = 60

/** Without what takes no space on a page: marks of the writing direction and joiners, which spreadsheets copy along. */
export function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
}

/** A number in the form in which the contract wants it, as most cells hold it: with a point, and of at most 15 digits. */
export function isPlainNumber(text: string): boolean {
  return plain.test(text)
}

/** A plain decimal (`-1299.5`: sign, digits, a point) or the fault. */
export function parseNumberText(text: string, locale: NumberLocale): string | NumberFault {
  if (locale.decimal === '.' && locale.thousands !== '.' && isPlainNumber(text)) return text
  if (scientific.test(text)) {
    return { code: 'not-a-number', found: 'in scientific notation', remedy: 'write the digits out' }
  }
  const signed = /^[-−]\s*/.exec(text)
  // Every kind of space and apostrophe counts as the one that the locale can name.
  const body = text
    .slice(signed?.[0].length ?? 0)
    .replace(/\s/g, ' ')
    .replace(/[’‘ʼ′´`]/g, "'")
  if (body.length > charactersMax || !/\d/.test(body) || /[^\d., ']/.test(body)) {
    const visible = withoutInvisible(text)
    if (visible.length < text.length) return parseNumberText(visible.trim(), locale)
    const remedy = 'give digits only, or map the word with when'
    return { code: 'not-a-number', found: 'which is no number', remedy }
  }
  const digits = readDigits(body, locale)
  if (typeof digits !== 'string') return digits
  if (digits.replace(/^0\.?0*|\./g, '').length > digitsMax) {
    const found = `with more than ${digitsMax} digits`
    return { code: 'number-too-long', found, remedy: 'round it in the feed' }
  }
  return signed && /[1-9]/.test(digits) ? `-${digits}` : digits
}

function readDigits(body: string, locale: NumberLocale): string | NumberFault {
  const { decimal, thousands } = locale
  if (/\D$/.test(body)) {
    const found = 'with no digits behind its last mark'
    return { code: 'not-a-number', found, remedy: 'correct it in the feed' }
  }
  const strange = strangeMark(body, locale)
  if (strange !== undefined) return fault(`with a ${nameOf(strange)}, which the locale does not name`, body)
  if (decimal === thousands) return readOneMark(body, decimal)
  const [whole = '', ...rest] = body.split(decimal)
  const fraction = rest[0]
  if (rest.length > 1) return fault(`with several ${nameOf(decimal)} decimal marks`, body)
  if (fraction !== undefined && !/^\d+$/.test(fraction))
    return fault('with no plain digits behind the decimal mark', body)
  return join(whole, thousands, fraction) ?? fault(groupFault(thousands), body)
}

function strangeMark(body: string, { decimal, thousands }: NumberLocale): string | undefined {
  for (const char of body) {
    if ((char < '0' || char > '9') && char !== decimal && char !== thousands) return char
  }
  return undefined
}

/**
 * Some files use one mark for both (`4,417,08`). Thousands groups end with three digits, Western or Indian, so a last
 * group of one or two digits can only be decimals.
 */
function readOneMark(body: string, mark: string): string | NumberFault {
  const groups = body.split(mark)
  const last = groups.at(-1) ?? ''
  const hasDecimals = groups.length > 1 && last.length < 3
  const whole = hasDecimals ? groups.slice(0, -1).join(mark) : body
  return join(whole, mark, hasDecimals ? last : undefined) ?? fault(groupFault(mark), body)
}

function join(
  whole: string,
  thousands: string | undefined,
  fraction: string | undefined,
): string | undefined {
  const groups = thousands === undefined ? [whole] : whole.split(thousands)
  const digits = groups.length === 1 ? whole : groups.join('')
  if (groups.length > 1 && !isGrouped(groups)) return undefined
  if (digits === '' && fraction === undefined) return undefined
  const stripped = digits.replace(/^0+(?=\d)/, '') || '0'
  return fraction === undefined ? stripped : `${stripped}.${fraction}`
}

/** `1,299,900` or the Indian `12,99,900`. A group `0` before others is a decimal in disguise (`0,125`). */
function isGrouped(groups: readonly string[]): boolean {
  const joined = groups.join(',')
  return /^[1-9]\d{0,2}(,\d{3})+$/.test(joined) || /^[1-9]\d?(,\d{2})*,\d{3}$/.test(joined)
}

function groupFault(mark: string | undefined): string {
  return mark === undefined
    ? 'which is no number'
    : `whose ${nameOf(mark)} does not stand between groups of thousands`
}

function fault(found: string, body: string): NumberFault {
  return { code: 'number-locale', found, remedy: suggestLocale(body) }
}

/** What to write into the field's rule so that this text reads as a number. */
function suggestLocale(body: string): string {
  const marks = [...body].filter((char) => /\D/.test(char))
  const kinds = new Set(marks)
  const last = marks.at(-1) ?? '.'
  const [other] = [...kinds].filter((mark) => mark !== last)
  const tail = body.slice(body.lastIndexOf(last) + 1)
  const canBeDecimal = last === '.' || last === ','
  if (kinds.size > 2 || (!canBeDecimal && kinds.size > 1)) return 'correct the number in the feed'
  if (!canBeDecimal) return `set thousands: "${last}" if it groups digits`
  if (other !== undefined) return `set decimal: "${last}" and thousands: "${other}"`
  if (marks.length > 1) {
    return tail.length < 3 ? `set both decimal and thousands to "${last}"` : `set thousands: "${last}"`
  }
  if (tail.length !== 3) return `set decimal: "${last}"`
  return `set decimal: "${last}" if decimals follow it, or thousands: "${last}" if it groups digits`
}

function nameOf(mark: string): string {
  return mark === ' ' ? 'space' : `"${mark}"`
}
