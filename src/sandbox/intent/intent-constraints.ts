import { type Amount, amountOf, amountPattern, numberOf, otherUnit } from './intent-amounts.ts'

export interface PriceBound {
  value: number
  /** Whether a product at exactly this price fits. */
  isInclusive: boolean
}

export type Order = 'price-up' | 'price-down' | 'rating' | 'popularity' | 'newest'

/** What a prompt demands besides what the product is. Undefined: nothing. */
export interface Constraints {
  priceMin?: PriceBound | undefined
  priceMax?: PriceBound | undefined
  /** Codes one of which the price must be in, when the prompt names a currency. */
  currencies?: readonly string[] | undefined
  ratingMin?: number | undefined
  /** Share of the list price, 0.2 for 20 % off. */
  discountMin?: number | undefined
  onDiscount?: boolean | undefined
  availability?: 'in-stock' | 'out-of-stock' | undefined
  order?: Order | undefined
}

/** Stands where something was understood, so that the words around it do not become neighbours. */
export const gap = ' ¦ '

const maxWords =
  'under|below|less than|lower than|cheaper than|not more than|no more than|at most|up to|upto|max(?:imum)?(?: of)?|within|unter|bis(?: zu)?|hochstens|maximal|weniger als|nicht mehr als|gunstiger als|billiger als|budget(?: of| is|:)?|<=?|≤'
const minWords =
  'over|above|more than|higher than|at least|starting (?:at|from)|min(?:imum)?(?: of)?|upwards of|uber|ab|mindestens|mehr als|teurer als|>=?|≥'
const inclusive =
  /(?:at most|up to|upto|max|not more|no more|within|bis|hochstens|nicht mehr|budget|=|≤|≥|at least|starting|min|upwards|^ab|mindestens)/
const notOver = '(?:nothing|not|no|never|nichts|nicht)\\s+(?:over|above|more than|exceeding|uber|mehr als)'
const notUnder = '(?:nothing|not|no|nichts|nicht)\\s+(?:under|below|less than|cheaper than|unter|weniger als)'
const start = '(?<![\\p{L}\\p{N}])'
const end = '(?![\\p{L}\\p{N}])'
const amount = `${amountPattern}${otherUnit}`
const form = (source: string) => new RegExp(source, 'u')

/** From the likeliest to the vaguest; each match is taken out of the prompt before the next form is tried. */
const priceForms: readonly { form: RegExp; read: (match: RegExpExecArray) => Constraints | undefined }[] = [
  {
    form: form(
      `${start}(?:between|from|zwischen|von)\\s+${amountPattern}\\s*(?:and|to|und|bis|-)\\s*${amount}`,
    ),
    read: (match) => readRange(match),
  },
  {
    form: form(`${start}${amountPattern}\\s*(?:-|to|bis)\\s*${amount}`),
    // Two bare numbers may be a size or a model.
    read: (match) => (marked(match) ? readRange(match) : undefined),
  },
  { form: form(`${start}${notOver}\\s+${amount}`), read: (match) => atMost(amountIn(match), true) },
  { form: form(`${start}${notUnder}\\s+${amount}`), read: (match) => atLeast(amountIn(match), true) },
  {
    form: form(`(?:${start}(?=\\p{L})|(?<=\\s|^)(?=[<≤]))(?<words>${maxWords})\\s*${amount}`),
    read: (match) => atMost(amountIn(match, 1), inclusive.test(match.groups?.words ?? '')),
  },
  {
    form: form(`(?:${start}(?=\\p{L})|(?<=\\s|^)(?=[>≥]))(?<words>${minWords})\\s*${amount}`),
    read: (match) => atLeast(amountIn(match, 1), inclusive.test(match.groups?.words ?? '')),
  },
  {
    form: form(
      `${start}${amountPattern}\\s*(?:or (?:less|under|below|cheaper)|max(?:imum)?|at most|tops|oder weniger|maximal)${end}`,
    ),
    read: (match) => atMost(amountIn(match), true),
  },
  {
    form: form(
      `${start}${amountPattern}\\s*(?:or (?:more|above|over)|and (?:up|above|more)|minimum|oder mehr|\\+)`,
    ),
    read: (match) => (marked(match) || !match[0].endsWith('+') ? atLeast(amountIn(match), true) : undefined),
  },
  {
    form: form(
      `${start}(?:around|about|roughly|approximately|approx\\.?|circa|ca\\.?|etwa|ungefahr)\\s+${amount}`,
    ),
    read: (match) => around(amountIn(match)),
  },
  {
    form: form(`${start}(?:for|fur)\\s+${amount}`),
    read: (match) => (marked(match) ? atMost(amountIn(match), true) : undefined),
  },
  // A price alone: `a 50 euro lamp`.
  { form: form(`${start}${amount}`), read: (match) => (marked(match) ? around(amountIn(match)) : undefined) },
]

const otherForms: readonly { form: RegExp; read: (match: RegExpExecArray) => Constraints }[] = [
  {
    form: form(
      `(?:${start}(?:at least|more than|over|min(?:imum)?|mindestens|uber)\\s+)?(\\d{1,2})\\s*(?:%|percent|prozent)\\s*(?:or more\\s*)?(?:off|discount|reduced|reduction|rabatt|reduziert)${end}`,
    ),
    read: (match) => ({ discountMin: Number(match[1]) / 100, onDiscount: true }),
  },
  {
    form: form(
      `(?:${start}(?:at least|more than|over|above|better than|min(?:imum)?|mindestens|uber|rated|with)\\s+)*(\\d(?:[.,]\\d)?)\\s*(?:\\+|plus)?\\s*-?(?:stars?|sternen?)(?:\\s*(?:or|and|oder)\\s*(?:more|better|higher|above|up|mehr|besser))?(?:\\s*(?:rating|rated|reviews?))?${end}`,
    ),
    read: (match) => ({ ratingMin: numberOf(match[1] ?? '') }),
  },
  {
    form: form(
      `${start}(?:rating|rated|bewertung)\\s*(?:of|is)?\\s*(?:at least|above|over|of|from|min(?:imum)?|mindestens|uber|>=?|≥)?\\s*(\\d(?:[.,]\\d)?)${end}`,
    ),
    read: (match) => ({ ratingMin: numberOf(match[1] ?? '') }),
  },
]

const phrases: readonly [RegExp, Constraints][] = [
  [
    form(`${start}(?:including|include|even)\\s+(?:if\\s+)?(?:out[- ]of[- ]stock|sold[- ]out)${end}`),
    { availability: undefined },
  ],
  [
    form(`${start}(?:not|nothing)\\s+(?:that is\\s+)?(?:out[- ]of[- ]stock|sold[- ]out)${end}`),
    { availability: 'in-stock' },
  ],
  [
    form(
      `${start}(?:out[- ]of[- ]stock|sold[- ]out|unavailable|not (?:available|in stock)|ausverkauft|nicht (?:lieferbar|verfugbar|auf lager))${end}`,
    ),
    { availability: 'out-of-stock' },
  ],
  [
    form(
      `${start}(?:(?:is|are|be|it's)\\s+)?(?:in[- ]stock|instock|on stock|available(?: (?:right )?now| today| immediately| for delivery)?|ready to ship|auf lager|(?:sofort )?(?:lieferbar|verfugbar)\\p{L}*|vorratig\\p{L}*)${end}`,
    ),
    { availability: 'in-stock' },
  ],
  [
    form(`${start}(?:not (?:on sale|discounted|reduced)|full price|nicht reduziert)${end}`),
    { onDiscount: false },
  ],
  [
    form(
      `${start}(?:on sale|sale|discounts?|discounted|on (?:special )?offer|special offers?|reduced(?: price)?|deals?|bargains?|clearance|marked down|price drop|reduziert\\p{L}*|im angebot|angebote?|im sale|rabatt\\p{L}*)${end}`,
    ),
    { onDiscount: true },
  ],
  [
    form(
      `${start}(?:not (?:too |so |very |that )?(?:expensive|pricey)|nicht (?:zu |so )?teuer|cheap(?:est)?|low(?:est)?[- ](?:price[ds]?|cost|budget)|least expensive|(?:most )?affordable|inexpensive|budget[- ]friendly|budget|gunstig(?:e[nrms]?|ste[nrms]?)?|billig(?:e[nrms]?|ste[nrms]?)?|preiswert(?:e[nrms]?)?)${end}`,
    ),
    { order: 'price-up' },
  ],
  [
    form(`${start}(?:most expensive|priciest|highest[- ]priced?|teuerste[nrms]?)${end}`),
    { order: 'price-down' },
  ],
  [
    form(
      `${start}(?:(?:best|top|highest|well|highly)[- ]?(?:rated|reviewed|rating|reviews)|best(?:e[nrms]?)?|bestbewertet\\p{L}*)${end}(?![- ]?sell)`,
    ),
    { order: 'rating' },
  ],
  [
    form(`${start}(?:(?:most )?popular|best[- ]?sell\\p{L}*|trending|beliebt\\p{L}*)${end}`),
    { order: 'popularity' },
  ],
  [
    form(`${start}(?:newest|latest|most recent|new arrivals?|just in|neueste[nrms]?|neuheiten)${end}`),
    { order: 'newest' },
  ],
]

/** Takes what it understands out of a prompt (as `plainText` leaves it). The first of two demands of a kind counts. */
export function parseConstraints(prompt: string): { constraints: Constraints; rest: string } {
  let rest = prompt
  let constraints: Constraints = {}
  const take = (match: RegExpExecArray, found: Constraints) => {
    constraints = { ...found, ...constraints }
    rest = rest.slice(0, match.index) + gap + rest.slice(match.index + match[0].length)
  }
  for (const { form: one, read } of [...otherForms, ...priceForms]) {
    const match = one.exec(rest)
    const found = match === null ? undefined : read(match)
    if (match !== null && found !== undefined) take(match, found)
  }
  for (const [one, found] of phrases) {
    const match = one.exec(rest)
    if (match !== null) take(match, found)
  }
  return { constraints, rest }
}

/** The four groups of an amount, after `skipped` groups of the form. */
function amountIn(match: RegExpExecArray, skipped = 0): Amount {
  return amountOf(match.slice(1 + skipped, 5 + skipped))
}

function marked(match: RegExpExecArray): boolean {
  return [match[1], match[4], match[5], match[8]].some((mark) => mark !== undefined)
}

function readRange(match: RegExpExecArray): Constraints {
  const [one, other] = [amountOf(match.slice(1, 5)), amountOf(match.slice(5, 9))]
  const [low, high] = one.value <= other.value ? [one, other] : [other, one]
  return {
    priceMin: { value: low.value, isInclusive: true },
    priceMax: { value: high.value, isInclusive: true },
    currencies: one.currencies.length > 0 ? one.currencies : other.currencies,
  }
}

function atMost({ value, currencies }: Amount, isInclusive: boolean): Constraints {
  return { priceMax: { value, isInclusive }, currencies }
}

function atLeast({ value, currencies }: Amount, isInclusive: boolean): Constraints {
  return { priceMin: { value, isInclusive }, currencies }
}

function around({ value, currencies }: Amount): Constraints {
  return {
    priceMin: { value: value * 0.8, isInclusive: true },
    priceMax: { value: value * 1.2, isInclusive: true },
    currencies,
  }
}
