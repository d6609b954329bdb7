import type { Constraints } from './intent-constraints.ts'
import type { ProductIndex } from './intent-index.ts'
import type { ParsedPrompt } from './intent-prompt.ts'
import { type IntentQuery, type Ranking, type RankingOptions, rankProducts } from './intent-ranking.ts'
import { isColour, isStopWord } from './intent-words.ts'

export interface Conversation {
  query: IntentQuery
  /** Terms that the last narrowing brought: `instead` replaces them. */
  added: readonly string[]
  /** Terms that narrowings brought: every product has them. */
  required: readonly string[]
  /** Ids of all products that were shown, oldest first. */
  shown: readonly string[]
  prices: readonly number[]
}

export type Turn = 'first' | 'named' | 'narrowed' | 'more' | 'new-subject'

export interface Continued {
  turn: Turn
  query: IntentQuery
  added: readonly string[]
  required: readonly string[]
  ranking: Ranking
}

type Options = Pick<RankingOptions, 'preference'>

/**
 * Answers a prompt in the light of what was said before. Whether it goes on or begins a new subject is told by the words
 * and by the products: words that products of the answer before have, narrow it.
 */
export function continueConversation(
  index: ProductIndex,
  before: Conversation | undefined,
  parsed: ParsedPrompt,
  options: Options,
): Continued {
  const named = index.names.find(parsed.words)
  // In a conversation one word is likelier to narrow than to be somebody's name for a product.
  if (named.length > 0 && (before === undefined || parsed.words.length > 1)) {
    return answerNamed(index, parsed, { ...options, named })
  }
  const anew = (turn: Turn): Continued => ({
    turn,
    query: parsed,
    added: [],
    required: [],
    ranking: rankProducts(index, withCheapOrder(parsed), options),
  })
  if (before === undefined) return anew('first')
  const { followUp } = parsed
  if (wantsOnlyMore(parsed)) {
    const { query, added, required } = before
    const without = new Set(before.shown)
    return {
      turn: 'more',
      query,
      added,
      required,
      ranking: rankProducts(index, query, { ...options, required, without }),
    }
  }
  const isRelative = followUp.wantsCheaper || followUp.wantsDearer
  const added = parsed.terms.filter((term) => !before.query.terms.includes(term))
  const namesSubject = parsed.terms.some((term) => index.vocabulary.isSubject(term))
  const repeatsSubject = parsed.terms.length > 0 && added.length === 0 && namesSubject
  if (!followUp.pointsBack && !isRelative && (parsed.startsAnew || repeatsSubject)) return anew('new-subject')

  const narrowed = narrow(index, { before, parsed, added }, options)
  if (narrowed.ranking.products.length > 0 || added.length === 0) return narrowed
  // `only the purple ones` is an answer even if there is none; a word for another kind of product is a new subject.
  const speaksOfIt = followUp.pointsBack || isRelative || added.every(isColour)
  const isAnswer = speaksOfIt && !added.some((term) => index.vocabulary.isSubject(term))
  return isAnswer ? narrowed : anew('new-subject')
}

/** What looks like a demand is part of the name: `Non-Stick Pan`, `5 Star Towel`. */
function answerNamed(
  index: ProductIndex,
  { words, written }: ParsedPrompt,
  options: RankingOptions,
): Continued {
  const terms = [...new Set(words.filter((word) => !isStopWord(word)))]
  const query: IntentQuery = { terms, written, brands: [], negatives: [], constraints: {} }
  return { turn: 'named', query, added: [], required: [], ranking: rankProducts(index, query, options) }
}

interface Narrowing {
  before: Conversation
  parsed: ParsedPrompt
  added: readonly string[]
}

function narrow(index: ProductIndex, { before, parsed, added }: Narrowing, options: Options): Continued {
  const query = merge(before, parsed, added)
  const required = [...before.required.filter((term) => query.terms.includes(term)), ...added]
  const rank = (asked: IntentQuery) =>
    rankProducts(index, asked, {
      ...options,
      required,
      ...(parsed.followUp.wantsMore && { without: new Set(before.shown) }),
    })
  const narrowed = { turn: 'narrowed', query, added, required, ranking: rank(query) } as const
  if (narrowed.ranking.products.length > 0 || !parsed.followUp.wantsCheaper || before.prices.length === 0) {
    return narrowed
  }
  // The cheapest was shown already: then at least what is cheaper than the dearest.
  const priceMax = { value: Math.max(...before.prices), isInclusive: false }
  const relaxed: IntentQuery = {
    ...query,
    constraints: { ...query.constraints, priceMax, order: 'price-up' },
  }
  return { ...narrowed, query: relaxed, ranking: rank(relaxed) }
}

function wantsOnlyMore({ followUp, terms, negatives, constraints }: ParsedPrompt): boolean {
  const { wantsMore, wantsCheaper, wantsDearer } = followUp
  if (!wantsMore || wantsCheaper || wantsDearer) return false
  return terms.length === 0 && negatives.length === 0 && Object.keys(constraints).length === 0
}

/** `something cheaper` without an answer before can only mean what is cheap. */
function withCheapOrder(parsed: ParsedPrompt): IntentQuery {
  const { wantsCheaper, wantsDearer } = parsed.followUp
  if (!wantsCheaper && !wantsDearer) return parsed
  return {
    ...parsed,
    constraints: { order: wantsCheaper ? 'price-up' : 'price-down', ...parsed.constraints },
  }
}

function merge(before: Conversation, parsed: ParsedPrompt, added: readonly string[]): IntentQuery {
  const { terms, brands, negatives, written } = before.query
  const { followUp } = parsed
  const denied = new Set(parsed.negatives.flat())
  const brandWords = new Set(brands.flatMap((key) => key.split(' ')))
  const replacesColour = parsed.terms.some(isColour)
  const replacesBrand = parsed.brands.length > 0
  const kept = terms.filter((term) => {
    if (denied.has(term)) return false
    if (followUp.isInstead && added.length > 0 && before.added.includes(term)) return false
    if (replacesColour && isColour(term)) return false
    return !(replacesBrand && brandWords.has(term))
  })
  return {
    terms: [...new Set([...kept, ...parsed.terms])],
    written: new Map([...written, ...parsed.written]),
    brands: (replacesBrand ? parsed.brands : brands).filter((key) => !denied.has(key)),
    negatives: [
      ...negatives.filter((phrase) => !phrase.some((word) => parsed.terms.includes(word))),
      ...parsed.negatives,
    ],
    constraints: mergeConstraints(before, parsed),
  }
}

function mergeConstraints(
  { query, prices }: Conversation,
  { constraints, followUp }: ParsedPrompt,
): Constraints {
  const merged: Constraints = { ...query.constraints }
  if (constraints.priceMin !== undefined || constraints.priceMax !== undefined) {
    merged.currencies = constraints.currencies?.length ? constraints.currencies : query.constraints.currencies
  }
  const { currencies, ...own } = constraints
  Object.assign(merged, own)
  if (followUp.wantsCheaper && prices.length > 0) {
    merged.priceMax = { value: Math.min(...prices), isInclusive: false }
  }
  if (followUp.wantsDearer && prices.length > 0) {
    merged.priceMin = { value: Math.max(...prices), isInclusive: false }
  }
  const { priceMin, priceMax } = merged
  if (priceMin !== undefined && priceMax !== undefined && priceMin.value > priceMax.value) {
    // The later demand counts.
    const isMaxNew = constraints.priceMax !== undefined || followUp.wantsCheaper
    if (isMaxNew) merged.priceMin = undefined
    else merged.priceMax = undefined
  }
  return merged
}
