import type { Coerce, CoerceOptions } from './coerce-options.ts'
import { parseAmount } from './money-part.ts'
import { noteCurrency, splitMoney } from './money-text.ts'
import { type NumberFault, type NumberLocale, parseNumberText } from './number-text.ts'
import { Problem } from './problem.ts'
import type { RecordNotes } from './record-notes.ts'

export type NumberKind = 'number' | 'integer' | 'decimal-string' | 'integer-string'

/** Something else than a bare number: a currency, or a dash in place of the decimals. */
const besideDigits = /[^\d.,-]|[.,]-/

/**
 * Cells become numbers, or plain decimal text where the contract wants numbers as text. Digits are kept as they stand
 * there (`4.0` stays `4.0`), so that no rating changes by being read.
 */
export function numberCoercer(kind: NumberKind, options: CoerceOptions): Coerce {
  const { locale, describe } = options
  const whole = kind === 'integer' || kind === 'integer-string'
  const asText = kind === 'decimal-string' || kind === 'integer-string'
  const wanted = whole ? 'a whole number' : 'a number'
  return (value, notes) => {
    const read = typeof value === 'number' ? fromNumber(value) : fromText(value, kind, { options, notes })
    if (typeof read !== 'string') {
      const found = `found ${describe(value)} ${read.found}, expected ${wanted}${localeOf(locale)}`
      return new Problem(read.code, { found, remedy: read.remedy })
    }
    const digits = whole ? read.replace(/\.0+$/, '') : read
    if (whole && digits.includes('.')) {
      const found = `found ${describe(value)}, expected a whole number`
      return new Problem('not-an-integer', { found, remedy: 'round it in the feed' })
    }
    if (asText) return digits
    const number = Number(digits) + 0 // -0 becomes 0, which is what JSON carries
    if (!whole || Number.isSafeInteger(number)) return number
    const found = `found ${describe(value)}, expected a whole number of at most 15 digits`
    return new Problem('number-too-long', { found, remedy: 'correct it in the feed' })
  }
}

function fromNumber(value: number): string | NumberFault {
  // Exponents appear in text only beyond 1e21 and below 1e-6: neither is a price, a rating or a count.
  const text = String(value)
  if (/^-?\d+(\.\d+)?$/.test(text)) return text
  return { code: 'not-a-number', found: 'out of range', remedy: 'correct it in the feed' }
}

function fromText(
  value: unknown,
  kind: NumberKind,
  { options, notes }: { options: CoerceOptions; notes: RecordNotes },
): string | NumberFault {
  if (typeof value !== 'string')
    return { code: 'not-a-number', found: 'which is no number', remedy: 'give digits' }
  // Only amounts of money have a currency: "5 kr" in stock is a mistake in the mapping.
  const money = kind === 'number' && besideDigits.test(value) ? splitMoney(value) : undefined
  if (!money) return parseNumberText(value.trim(), options.locale)
  noteCurrency(money, options, notes)
  return parseAmount(money, options.locale)
}

function localeOf({ decimal, thousands }: NumberLocale): string {
  return thousands === undefined
    ? ` with decimal mark "${decimal}"`
    : ` with decimal mark "${decimal}" and thousands mark "${thousands}"`
}
