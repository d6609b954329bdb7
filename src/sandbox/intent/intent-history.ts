import type { IndexedProduct } from './intent-product.ts'
import { RecentMap } from './recent-map.ts'

const shoppersMax = 10_000
/** Of the brands and of the categories of one shopper. */
const interestsMax = 50
/** What was asked three times counts no more than that. */
const timesMax = 3
const brandFactor = 0.05
const categoryFactor = 0.03

interface Interests {
  brands: RecentMap<number>
  categories: RecentMap<number>
}

/** What each shopper asked for, in all conversations: a mild preference, never more than a fifth and a bit. */
export class ShopperHistory {
  readonly #shoppers = new RecentMap<Interests>(shoppersMax)

  /** Undefined: nothing is known of the shopper. */
  preferenceOf(shopper: string): ((product: IndexedProduct) => number) | undefined {
    const interests = this.#shoppers.get(shopper)
    if (interests === undefined) return undefined
    // Copies: every product is looked at, and a look must not change what is recent.
    const brands = new Map(interests.brands.entries())
    const categories = new Map(interests.categories.entries())
    return ({ brandKey, categories: own }) => {
      const byCategory = Math.max(0, ...own.map((category) => categories.get(category) ?? 0))
      return 1 + brandFactor * (brands.get(brandKey) ?? 0) + categoryFactor * byCategory
    }
  }

  remember(
    shopper: string,
    { brands, best }: { brands: readonly string[]; best: IndexedProduct | undefined },
  ): void {
    const interests = this.#shoppers.get(shopper) ?? {
      brands: new RecentMap(interestsMax),
      categories: new RecentMap(interestsMax),
    }
    for (const brand of brands) count(interests.brands, brand)
    for (const category of best?.categories ?? []) count(interests.categories, category)
    this.#shoppers.set(shopper, interests)
  }

  clear(): void {
    this.#shoppers.clear()
  }
}

function count(times: RecentMap<number>, key: string): void {
  times.set(key, Math.min(timesMax, (times.get(key) ?? 0) + 1))
}
