/** Amounts in the words of a shopper: `€30`, `1,299.00 USD`, `1.299,00 €`, `2k`. */

/** Currency marks and words, and the codes that each may stand for. */
const marks: readonly [RegExp, readonly string[]][] = [
  [/^(?:€|eur|euros?)$/, ['EUR']],
  [/^(?:£|gbp|pounds?|quid)$/, ['GBP']],
  [/^(?:us\$|usd)$/, ['USD']],
  [/^(?:\$|dollars?|bucks?)$/, ['USD', 'CAD', 'AUD', 'NZD', 'SGD', 'HKD', 'MXN']],
  [/^(?:₹|rs\.?|inr|rupees?)$/, ['INR']],
  [/^(?:¥|jpy|yen|cny|yuan)$/, ['JPY', 'CNY']],
  [/^(?:kr\.?|kronor|kroner|kronen)$/, ['SEK', 'NOK', 'DKK', 'ISK']],
  [/^(?:zł|zl|pln|zloty)$/, ['PLN']],
  [/^(?:fr\.?|chf|sfr\.?|franken|francs?)$/, ['CHF']],
  [/^(?:sek|nok|dkk|czk|huf|ron|try|cad|aud|nzd|brl|mxn|krw)$/, []],
]

const markForm =
  'us\\$|€|£|\\$|₹|¥|eur(?:os?)?|gbp|pounds?|quid|usd|dollars?|bucks?|rs\\.?|inr|rupees?|jpy|yen|cny|yuan|kronor|kroner|kronen|kr\\.?|zł|zl|pln|zloty|chf|sfr\\.?|franken|francs?|sek|nok|dkk|czk|huf|ron|cad|aud|nzd|brl|mxn|krw'
const digits =
  "\\d{1,3}(?:[.,' \\u00a0]\\d{2,3})*[.,' \\u00a0]\\d{3}(?:[.,]\\d{1,2})?(?![.,]?\\d)|\\d+(?:[.,]\\d{1,2})?(?![.,]?\\d)"

/** A number with or without a currency before or after it: four groups, made by `amountPattern` and read by `amountOf`. */
export const amountPattern = `(?:(?<![\\p{L}])(${markForm})\\s*)?(${digits})(k)?(?:,-|\\.-)?(?:\\s*(${markForm})(?![\\p{L}]))?`

/** What makes a number something else than a price: `5 kg`, `27 inch`, `2 years`, `4 stars`, `20 %`. */
export const otherUnit =
  '(?!\\s*-?(?:%|percent|prozent|stars?|sterne|kg|g|mg|lbs?|oz|ml|cl|l|lit(?:er|re)s?|mm|cm|m|km|met(?:er|re)s?|inch(?:es)?|ft|feet|"|years?|yrs?|jahren?|months?|monaten?|weeks?|days?|tagen?|hours?|h|min|minutes?|seconds?|w|watts?|v|volts?|mah|gb|tb|mb|mp|hz|rpm|lumens?|lm|people|persons?|personen|pieces?|pcs|pack|pairs?|ratings?|reviews?|bewertungen|speed|gears?|dpi|°)(?![\\p{L}]))'

export interface Amount {
  value: number
  /** Codes that the mark beside it may stand for; empty: no mark. */
  currencies: readonly string[]
}

/** From the four groups of `amountPattern`. */
export function amountOf(groups: readonly (string | undefined)[]): Amount {
  const [before, number = '', thousand, after] = groups
  const mark = before ?? after
  const value = numberOf(number) * (thousand === undefined ? 1 : 1000)
  return { value, currencies: mark === undefined ? [] : codesOf(mark) }
}

/** A last separator with one or two digits after it is the decimal mark; any other only groups digits. */
export function numberOf(text: string): number {
  const decimals = /[.,](\d{1,2})$/.exec(text)
  const whole = decimals === null ? text : text.slice(0, decimals.index)
  const fraction = decimals?.[1] === undefined ? '' : `.${decimals[1]}`
  return Number(`${whole.replace(/\D/g, '')}${fraction}`)
}

function codesOf(mark: string): readonly string[] {
  const codes = marks.find(([form]) => form.test(mark))?.[1] ?? []
  return codes.length > 0 ? codes : [mark.toUpperCase()]
}
