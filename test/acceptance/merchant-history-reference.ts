import { SaxesParser } from 'saxes'

/**
 * What each file of the history says, read by another parser and mapped by hand: a second opinion that shares no code
 * with the program.
 */

type Document = Record<string, unknown>
export type Documents = ReadonlyMap<string, Document>

/** Child elements of an item and the texts of each, in order; what lies deeper (shipping has a price, too) is left out. */
type Item = Map<string, string[]>

/** What an export says, by product. */
export function readExport(xml: string): Documents {
  return new Map(
    readItems(xml)
      .map((item) => documentOf(item))
      .map((one) => [String(one.product_id), one]),
  )
}

function readItems(xml: string): Item[] {
  const items: Item[] = []
  const open: string[] = []
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name }) => {
    open.push(name)
    if (name === 'item') items.push(new Map())
    else if (open.at(-2) === 'item') items.at(-1)?.set(name, [...(items.at(-1)?.get(name) ?? []), ''])
  })
  const addText = (text: string) => {
    if (open.at(-2) !== 'item') return
    const texts = items.at(-1)?.get(open.at(-1) as string)
    if (texts) texts[texts.length - 1] += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    open.pop()
  })
  parser.write(xml).close()
  return items
}

/** Of several prices the last counts; the sale price has no period, so it always counts. */
function documentOf(item: Item): Document {
  const last = (name: string) => item.get(`g:${name}`)?.at(-1)?.trim() ?? ''
  const price = Number.parseFloat(last('price'))
  const nowPrice = Number.parseFloat(last('sale_price') || last('price'))
  return {
    product_id: last('id'),
    name: last('title'),
    url: last('link'),
    image_url: last('image_link'),
    availability: { 'in stock': 'InStock', 'out of stock': 'OutOfStock' }[last('availability')],
    price: nowPrice,
    price_currency_code: last('price').slice(-3),
    ...(price > nowPrice ? { list_price: price } : {}),
    categories: [last('product_type')],
    // Escaped once more than XML asks for: it was HTML.
    description: last('description').replaceAll('&amp;', '&').replaceAll(/\s+/g, ' '),
    brand: last('brand'),
    alternate_image_urls: item.get('g:additional_image_link')?.map((text) => text.trim()),
    custom_fields: {
      condition: last('condition'),
      google_product_category: last('google_product_category'),
      mpn: last('mpn'),
    },
  }
}

/** What the endpoint should hold, one export after the other. Above a tenth of the products removals wait. */
export class History {
  readonly #products = new Map<string, Document>()
  #missing = new Set<string>()
  #sent: Documents = new Map()

  /** Products that the feed named before, and that the export no longer names. */
  take(said: Documents): { held: boolean; removals: string[] } {
    const known = [...this.#products.keys()].filter((id) => !this.#missing.has(id))
    const removals = known.filter((id) => !said.has(id))
    for (const [id, document] of said) {
      this.#products.set(id, document)
      this.#missing.delete(id)
    }
    const held = removals.length > known.length / 10
    if (!held) this.remove(removals)
    return { held, removals }
  }

  remove(ids: readonly string[]): void {
    this.#missing = new Set([...this.#missing, ...ids])
  }

  documents(): Documents {
    const marked = (id: string) => (this.#missing.has(id) ? { availability: 'OutOfStock' } : {})
    return new Map([...this.#products].map(([id, document]) => [id, { ...document, ...marked(id) }]))
  }

  /** Products that differ from what was sent last; sent from now on. */
  differing(): string[] {
    const now = this.documents()
    const differs = (id: string) => JSON.stringify(now.get(id)) !== JSON.stringify(this.#sent.get(id))
    const ids = [...now.keys()].filter(differs)
    this.#sent = now
    return ids.sort()
  }
}
