import type { CheckedIntentRequest, IntentResponse } from '../../api/contract/intent.ts'
import type { ProductStore } from '../products/product-store.ts'
import { type Conversation, continueConversation } from './intent-conversation.ts'
import type { ProductIndex } from './intent-index.ts'
import { writeContext, writeInsight } from './intent-insight.ts'
import { type IndexedProduct, recommendationOf } from './intent-product.ts'
import { parsePrompt } from './intent-prompt.ts'

const conversationsMax = 10_000
const shownMax = 500

/** Answers prompts over the products of the store, and remembers conversations and shoppers, a bounded number of each. */
export class IntentAnswers {
  readonly #store: ProductStore
  readonly #index: ProductIndex
  readonly #conversations = new RecentMap<Conversation>(conversationsMax)
  readonly #history = new ShopperHistory()
  #requests = 0

  constructor(store: ProductStore, index: ProductIndex) {
    this.#store = store
    this.#index = index
  }

  get requests(): number {
    return this.#requests
  }

  async answer(request: CheckedIntentRequest & { maxAgentRecommendations: number }): Promise<IntentResponse> {
    await this.#index.ready()
    this.#requests += 1
    const shopper = JSON.stringify([request.partnerId, request.customerId])
    // Nobody goes on with a conversation of somebody else, even if callers use one identifier for all.
    const chat = JSON.stringify([shopper, request.chatId])
    const before = this.#conversations.get(chat)
    const { vocabulary } = this.#index
    const parsed = parsePrompt(request.prompt, (key) => vocabulary.isBrand(key))
    const preference = this.#history.preferenceOf(shopper)
    const continued = continueConversation(this.#index, before, parsed, {
      ...(preference && { preference }),
    })
    const { query, added, required, ranking } = continued
    const chosen = ranking.products.slice(0, request.maxAgentRecommendations)
    const products = chosen.flatMap(({ id }) => {
      const held = this.#store.get(id)
      return held === undefined ? [] : [recommendationOf(held.document)]
    })
    // A narrowing that leaves nothing changes nothing: the shopper goes on from the last products seen.
    if (before === undefined || chosen.length > 0) {
      this.#conversations.set(chat, {
        query,
        added,
        required,
        shown: [...(before?.shown ?? []), ...chosen.map(({ id }) => id)].slice(-shownMax),
        prices: chosen.flatMap(({ price }) => price ?? []),
      })
    }
    if (query.terms.length > 0) this.#history.remember(shopper, { brands: query.brands, best: chosen[0] })
    const told = { request, continued, products, brandName: (key: string) => vocabulary.brandName(key) }
    return {
      agentInsight: request.rankingOnly ? '' : writeInsight(told),
      ...(request.giveAgentContext && { agentContext: writeContext(told) }),
      agentProductRecommendations: products,
    }
  }

  /** Conversations and shoppers; the products are the store's. */
  clear(): void {
    this.#conversations.clear()
    this.#history.clear()
    this.#requests = 0
  }
}

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
class ShopperHistory {
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

/** A map of bounded size: whoever was not asked for longest goes first. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>()
  readonly #sizeMax: number

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#sizeMax) break
      this.#entries.delete(oldest)
    }
  }

  entries(): MapIterator<[string, Value]> {
    return this.#entries.entries()
  }

  clear(): void {
    this.#entries.clear()
  }
}
