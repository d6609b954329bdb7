import type { IndexedProduct } from './intent-product.ts'
import { isStopWord } from './intent-words.ts'

/** A word that seldom stands in categories is no kind of product, even if one category has it. */
const subjectShareMin = 0.3

/** How many products have each word, category word, brand and currency. */
export class Vocabulary {
  readonly #words = new Map<string, number>()
  readonly #described = new Map<string, number>()
  readonly #subjects = new Map<string, number>()
  readonly #brands = new Map<string, number>()
  readonly #brandNames = new Map<string, string>()
  readonly #currencies = new Map<string, number>()
  #sortedWords: readonly string[] | undefined

  /** Whether the word stands anywhere outside the descriptions. */
  has(stem: string): boolean {
    return this.#words.has(stem)
  }

  /** Whether any description has the word. */
  isDescribed(stem: string): boolean {
    return this.#described.has(stem)
  }

  countOf(stem: string): number {
    return this.#words.get(stem) ?? 0
  }

  /** Whether the word says what a product is, rather than how: most products that have it have it in their categories. */
  isSubject(stem: string): boolean {
    const count = this.#words.get(stem) ?? 0
    return (this.#subjects.get(stem) ?? 0) > count * subjectShareMin
  }

  isBeginning(text: string): boolean {
    this.#sortedWords ??= [...this.#words.keys()].sort()
    const words = this.#sortedWords
    let [low, high] = [0, words.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((words[middle] ?? '') < text) low = middle + 1
      else high = middle
    }
    return words[low]?.startsWith(text) === true
  }

  isBrand(key: string): boolean {
    return this.#brands.has(key) && !isStopWord(key)
  }

  brandName(key: string): string {
    return this.#brandNames.get(key) ?? key
  }

  hasCurrency(code: string): boolean {
    return this.#currencies.has(code)
  }

  add(product: IndexedProduct): void {
    this.#count(product, 1)
    if (product.brand !== undefined) this.#brandNames.set(product.brandKey, product.brand)
  }

  remove(product: IndexedProduct): void {
    this.#count(product, -1)
  }

  clear(): void {
    for (const part of [
      this.#words,
      this.#described,
      this.#subjects,
      this.#brands,
      this.#brandNames,
      this.#currencies,
    ]) {
      part.clear()
    }
    this.#sortedWords = undefined
  }

  #count(product: IndexedProduct, change: number): void {
    for (const word of new Set(product.words.split(' '))) {
      const isNew = shift(this.#words, word, change)
      if (isNew) this.#sortedWords = undefined
    }
    for (const word of new Set(product.description.split(' '))) shift(this.#described, word, change)
    for (const word of product.categoryWords) shift(this.#subjects, word, change)
    if (product.brandKey !== '') shift(this.#brands, product.brandKey, change)
    if (product.currency !== undefined) shift(this.#currencies, product.currency, change)
  }
}

/** Answers whether the word came or went. */
function shift(counts: Map<string, number>, key: string, change: number): boolean {
  if (key === '' || key === '|') return false
  const before = counts.get(key) ?? 0
  const after = before + change
  if (after > 0) counts.set(key, after)
  else counts.delete(key)
  return before === 0 || after <= 0
}
