import type { ProductField } from '../api/contract/product.ts'
import { codeOfSign } from './currency-signs.ts'
import { withoutInvisible } from './number-text.ts'
import type { RecordNotes } from './problem.ts'

/** An amount with what may stand before or after it. */
export interface Money {
  amount: string
  /** ISO 4217 code: that which stands there, else that which the sign or word there means alone. */
  code: string | undefined
  /** The code, else the sign or word as it stands there, without a point behind it; undefined: nothing stands there. */
  mark: string | undefined
  /** A dash stands where the decimals would. */
  isWhole: boolean
}

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** How currencies are called in price cells where neither sign nor code is used; lower case, without the last point. */
const currencyWords: ReadonlySet<string> = new Set(
  'kr rs re zł zl kč kc ft fr sfr lei leu lv лв руб р грн дин din kn tl rp rm bs euro euros dollar dollars kronor'.split(
    ' ',
  ),
)
const withSign = /^\p{L}{0,3}\.?\p{Sc}\p{L}{0,3}$/u
/** `1.299,-`, `12.–`, `299:-`, `12,=`: no smaller units. */
const wholeMark = /^\s?[.,:]\s?[-‐-―−=]{1,2}/u
const digitMarks = /(?:^|[\s\p{Sc}])([.,])$/u

/** Undefined when there is no digit, or something else than a currency stands beside the digits. */
export function splitMoney(text: string): Money | undefined {
  const money = splitVisible(text)
  if (money) return money
  const visible = withoutInvisible(text)
  return visible.length < text.length ? splitVisible(visible) : undefined
}

function splitVisible(text: string): Money | undefined {
  const first = text.search(/\d/)
  if (first < 0) return undefined
  const last = text.search(/\d\D*$/)
  const { sign, rest, mark } = splitFront(text.slice(0, first))
  const before = currencyOf(rest)
  const behind = text.slice(last + 1)
  const direct = currencyOf(behind)
  const after = direct ?? currencyOf(behind.replace(wholeMark, ''))
  if (before === undefined || after === undefined) return undefined
  const meant = [before, after].flatMap(({ code, mark }) => code ?? codeOfSign(mark ?? '') ?? [])
  if (new Set(meant).size > 1) return undefined
  const written = after.code ?? before.code
  const amount = sign + mark + text.slice(first, last + 1)
  return {
    amount,
    code: written ?? meant[0],
    mark: written ?? before.mark ?? after.mark,
    isWhole: direct === undefined,
  }
}

/** What stands beside an amount must be the currency of the product. */
export function noteCurrency(
  { code, mark }: Money,
  { field }: { field: ProductField },
  notes: RecordNotes,
): void {
  if (code !== undefined && mark !== undefined) notes.currencies.push({ field, code, mark })
}

/** In either case. */
export function isCurrencyCode(text: string): boolean {
  return isoCodes.has(text.toUpperCase())
}

/** A minus may stand on either side of the currency; a mark directly before the digits belongs to them (`.50`). */
function splitFront(front: string): { sign: string; rest: string; mark: string } {
  const minus = /[-−]/.exec(front)
  const unsigned = minus ? front.slice(0, minus.index) + front.slice(minus.index + 1) : front
  const mark = digitMarks.exec(unsigned)?.[1] ?? ''
  return { sign: minus ? '-' : '', rest: unsigned.slice(0, unsigned.length - mark.length), mark }
}

/** Undefined when it is no currency. */
function currencyOf(text: string): Pick<Money, 'code' | 'mark'> | undefined {
  let found: Pick<Money, 'code' | 'mark'> = { code: undefined, mark: undefined }
  for (const token of text.split(/\s+/)) {
    if (token === '') continue
    const code = token.replace(/[\p{Sc}.]/gu, '').toUpperCase()
    const mark = token.replace(/\.$/, '')
    if (isoCodes.has(code)) found = { code, mark: code }
    else if (!withSign.test(token) && !currencyWords.has(mark.toLowerCase())) return undefined
    else found.mark ??= mark
  }
  return found
}
