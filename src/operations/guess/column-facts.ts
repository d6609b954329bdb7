import { readAvailability } from '../../catalog/availability-words.ts'
import { compileDate } from '../../catalog/date-text.ts'
import { splitMoney } from '../../catalog/money-text.ts'
import { type NumberLocale, parseNumberText } from '../../catalog/number-text.ts'
import { Problem } from '../../catalog/problem.ts'
import { parsedOf } from '../../lib/parsed-of.ts'
import { findLocale } from './find-locale.ts'
import type { SampleCell } from './sample-table.ts'

/** What the cells of one column look like. Shares are of the cells that are not empty, 0..1. */
export interface ColumnFacts {
  column: string
  index: number
  /** The objects of this list hold it, not the record itself; of a list of texts the column. */
  list?: string
  /** Cells that are not empty, and share of all. */
  filled: number
  fill: number
  /** Different values, as a share. */
  distinct: number
  urls: number
  imageUrls: number
  /** Several addresses in one cell. */
  urlLists: number
  /** What separates them in every cell, or `json`; undefined where no one mark does. */
  listMark: string | undefined
  /** What is missing before the cells for them to be addresses: the shop's own, `https:` or `https://`. */
  reach: 'shop' | 'shop/' | 'https:' | 'https://' | undefined
  numbers: number
  integers: number
  /** Numbers of pieces, perhaps as a bound: `5`, `>10`, `10+`. */
  quantities: number
  /** Numbers with a sign or code of a currency. */
  currencies: number
  /** ISO codes beside numbers, or that their signs mean. */
  codes: readonly string[]
  /** Signs and words beside numbers that several currencies share. */
  marks: readonly string[]
  /** Texts of the numbers, without what stands around them; not those of JSON, which have no marks. */
  amounts: readonly string[]
  /** Of the numbers; 0 where there is none. */
  mean: number
  /** A number is 0. */
  hasZeros: boolean
  /** What reads them; undefined where nothing does. */
  locale: NumberLocale | undefined
  /** One that a spreadsheet has cut, such as 4,00638E+12: many long numbers have one such form. */
  cut: string | undefined
  availabilities: number
  /** Words for what can be sold, or numbers of pieces. */
  sellable: number
  dates: number
  dateForm: string | undefined
  html: number
  /** Most cells hold JSON: texts, or lists of texts; or objects. */
  json: 'texts' | 'objects' | undefined
  /** Characters by name or number, such as `&amp;`. */
  entities: number
  characters: number
  examples: readonly string[]
  /** Each different text once. */
  values: readonly string[]
}

const dateForms = [
  'YYYY-MM-DD',
  'DD.MM.YYYY',
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'YYYY/MM/DD',
  'YYYYMMDD',
  'D.M.YYYY',
]
const quantity = /^[<>≤≥~]?=?\s*-?\d[\d.,' ]*[+-]?$/
/** Blanks may be part of one, but not where another begins behind them. */
const address = /^https?:\/\/(?:(?!\shttps?:).)+$/i
const jsonAddresses = /^\[\s*"https?:/i
const addresses = /^https?:\/\/[\s\S]+?[^\w/=?%.-]https?:\/\/|^\[\s*"https?:/i
/** What stands before a further address, and ends none. */
const beforeAddress = /[^\w/=?%.)\]-]+(?=https?:\/\/)/gi
const listMarks = ['|', ';', ',', '\n', ' ']
/** Addresses that lack something; lists of them are none. */
const reaches = [
  { reach: 'shop', form: /^\/(?!\/)[^\s,;|]+$/ },
  { reach: 'shop/', form: /^(?!https?:|www\.)[\w-]+(?:\/[\w.%~-]+)+\.(?:jpe?g|png|gif|webp|html?|php)$/i },
  { reach: 'https:', form: /^\/\/[\w.-]+\.\w+\/[^\s,;|]+$/ },
  { reach: 'https://', form: /^www\.[\w.-]+\.\w+\/[^\s,;|]+$/i },
] as const
const imageAddress =
  /\.(jpe?g|png|gif|webp|avif|svg|bmp)(\?|$|@|,|\||\s)|\/(images?|media|img|photos?|pics?)\//i

export function columnFacts(
  column: string,
  index: number,
  rows: readonly (readonly SampleCell[])[],
): ColumnFacts {
  const filled = rows.map((row) => row[index] ?? '').filter((cell) => cell !== '')
  const cells = filled.map(String)
  const count = cells.length
  const values = [...new Set(cells)]
  const share = (holds: (cell: string) => boolean) => (count === 0 ? 0 : cells.filter(holds).length / count)
  const typed = filled.filter((cell) => typeof cell === 'number')
  const texts = filled.filter((cell) => typeof cell === 'string')
  const money = texts.flatMap((text) => splitMoney(text) ?? [])
  const amounts = money.map(({ amount }) => amount)
  const locale = findLocale(amounts)
  const read = locale === undefined ? [] : amounts.flatMap((text) => numberOf(text, locale))
  const numbers = [...typed, ...read]
  const form = dateForms.find((candidate) => {
    const toDate = compileDate(candidate)
    return typeof toDate !== 'string' && share((cell) => toDate(cell) !== undefined) > 0.9
  })
  return {
    column,
    index,
    filled: count,
    fill: rows.length === 0 ? 0 : count / rows.length,
    distinct: count === 0 ? 0 : values.length / count,
    urls: share((cell) => address.test(cell)),
    imageUrls: share((cell) => /^https?:/i.test(cell) && imageAddress.test(cell)),
    urlLists: share((cell) => addresses.test(cell)),
    listMark: listMarkOf(cells),
    reach: reaches.find(({ form }) => share((cell) => form.test(cell)) > 0.9)?.reach,
    numbers: count === 0 ? 0 : numbers.length / count,
    integers: share((cell) => /^-?\d{1,9}$/.test(cell)),
    quantities: share((cell) => quantity.test(cell)),
    currencies: share(hasCurrency),
    codes: [...new Set(money.flatMap(({ code }) => code ?? []))],
    marks: [...new Set(money.flatMap(({ code, mark }) => (code === undefined ? (mark ?? []) : [])))],
    amounts,
    mean: numbers.reduce((sum, number) => sum + number, 0) / Math.max(numbers.length, 1),
    hasZeros: numbers.includes(0),
    locale,
    cut: values.find((value) => /^\d[.,]\d+E\+\d+$/i.test(value)),
    availabilities: share(isAvailability),
    sellable: share((cell) => isAvailability(cell) || quantity.test(cell)),
    dates: form === undefined ? 0 : 1,
    dateForm: form,
    html: share((cell) => /<(p|br|div|ul|li|span|strong|b|h\d|table|a)\b[^>]*>/i.test(cell)),
    json: jsonOf(cells),
    entities: share((cell) => /&(?:[a-z]+\d*|#\d+|#x[\da-f]+);/i.test(cell)),
    characters: count === 0 ? 0 : cells.reduce((sum, cell) => sum + cell.length, 0) / count,
    examples: values.slice(0, 3),
    values,
  }
}

function jsonOf(cells: readonly string[]): ColumnFacts['json'] {
  const parsed = cells.flatMap((cell) => {
    const value = /^(?:\[.*\]|\{.*\}|".*")$/s.test(cell) ? parsedOf(cell) : undefined
    return value === undefined ? [] : [value]
  })
  if (parsed.length === 0 || parsed.length < cells.length / 2) return undefined
  return parsed.flat().some((element) => typeof element === 'object' && element !== null)
    ? 'objects'
    : 'texts'
}

/** An address may hold marks itself: what separates leaves nothing but addresses. */
function listMarkOf(cells: readonly string[]): string | undefined {
  const lists = cells.filter((cell) => addresses.test(cell))
  if (lists.length === 0) return undefined
  if (lists.every((cell) => jsonAddresses.test(cell))) return 'json'
  const piecesOf = (cell: string, mark: string) => cell.split(mark).map((piece) => piece.trim())
  const isWhole = (piece: string) => piece === '' || (address.test(piece) && !addresses.test(piece))
  const found = lists.flatMap((cell) =>
    [...cell.slice(1).matchAll(beforeAddress)].map(([mark]) => mark.trim()),
  )
  const longer = [...new Set(found)].filter((mark) => mark.length > 1 || (mark && !listMarks.includes(mark)))
  return [...longer, ...listMarks].find((mark) => {
    const isSplit = lists.every((cell) => cell.includes(mark))
    return isSplit && cells.every((cell) => piecesOf(cell, mark).every(isWhole))
  })
}

function hasCurrency(cell: string): boolean {
  if (cell.length >= 30 || !/\d/.test(cell)) return false
  return /\p{Sc}|\b[A-Z]{3}\b/u.test(cell) || splitMoney(cell)?.code !== undefined
}

/** A word for whether something can be sold. */
export function isAvailability(cell: string): boolean {
  return !(readAvailability(cell, () => '') instanceof Problem)
}

/** In a list; empty where it is none. */
function numberOf(text: string, locale: NumberLocale): number[] {
  const digits = parseNumberText(text, locale)
  return typeof digits === 'string' ? [Number(digits)] : []
}

/** Parts of names, in the languages of `config/headers.yaml` and their neighbours. */
export const ofAmounts =
  /price|pricing|preis|prix|tarif|precio|importe|\bpris|\bvk\b|\bpvp|amount|betrag|montant|belopp|prezzo|prijs|\bcena\b|preço/i
/** What the shop pays, what others pay, what comes on top, and amounts in a hundredth of the currency. */
export const ofOthers =
  /cost|einkauf|\bek\b|purchase|achat|compra|inköp|wholesale|dealer|händler|grossist|revend|mayorista|b2b|shipping|versand|livraison|envío|envio|frakt|delivery|liefer|handling|base|grund|basis|\bunit|\btax|steuer|\bvat\b|\biva\b|\btva\b|moms|discount|rabatt|remise|descuento|saving|\bmin|\bmax|fee\b|deposit|pfand|level|tier|staffel|quantity|qty|menge|digits|fraction|precision|divisor|scale|exponent|cent|pence|penny|\b[öø]re\b|minor/i

/** A column that holds what products cost under a name of its own; never more than they cost before. */
export function findAmount(
  columns: readonly ColumnFacts[],
  list: ColumnFacts | undefined,
): ColumnFacts | undefined {
  return columns.find((facts) => {
    const name = spaced(facts.column)
    if (facts === list || !ofAmounts.test(name) || ofOthers.test(name)) return false
    const isHigher = list !== undefined && facts.mean > list.mean
    return facts.numbers > 0.9 && facts.fill > 0.8 && facts.mean > 0 && !isHigher
  })
}

/** Words apart, as in `Gross price` for `gross_price` and `GrossPrice`. */
export function spaced(column: string): string {
  return column.replace(/[_.]|(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
}
