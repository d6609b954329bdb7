/** An amount with what may stand before or after it. */
export interface Money {
  /** The number's text, sign included, still in its locale. */
  amount: string
  /** ISO 4217 code, when a code and not merely a sign or word stood there. */
  code: string | undefined
}

const isoCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** How currencies are called in price cells where neither sign nor code is used; lower case, without the last point. */
const currencyWords: ReadonlySet<string> = new Set(
  'kr rs re zł zl kč kc ft fr sfr lei leu lv лв руб р грн дин din kn tl rp rm bs euro euros dollar dollars kronor'.split(
    ' ',
  ),
)
const withSign = /^\p{L}{0,3}\.?\p{Sc}\p{L}{0,3}$/u

/** Undefined when there is no digit, or something else than a currency stands beside the digits. */
export function splitMoney(text: string): Money | undefined {
  const first = text.search(/\d/)
  if (first < 0) return undefined
  const last = text.search(/\d\D*$/)
  const { sign, rest, mark } = splitFront(text.slice(0, first))
  const before = currencyOf(rest)
  const after = currencyOf(text.slice(last + 1))
  if (before === undefined || after === undefined) return undefined
  if (before && after && before !== after) return undefined
  return { amount: sign + mark + text.slice(first, last + 1), code: after || before || undefined }
}

/** A minus may stand on either side of the currency; a mark directly before the digits belongs to them (`.50`). */
function splitFront(front: string): { sign: string; rest: string; mark: string } {
  const minus = /[-−]/.exec(front)
  const unsigned = minus ? front.slice(0, minus.index) + front.slice(minus.index + 1) : front
  const mark = /(?:^|[\s\p{Sc}])([.,])$/u.exec(unsigned)?.[1] ?? ''
  return { sign: minus ? '-' : '', rest: unsigned.slice(0, unsigned.length - mark.length), mark }
}

/** The ISO code, '' for none needed or known, undefined when it is no currency. */
function currencyOf(text: string): string | undefined {
  let found = ''
  for (const token of text.split(/\s+/)) {
    if (token === '') continue
    const code = token.replace(/[\p{Sc}.]/gu, '').toUpperCase()
    if (isoCodes.has(code)) found = code
    else if (!withSign.test(token) && !currencyWords.has(token.toLowerCase().replace(/\.$/, '')))
      return undefined
  }
  return found
}
