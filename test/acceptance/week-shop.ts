import type { SeededRandom } from '../fault/random.ts'
import type { Said, Value } from './week-model.ts'

/** What a catalogue says of stock and price lies where the two other feeds never are, so that nobody mistakes one for the other. */
export const catalogueQuantityMin = 10_000
export const cataloguePriceMin = 100_000

interface Item {
  id: string
  ean: string
  fields: Record<string, Value | null>
  isListed: boolean
}

/** The merchant's own records: what the three exporters read from, as it changes over the week. */
export class WeekShop {
  readonly #random: SeededRandom
  readonly #items: Item[] = []
  readonly #prices = new Map<string, Record<string, Value | null>>()
  /** By product, everything the stock feed has said, in order; a price feed by EAN knows only products of the catalogue. */
  readonly stockTold = new Map<string, Value[]>()
  readonly catalogued = new Set<string>()
  readonly everUnlisted = new Set<string>()

  constructor(random: SeededRandom, products: number) {
    this.#random = random
    for (let product = 0; product < products; product += 1) this.#add()
  }

  eanOf(id: string): string {
    return `40${id.replace(/\D/g, '').padStart(11, '0')}`
  }

  /** A day goes by: a few products come and go, others change. */
  passNight(): void {
    const random = this.#random
    for (const item of this.#items) {
      item.isListed = !random.chance(0.03)
      if (!item.isListed) this.everUnlisted.add(item.id)
      if (random.chance(0.1)) Object.assign(item.fields, this.#texts(item.id))
      if (random.chance(0.3)) Object.assign(item.fields, this.#numbers())
    }
    for (let added = 0; added < 3; added += 1) this.#add()
  }

  /** Of everything that is listed. One in fifty cannot be read. */
  nightly(): Said[] {
    const listed = this.#items.filter(({ isListed }) => isListed)
    return listed.map(({ id, fields }) => ({
      id,
      fields: { ...fields },
      ...(this.#random.chance(0.02) ? { isBad: true as const } : {}),
    }))
  }

  /** Corrections in the course of the day. Of half of them the nightly export never learns. */
  corrections(): Said[] {
    return this.#some(this.#items, 6).map((item) => {
      const changed = { ...item.fields, ...this.#texts(item.id), ...this.#numbers() }
      if (this.#random.chance(0.5)) item.fields = changed
      return { id: item.id, fields: changed }
    })
  }

  /** A few products, some of which no catalogue has named yet; one of them twice now and then. */
  movements(): Said[] {
    const random = this.#random
    const moved = this.#some(this.#items, 10).map(({ id }) => this.#move(id))
    const [first] = moved
    if (first && random.chance(0.1)) moved.push(this.#move(first.id))
    if (random.chance(0.05)) moved.push({ id: 'SKU-0000', fields: {}, isBad: true })
    return moved
  }

  /** Says the same again. */
  repeat(said: readonly Said[]): void {
    for (const { id, fields, isBad } of said) if (!isBad) this.#tell(id, fields.inventory_level as Value)
  }

  /** New prices of a share of what the catalogue knows. */
  newPrices(share: number): Said[] {
    const random = this.#random
    const priced = [...this.catalogued].filter(() => random.chance(share))
    return priced.map((id) => {
      const cents = random.between(100, 300_000)
      const price = cents / 100
      const fields = { price, list_price: random.chance(0.3) ? (cents + 1_000) / 100 : null }
      // An empty cell of a delta says nothing.
      const before = this.#prices.get(id)?.list_price ?? null
      this.#prices.set(id, { price, list_price: fields.list_price ?? before })
      return { id, fields }
    })
  }

  allPrices(): Said[] {
    for (const id of this.catalogued) {
      if (!this.#prices.has(id)) this.#prices.set(id, { price: 5, list_price: null })
    }
    return [...this.#prices].map(([id, fields]) => ({ id, fields: { ...fields } }))
  }

  #add(): void {
    const id = `SKU-${String(this.#items.length + 1).padStart(4, '0')}`
    const fixed = {
      url: `https://shop.example/p/${id}?a=1&b=2`,
      image_url: `https://shop.example/i/${id}.jpg`,
      price_currency_code: 'EUR',
      variation_id: this.eanOf(id),
    }
    const fields = { ...fixed, ...this.#texts(id), ...this.#numbers() }
    this.#items.push({ id, ean: this.eanOf(id), fields, isListed: true })
  }

  #texts(id: string): Record<string, Value | null> {
    const random = this.#random
    const edition = random.between(1, 999)
    const text = `Made of <oak> & ash, "edition ${edition}"\nFür draußen; – ${'wide '.repeat(random.between(1, 20))}end`
    return {
      name: `Möbel & more, ${id} no. ${edition}`,
      description: random.chance(0.2) ? null : text,
      brand: random.chance(0.1) ? null : random.pick(['Eiche "1"', 'Ash, Inc.', 'Łąka']),
    }
  }

  #numbers(): Record<string, Value> {
    const random = this.#random
    return {
      price: (100 * cataloguePriceMin + random.between(1, 99_999)) / 100,
      inventory_level: catalogueQuantityMin + random.between(0, 9_999),
      availability: random.pick(['InStock', 'OutOfStock']),
    }
  }

  /** Zero, or a quantity that this product never had before. */
  #move(id: string): Said {
    const told = this.stockTold.get(id) ?? []
    const quantity = this.#random.chance(0.2) ? 0 : told.length + 1
    this.#tell(id, quantity)
    return {
      id,
      fields: { inventory_level: quantity, availability: quantity === 0 ? 'OutOfStock' : 'InStock' },
    }
  }

  #tell(id: string, quantity: Value): void {
    this.stockTold.set(id, [...(this.stockTold.get(id) ?? []), quantity])
  }

  #some<T>(list: readonly T[], atMost: number): T[] {
    const picked = new Set<T>()
    const count = this.#random.between(1, atMost)
    while (picked.size < count) picked.add(this.#random.pick(list))
    return [...picked]
  }
}
