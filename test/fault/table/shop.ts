import type { SeededRandom } from '../random.ts'

/** A product as it goes over the wire. */
export type Wire = Readonly<Record<string, unknown>>

/** The same text for the same product, in whatever order its fields come. */
export function canonical(product: Wire): string {
  return JSON.stringify(Object.entries(product).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** 0 or 1 each: whatever changes comes back. */
interface State {
  price: number
  stock: number
  text: number
}

const fields = ['price', 'stock', 'text'] as const satisfies (keyof State)[]
const texts = ['Forged from one piece and oiled by hand.', 'Now with a lid.']

/** A shop whose prices, stocks and texts change between two values each, and its exports. */
export class Shop {
  readonly #random: SeededRandom
  readonly #states: State[]

  constructor(products: number, random: SeededRandom) {
    this.#random = random
    this.#states = Array.from({ length: products }, () => ({ price: 0, stock: 1, text: 0 }))
  }

  all(): readonly number[] {
    return [...this.#states.keys()]
  }

  /** Spread over the first 360. */
  some(): readonly number[] {
    return Array.from({ length: 60 }, (_, index) => index * 6 + this.#random.between(0, 5))
  }

  full(): string {
    return this.#file(this.all())
  }

  /** Some products change; a delta file of these, or now and then a full one. */
  edit(): { mode: 'delta' | 'full'; text: string } {
    const { between, pick, chance } = this.#random
    const field = pick(fields)
    const isWide = chance(0.15)
    const changed = Array.from({ length: isWide ? between(50, 150) : between(1, 20) }, () =>
      between(0, this.#states.length - 1),
    )
    for (const product of new Set(changed)) this.flip([product], isWide ? field : pick(fields))
    return chance(0.05)
      ? { mode: 'full', text: this.full() }
      : { mode: 'delta', text: this.#file(new Set(changed)) }
  }

  /** Each of the products gets the other value of a field. Answers the file of these. */
  flip(products: readonly number[], field: keyof State): string {
    for (const product of products) {
      const state = this.#states[product] as State
      state[field] = 1 - state[field]
    }
    return this.#file(products)
  }

  /** What the endpoint should hold at rest, in canonical form by id. */
  expected(): Map<string, string> {
    return new Map(this.#states.map((_, product) => [this.id(product), canonical(this.#wire(product))]))
  }

  #file(products: Iterable<number>): string {
    const rows = [...products].map((product) => Object.values(this.#wire(product)).join(','))
    return [Object.keys(this.#wire(0)).join(','), ...rows, ''].join('\n')
  }

  id(product: number): string {
    return `F${String(product).padStart(7, '0')}`
  }

  #wire(product: number): Wire {
    const { price, stock, text } = this.#states[product] as State
    return {
      product_id: this.id(product),
      name: `Pan ${product}`,
      url: `https://shop.example/p/${product}`,
      image_url: `https://shop.example/i/${product}.jpg`,
      availability: stock === 1 ? 'InStock' : 'OutOfStock',
      price: 10 + price * 2,
      price_currency_code: 'EUR',
      inventory_level: stock,
      description: texts[text],
    }
  }
}
