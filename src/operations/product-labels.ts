import type { Change, ProductPatch } from '../catalog/model.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { FeedConfig } from '../config/model.ts'
import { knownProducts } from '../imports/known-products.ts'
import type { ProductId } from '../lib/brand.ts'
import type { StoredProduct } from '../mirror/model.ts'
import type { MirrorReader } from '../mirror/reader.ts'

/** What a person knows a product by; null where nothing says it. */
export interface ProductLabel {
  name: string | null
  brand: string | null
}

/** The label is absent where the change is not one of a product. */
export type LabelledChange = Change & Partial<ProductLabel>

/** By what the record says, and else by what is stored. */
export function labelOf(stored: StoredProduct | undefined, set: ProductPatch['set'] = {}): ProductLabel {
  const { meta, document, partial } = stored ?? {}
  const fields = meta === undefined ? {} : decodeState({ meta, document, partial }).fields
  return { name: textOf(set.name ?? fields.name), brand: textOf(set.brand ?? fields.brand) }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** More removals than this are not read for their brands, nor more products of the feed. */
export const readForBrandsMax = 10_000

const brandsMax = 5

export interface RemovedBrands {
  /** Those that lose most first, at most five. `products`: how many the feed has of it; null: it has too many to count. */
  brands: { brand: string; removed: number; products: number | null }[]
  /** How many further brands lose products. */
  more: number
  /** Counted are only the first so many removals; null: all. */
  first: number | null
}

interface Feed {
  feed: FeedConfig
  mirror: MirrorReader
  signal: AbortSignal
}

/** Whose products are removed, as of what the mirror knows; of more than `readForBrandsMax` removals, the first. Undefined where none of them has a brand. */
export async function countRemovedBrands(
  feed: Feed,
  removals: readonly ProductId[],
): Promise<RemovedBrands | undefined> {
  const ids = removals.slice(0, readForBrandsMax)
  if (ids.length === 0) return undefined
  const removed = brandCounts()
  const pageSize = 500
  for (let start = 0; start < ids.length; start += pageSize) {
    removed.add(feed.mirror, ids.slice(start, start + pageSize))
    feed.signal.throwIfAborted()
  }
  if (removed.counts.size === 0) return undefined
  const products = await brandsOfFeed(feed)
  const brands = [...removed.counts].map(([brand, count]) => {
    // What is removed may have been renamed or taken away by others meanwhile.
    return { brand, removed: count, products: products && Math.max(count, products.get(brand) ?? 0) }
  })
  brands.sort((a, b) => b.removed - a.removed || (a.products ?? 0) - (b.products ?? 0))
  return {
    brands: brands.slice(0, brandsMax),
    more: Math.max(0, brands.length - brandsMax),
    first: removals.length > readForBrandsMax ? readForBrandsMax : null,
  }
}

/** Null where the feed has too many products. */
async function brandsOfFeed(feed: Feed): Promise<ReadonlyMap<string, number> | null> {
  const all = brandCounts()
  let read = 0
  for await (const known of knownProducts(feed)) {
    read += known.length
    if (read > readForBrandsMax) return null
    all.add(feed.mirror, known)
  }
  return all.counts
}

function brandCounts() {
  const counts = new Map<string, number>()
  const add = (mirror: MirrorReader, ids: readonly ProductId[]) => {
    for (const stored of mirror.read(ids).values()) {
      const { brand } = labelOf(stored)
      if (brand !== null) counts.set(brand, (counts.get(brand) ?? 0) + 1)
    }
  }
  return { counts, add }
}
