import type { IndexedProduct } from './intent-product.ts'

const brandWordsMax = 4
const prepositions = new Set(['by', 'from', 'von'])

/** Products by their whole name and by their id, for prompts that say nothing else. */
export class ProductNames {
  readonly #products = new Map<string, Set<IndexedProduct>>()

  add(product: IndexedProduct): void {
    for (const key of keysOf(product)) {
      const named = this.#products.get(key)
      if (named === undefined) this.#products.set(key, new Set([product]))
      else named.add(product)
    }
  }

  remove(product: IndexedProduct): void {
    for (const key of keysOf(product)) {
      const named = this.#products.get(key)
      named?.delete(product)
      if (named?.size === 0) this.#products.delete(key)
    }
  }

  clear(): void {
    this.#products.clear()
  }

  /** Those that the words name, alone or together with their brand before or after the name. In stock first, then by id. */
  find(words: readonly string[]): IndexedProduct[] {
    const found = new Set<IndexedProduct>(this.#products.get(words.join(' ')))
    for (let length = 1; length <= brandWordsMax && length < words.length; length += 1) {
      const [first, rest] = [words.slice(0, length), words.slice(length)]
      const [name, last] = [words.slice(0, -length), words.slice(-length)]
      if (prepositions.has(name.at(-1) ?? '')) name.pop()
      for (const { key, brand } of [
        { key: rest, brand: first },
        { key: name, brand: last },
      ]) {
        for (const product of this.#products.get(key.join(' ')) ?? []) {
          if (product.brandKey === brand.join(' ')) found.add(product)
        }
      }
    }
    return [...found].sort((a, b) => Number(b.isInStock) - Number(a.isInStock) || (a.id < b.id ? -1 : 1))
  }
}

function keysOf({ nameKey, idKey }: IndexedProduct): Set<string> {
  return new Set([nameKey, idKey].filter((key) => key !== ''))
}
