/**
 * What the endpoint should hold after a week of files of three feeds, from the meaning that the design gives them: an
 * opinion that shares no code with the program and reads no file, since whoever writes the files says what is in them.
 */

export type WeekFeed = 'catalogue' | 'stock' | 'prices'
export type Value = string | number
export type WeekDocument = Record<string, Value>

/** One record: `null` is an empty cell, a field that is not there is no column of the file. */
export interface Said {
  id: string
  fields: Readonly<Record<string, Value | null>>
  /** Something in the record cannot be read: all of it is rejected. */
  isBad?: true
}

export interface Statement {
  feed: WeekFeed
  mode: 'full' | 'delta'
  said: readonly Said[]
}

/** In the order of the configuration. */
const feeds: readonly WeekFeed[] = ['catalogue', 'stock', 'prices']
const owners: Readonly<Record<string, WeekFeed>> = {
  inventory_level: 'stock',
  availability: 'stock',
  price: 'prices',
  list_price: 'prices',
}
const required = ['name', 'url', 'image_url', 'availability', 'price', 'price_currency_code']

interface Known {
  /** By field, what each feed has said last; null: that there is nothing. */
  said: Map<string, Map<WeekFeed, Value | null>>
  isNamed: boolean
  isMissing: boolean
}

/** Only the catalogue's full files say that a product is missing. */
export class WeekModel {
  readonly #products = new Map<string, Known>()

  apply({ feed, mode, said }: Statement): void {
    const last = new Map(said.map((one) => [one.id, one]))
    for (const one of last.values()) {
      if (one.isBad) continue
      const known = this.#known(one.id)
      for (const [field, value] of Object.entries(one.fields)) {
        if (value === null && mode === 'delta') continue
        const byFeed = known.said.get(field) ?? new Map<WeekFeed, Value | null>()
        known.said.set(field, byFeed.set(feed, value))
      }
      if (feed === 'catalogue') Object.assign(known, { isNamed: true, isMissing: false })
    }
    if (feed === 'catalogue' && mode === 'full' && last.size > 0) this.#markMissing(last)
  }

  /** Complete ones only. */
  documents(): Map<string, WeekDocument> {
    const all = [...this.#products].map(([id, known]) => [id, documentOf(id, known)] as const)
    return new Map(all.filter(([, document]) => required.every((field) => document[field] !== undefined)))
  }

  incomplete(): string[] {
    const complete = this.documents()
    return [...this.#products.keys()].filter((id) => !complete.has(id))
  }

  #known(id: string): Known {
    const known = this.#products.get(id) ?? { said: new Map(), isNamed: false, isMissing: false }
    this.#products.set(id, known)
    return known
  }

  #markMissing(present: ReadonlyMap<string, Said>): void {
    for (const [id, known] of this.#products) {
      if (known.isNamed && !present.has(id)) known.isMissing = true
    }
  }
}

function documentOf(id: string, { said, isMissing }: Known): WeekDocument {
  const document: WeekDocument = { product_id: id }
  for (const [field, byFeed] of said) {
    const owner = owners[field]
    const ranked = owner ? [owner, ...feeds] : feeds
    const writer = ranked.find((feed) => byFeed.has(feed))
    const value = writer && byFeed.get(writer)
    if (value !== undefined && value !== null) document[field] = value
  }
  if (isMissing) document.availability = 'OutOfStock'
  return document
}
