import { type ColumnFacts, ofAmounts, ofOthers, spaced } from './column-facts.ts'
import { checkLine, type FeedLine } from './feed-text.ts'
import { isWithoutTax } from './guess-meanings.ts'
import type { HeaderNames, Meaning } from './header-names.ts'
import { listed } from './model.ts'
import { ofDiscounts } from './settle-meanings.ts'

interface Unused {
  columns: readonly ColumnFacts[]
  fields: ReadonlySet<string>
  names: HeaderNames
}

/** What a column must look like to hold a field that its name speaks of. */
const looksLike: Readonly<Record<string, (facts: ColumnFacts) => boolean>> = {
  list_price: ({ column, numbers, mean }) => {
    const name = spaced(column).replace(/\b(?:vat|tax|iva|tva|mwst|btw|dph|moms)\b/gi, '')
    const isAmount = ofAmounts.test(name) || /price|pvp|\bvk\b|uvp|msrp|rrp/i.test(name)
    if (/\bcosts?\b|\bnet\b|netto|einkauf|\bek\b/i.test(spaced(column)) || isWithoutTax({ column }))
      return false
    return numbers > 0.5 && mean > 0 && (ofDiscounts.test(name) || (isAmount && !ofOthers.test(name)))
  },
  inventory_level: ({ quantities, integers, column }) =>
    quantities > 0.5 &&
    integers > 0.5 &&
    !/min|max|weight|pack|multiple|order|reorder|alert|low|sold|sales|review|rating|view/i.test(column),
  brand: ({ urls, characters }) => urls < 0.5 && characters < 80,
  categories: ({ urls, column }) => urls < 0.5 && !/image|url|tax|shipping|google/i.test(column),
  description: ({ urls, characters }) => urls < 0.5 && characters > 10,
}
const meanings: Readonly<Record<string, readonly Meaning[]>> = {
  list_price: ['price', 'sale_price', 'list_price'],
  inventory_level: ['inventory_level'],
  brand: ['brand'],
  categories: ['categories', 'sub_category'],
  description: ['description'],
}

/** A field that nothing is guessed for, and columns that may hold it: somebody has to look at them. */
export function unusedTopics({ columns, fields, names }: Unused): FeedLine[] {
  const more: FeedLine[] = []
  const lines = Object.entries(looksLike).flatMap(([field, fits]) => {
    if (fields.has(field)) return []
    const found = columns.filter((facts) => {
      const isNamed =
        field === 'list_price' || names.findTopics(facts.column).some((one) => meanings[field]?.includes(one))
      return facts.filled > 0 && isNamed && fits(facts)
    })
    if (found.length === 0) return []
    const paid = found.filter(({ column }) => /pvp|retail|consumer|\bvk\b/i.test(spaced(column)))
    if (field === 'list_price' && paid.length > 0) {
      const doubt = `fields.price: ${listed(paid.map(({ column }) => column))} may be what customers pay`
      more.push(checkLine(doubt))
    }
    const comment = `fields.${field}: nothing is taken for it; ${listed(found.map(({ column }) => column))} may hold it`
    return [checkLine(comment)]
  })
  const times = fields.has('list_price')
    ? columns.filter(({ column, dates }) => dates > 0 && ofSales.test(column))
    : []
  for (const field of times.length > 0 ? ['price', 'list_price'] : []) {
    const comment = `fields.${field}: ${listed(times.map(({ column }) => column))} may say when a sale counts`
    more.push(checkLine(comment))
  }
  return [...lines, ...more]
}

const ofSales = /special|sale|promo|offer|discount|rabatt|angebot|aktion|oferta|akce|sconto|korting|kampanj/i
