import type { FieldRule } from '../config/rule-model.ts'
import type { CoerceOptions } from './coerce-options.ts'
import { codeOfSign } from './currency-signs.ts'
import { isCurrencyCode, type Money, splitMoney } from './money-text.ts'
import { type NumberFault, type NumberLocale, parseNumberText } from './number-text.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

/** The plain decimal of an amount. Where a dash stands for the decimals, the point before it groups digits. */
export function parseAmount({ amount, isWhole }: Money, locale: NumberLocale): string | NumberFault {
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
  if (isCurrencyCode(text)) return text.toUpperCase()
  const code = codeOfSign(text)
  if (code !== undefined) return code
  const remedy = `set when: { ${JSON.stringify(text)}: … } to the code that it means, such as USD or SEK`
  const found = `found the sign ${JSON.stringify(text)}, which several currencies share`
  return new Problem('currency-ambiguous', { found, remedy })
}
