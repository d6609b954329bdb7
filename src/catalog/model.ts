import type { ProductField } from '../api/contract/product.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'

/** What one record says about one product: fields it sets, fields it clears. Fields it does not name are untouched. */
export interface ProductPatch {
  productId: ProductId
  set: Readonly<Partial<Record<ProductField, unknown>>>
  clear: readonly ProductField[]
  /** Keys of `custom_fields` that keep what the same feed said before, when `set` holds others of them. */
  keepEntries?: readonly string[] | { allBut: readonly string[] }
  /** What the same record says of its timed fields from later times on, ascending; `set` and `clear` are what holds now. */
  later?: readonly LaterPatch[]
}

/** The timed fields in full from a time on: each later patch of a record replaces those before it. */
export interface LaterPatch extends Pick<ProductPatch, 'set' | 'clear' | 'keepEntries'> {
  /** Since the epoch in ms. */
  at: number
}

/** A product in wire form, keys in contract order. */
export type ProductDocument = Readonly<Partial<Record<ProductField, unknown>>>

/**
 * Everything known of a product besides acknowledgement and delivery.
 * `fields` is the merged product without the effect of missing marks and without `product_id`; made from `noFields`.
 */
export interface ProductState {
  fields: Partial<Record<ProductField, unknown>>
  /** Which feed each field's value (or its having been cleared) comes from. */
  writers: Partial<Record<ProductField, FeedName | undefined>>
  /** Feeds that name the product now. */
  feeds: ReadonlySet<FeedName>
  /** Full feeds that named it and no longer do; never overlaps `feeds`. */
  missingFrom: ReadonlySet<FeedName>
  /** What each feed has said for times to come; absent: nothing, as of most products. */
  later?: ReadonlyMap<FeedName, readonly LaterPatch[]>
}

export type Lane = 'urgent' | 'new' | 'deferred'

export interface FieldChange {
  /** Contract field, or a path inside one (`skus[SKU-1].price`, `variations.EU.availability`). */
  field: string
  before: unknown
  after: unknown
}

/** How a product's wire document differs after a step. `missing`: it changed because a full feed no longer names it. */
export interface Change {
  productId: ProductId
  kind: 'added' | 'changed' | 'missing'
  /** Empty for `added`: everything is new, the document itself says what. */
  fields: readonly FieldChange[]
  lane: Lane
}
