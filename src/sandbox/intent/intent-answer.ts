import type { CheckedIntentRequest, IntentResponse } from '../../api/contract/intent.ts'
import type { ProductStore } from '../products/product-store.ts'
import { type Conversation, continueConversation } from './intent-conversation.ts'
import { ShopperHistory } from './intent-history.ts'
import type { ProductIndex } from './intent-index.ts'
import { writeContext, writeInsight } from './intent-insight.ts'
import { recommendationOf } from './intent-product.ts'
import { parsePrompt } from './intent-prompt.ts'
import { RecentMap } from './recent-map.ts'

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
