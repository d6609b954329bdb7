import { readAvailability } from '../../catalog/availability-words.ts'
import type { ColumnFacts } from './column-facts.ts'
import { checkLine, type FeedLine } from './feed-text.ts'
import { ofSmallOnes } from './find-members.ts'
import { type Row, textOf } from './guess-links.ts'
import { type Guesses, listed } from './model.ts'

interface Sample {
  guesses: Guesses
  rows: readonly Row[]
  columns: readonly ColumnFacts[]
  used: ReadonlySet<string>
}

/** What the rows of the sample say against what their columns are taken for. */
export function sampleDoubts(sample: Sample): FeedLine[] {
  const found = [
    sameNames(sample),
    ...differentProducts(sample),
    ...contradictions(sample),
    codesOfStock(sample),
    ...unusedParents(sample),
    levelsInLists(sample),
    smallImage(sample),
  ]
  return found.filter((comment) => comment !== undefined).map(checkLine)
}

function sameNames({ guesses, rows }: Sample): string | undefined {
  const name = guesses.get('name')?.facts
  const ids = guesses.get('product_id')?.facts
  if (!name || rows.length < 3 || name.list !== undefined) return undefined
  const products = ids && ids.list === undefined ? new Set(ids.values).size : rows.length
  if (name.values.length > Math.max(1, products * 0.2) || products < 3) return undefined
  return `fields.name: ${JSON.stringify(name.column)} is the same in many products, such as ${listed(name.values)}: is it their name?`
}

/** Rows with one id should be one product. */
function differentProducts({ guesses, rows }: Sample): string[] {
  const id = guesses.get('product_id')?.facts
  const name = guesses.get('name')?.facts
  if (!id || !name || id.distinct === 1) return []
  const byId = new Map<string, Set<string>>()
  for (const row of rows) {
    const [key, text] = [textOf(row, id), textOf(row, name)]
    if (key !== '' && text !== '') byId.set(key, (byId.get(key) ?? new Set()).add(text))
  }
  const several = [...byId].filter(([, names]) => names.size > 1)
  const [first] = several
  if (!first) return []
  return [
    `fields.product_id: rows with the same ${JSON.stringify(id.column)} have different names, such as ${listed([...first[1]])} of ${JSON.stringify(first[0])}: are they one product?`,
  ]
}

const ofStock =
  /avail|stock|sellable|purchasable|orderable|verf[uü]gbar|lieferbar|dispo|skladem|dost[eę]pn|lager/i

const ofLimits = /warn|min|max|alert|level|safety|threshold|reserv|sold|date|time|delivery/i

/** A flag says that a product can be sold, and a number that there is none; or the other way round. */
function contradictions({ guesses, rows, columns, used }: Sample): string[] {
  const counts = guesses.get('inventory_level')?.facts
  const words = guesses.get('availability')?.facts
  const pieces = counts ?? columns.find((facts) => /stock|qty|quantit/i.test(facts.column) && isCount(facts))
  if (!pieces) return []
  const flags = columns.filter(
    (facts) =>
      facts !== pieces &&
      facts.values.length <= 6 &&
      (facts === words || (ofStock.test(facts.column) && !ofLimits.test(facts.column))),
  )
  return flags.flatMap((facts) => {
    if (facts !== words && used.has(facts.column)) return []
    const isOdd = (row: Row) => {
      const [flag, count] = [
        sells(textOf(row, facts)),
        Number(textOf(row, pieces).replace(',', '.') || 'NaN'),
      ]
      return (flag === true && count <= 0) || (flag === false && count > 0)
    }
    const odd = rows.filter(isOdd).length
    if (odd === 0) return []
    return [
      `fields.availability: ${JSON.stringify(facts.column)} and ${JSON.stringify(pieces.column)} contradict each other in ${odd} of ${rows.length} rows: which counts?`,
    ]
  })
}

function isCount({ quantities, values }: ColumnFacts): boolean {
  return quantities > 0.9 && values.some((text) => Number(text) > 1)
}

function sells(text: string): boolean | undefined {
  const read = readAvailability(text, () => '')
  if (read === 'InStock') return true
  return read === 'OutOfStock' ? false : undefined
}

/** Digits and letters stand for something that only the shop knows. */
function codesOfStock({ guesses }: Sample): string | undefined {
  const words = guesses.get('availability')?.facts
  const isCode = (text: string) => /^(?:\d|[a-z]{1,2}|[a-z]\d{1,2})$/i.test(text)
  const own = /^(?:[ynjs]|no|ja|si|ne)$/i
  const codes = words?.values.filter((text) => isCode(text) && !own.test(text)) ?? []
  if (!words || codes.length === 0 || codes.length < words.values.length / 2) return undefined
  return `fields.availability: ${JSON.stringify(words.column)} holds codes (${listed(codes, 6)}): which of them are for sale?`
}

const ofGroups =
  /parent|master|model|(?:item|product|article|artikel|variant|variation|style|family)[-_ ]?(?:group|parent|family)|group[-_ ]?(?:id|code|sku|no|number)|variant[-_ ]?(?:of|group|parent)|(?:variation|variant)[-_ ]?(?:theme|set)?id$|style[-_ ]?(?:id|code|no|number)|base[-_ ]?(?:product|sku|id)|main[-_ ]?(?:product|sku|id|article)|vater|eltern|hauptartikel|padre/i
const ofOthers = /categ|kateg|customer|brand|tax|price|attribute|user|seller|supplier|page|shipping/i

/** Rows that share it, or name others with it, may be variants. */
function unusedParents({ guesses, columns, used }: Sample): string[] {
  const id = guesses.get('product_id')?.facts
  const name = guesses.get('name')?.facts
  const ids = new Set(id?.values)
  const found = columns.filter((facts) => {
    const { column, filled, values, urls, characters, dates } = facts
    if (facts === id || facts === name || used.has(column) || filled < 2) return false
    if (!ofGroups.test(column) || ofOthers.test(column)) return false
    const isShort = urls === 0 && dates === 0 && characters < 60
    const isRepeated = values.length < filled && values.some((text) => !/^(?:0|-|null|none)$/i.test(text))
    const isFlag = values.every((text) => /^(?:[01ynjs]|true|false|yes|no|ja|nein)$/i.test(text))
    return isShort && !isFlag && (isRepeated || values.some((text) => ids.has(text)))
  })
  return found.map(
    ({ column }) =>
      `group: rows with the same ${JSON.stringify(column)} may be one product: each is a product of its own until group says so`,
  )
}

/** A list may hold categories, or the levels of one. */
function levelsInLists({ guesses }: Sample): string | undefined {
  const facts = guesses.get('categories')?.facts
  if (facts?.list === undefined) return undefined
  return `fields.categories: are the elements of ${JSON.stringify(facts.list)} several categories, or the levels of one?`
}

const smallAddress = /thumb|[/_-](?:small|tiny|mini|icon)s?[/_.-]|[/_-]\d{2}x\d{2}\b/i

function smallImage({ guesses }: Sample): string | undefined {
  const facts = guesses.get('image_url')?.facts
  if (!facts) return undefined
  const isSmall = ofSmallOnes.test(facts.column) || /mini|preview|vignette|vorschau/i.test(facts.column)
  const small = facts.values.filter((text) => smallAddress.test(text))
  if (!isSmall && small.length <= facts.values.length / 2) return undefined
  return `fields.image_url: ${JSON.stringify(facts.column)} may hold small pictures: is there a larger one?`
}
