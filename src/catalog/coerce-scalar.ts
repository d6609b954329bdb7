import type { FieldKind } from '../api/contract/kinds.ts'
import type { ProductField } from '../api/contract/product.ts'
import type { FieldRule } from '../config/rule-model.ts'
import { codeOfSign } from './currency-signs.ts'
import type { ReadDate } from './date-text.ts'
import { encodeBlanks } from './encode-blanks.ts'
import { isCurrencyCode, type Money, noteCurrency, splitMoney } from './money-text.ts'
import { type NumberFault, type NumberLocale, parseNumberText } from './number-text.ts'
import { Problem, type RecordNotes } from './problem.ts'
import { textOf } from './text-of.ts'

export function scalarCoercer(kind: FieldKind, options: CoerceOptions): Coerce {
  switch (kind) {
    case 'number':
    case 'integer':
    case 'decimal-string':
    case 'integer-string':
      return numberCoercer(kind, options)
    case 'date':
      return dateCoercer(options)
    case 'url':
      return urlCoercer(options)
    default:
      return options.field === 'price_currency_code' ? currencyCoercer(options) : textCoercer(options)
  }
}

/** The code of a code or a sign; undefined where it is neither, or the sign of several currencies. */
function codeOf(text: string): string | undefined {
  return isCurrencyCode(text) ? text.toUpperCase() : codeOfSign(text)
}

/** Gives the code where there is one; any other text is sent as it is, with a warning. */
function currencyCoercer(options: CoerceOptions): Coerce {
  const toText = textCoercer(options)
  return (value, notes) => {
    const text = toText(value, notes)
    if (typeof text !== 'string') return text
    const code = codeOf(text)
    if (code === undefined) {
      const found = `found ${options.describe(text)}, which is no currency code`
      const remedy = `set when: { ${JSON.stringify(text.slice(0, 40))}: … } to the code that it means, such as USD`
      notes.warnings.push(new Problem('currency-unknown', { found, remedy }))
    }
    return code ?? text
  }
}

function urlCoercer(options: CoerceOptions): Coerce {
  const toText = textCoercer(options)
  return (value, notes) => {
    const text = toText(value, notes)
    return typeof text === 'string' ? addressOf(text, options, notes) : text
  }
}

/** A mark between two addresses. An address inside another one, as for image services, follows a slash or an equals sign. */
const joinedAddresses = /[,;|]\s*https?:\/\//i

export function addressOf(text: string, { describe }: CoerceOptions, notes: RecordNotes): string {
  if (joinedAddresses.test(text)) {
    const found = `found ${describe(text)}, which looks like several addresses and is sent as one`
    notes.warnings.push(
      new Problem('several-addresses', { found, remedy: 'set split, or take one with pattern' }),
    )
  }
  return encodeBlanks(text)
}

function textCoercer({ describe, translate }: CoerceOptions): Coerce {
  return (value) => {
    const text = textOf(value)
    if (text !== undefined) return translate ? translate(text) : text
    return new Problem('not-text', {
      found: `found ${describe(value)}, expected a text`,
      remedy: 'give it as a string',
    })
  }
}

function dateCoercer({ describe, readDate }: CoerceOptions): Coerce {
  return (value) =>
    readDate(value) ??
    new Problem('not-a-date', {
      found: `found ${describe(value)}, which is no date in the configured form`,
      remedy: 'set date, such as date: DD.MM.YYYY, or correct it',
    })
}

type NumberKind = 'number' | 'integer' | 'decimal-string' | 'integer-string'

/** Something else than a bare number: a currency, or a dash in place of the decimals. */
const besideDigits = /[^\d.,-]|[.,]-/

/**
 * Cells become numbers, or plain decimal text where the contract wants numbers as text. Digits are kept as they stand
 * there (`4.0` stays `4.0`), so that no rating changes by being read.
 */
function numberCoercer(kind: NumberKind, options: CoerceOptions): Coerce {
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

/** The plain decimal of an amount. Where a dash stands for the decimals, the point before it groups digits. */
function parseAmount({ amount, isWhole }: Money, locale: NumberLocale): string | NumberFault {
  const digits = parseNumberText(amount, locale)
  if (!isWhole || typeof digits !== 'string' || !digits.includes('.')) return digits
  const mark = locale.decimal
  const remedy = `set decimal: "${mark === '.' ? ',' : '.'}" and thousands: "${mark}"`
  return { code: 'number-locale', found: 'with decimals, though a dash says that it has none', remedy }
}

/** One part of an amount of money: the text of its number, or what stands beside it (undefined where nothing does). */
export function compileMoneyPart(
  part: NonNullable<FieldRule['part']>,
  { locale, describe }: Pick<CoerceOptions, 'locale' | 'describe'>,
): (value: unknown) => unknown {
  return (value) => {
    const text = textOf(value)
    const money = text === undefined ? undefined : splitMoney(text)
    if (!money) {
      const remedy = 'correct the cell, or take the amount out of it with pattern'
      const found = `found ${describe(value)}, which is no amount of money`
      return new Problem('not-money', { found, remedy })
    }
    if (part === 'currency') return money.mark
    if (typeof value === 'number') return value
    const digits = parseAmount(money, locale)
    return typeof digits === 'string'
      ? digits
      : new Problem(digits.code, {
          found: `found ${describe(value)} ${digits.found}`,
          remedy: digits.remedy,
        })
  }
}

/** The ISO code of what stands beside an amount, or a `Problem`. */
export function currencyOfMark(mark: unknown): string | Problem {
  const text = String(mark)
  const code = codeOf(text)
  if (code !== undefined) return code
  const remedy = `set when: { ${JSON.stringify(text)}: … } to the code that it means, such as USD or SEK`
  const found = `found the sign ${JSON.stringify(text)}, which several currencies share`
  return new Problem('currency-ambiguous', { found, remedy })
}

/** Turns one non-empty value into the wire form of a field. Answers a `Problem` where it cannot. */
export type Coerce = (value: unknown, notes: RecordNotes) => unknown

export interface CoerceOptions {
  field: ProductField
  locale: NumberLocale
  readDate: ReadDate
  split: string | undefined
  /** A split mark behind it separates nothing. */
  escapeMark: string | undefined
  /** What belongs together of the pieces of a list. */
  joinPieces?: ((pieces: readonly string[], mark: string) => readonly string[]) | undefined
  /** Replaces a value, and each element of a list, by what a table says. */
  translate: ((text: string) => string | Problem) | undefined
  /** Of each element of a list, before that; undefined: it leaves the list. */
  reshape: ((text: string) => string | undefined) | undefined
  separator: string | undefined
  slash: string | undefined
  secret: boolean
  /** For messages: the value, cut, or its type alone where it must not be shown. */
  describe: (value: unknown) => string
}
