import { editDocument } from '../catalog/edit-document.ts'
import { keyValues } from '../catalog/feed-key.ts'
import { nextSwitch } from '../catalog/later.ts'
import { mergePatch } from '../catalog/merge.ts'
import type { ProductDocument, ProductPatch, ProductState } from '../catalog/model.ts'
import type { FieldRanks } from '../catalog/ranks.ts'
import {
  type ComposedDocument,
  composeDocument,
  decodeState,
  type StoredForm,
  storedForm,
} from '../catalog/stored-form.ts'
import type { FeedName, ProductId } from '../lib/brand.ts'
import type { KeyEntry, ProductWrite, StoredProduct } from '../mirror/model.ts'

interface MergeOptions {
  patch: ProductPatch
  feed: FeedName
  ranks: FieldRanks
  /** Fields by which some feed finds products. */
  keyFields: readonly string[]
}

/** How a product is stored. */
export interface ProductForm {
  composed: ComposedDocument
  form: StoredForm
  /** What stands beside the document in the mirror, where that changes. */
  beside: Pick<ProductWrite, 'switchAt' | 'keys'>
}

/** A product after a record. */
interface MergedProduct extends ProductForm {
  /** Before the record; undefined where the product is new, or was not read. */
  state: ProductState | undefined
  next: Pick<ProductState, 'fields' | 'writers'>
}

export function mergeStored(before: StoredProduct | undefined, options: MergeOptions): MergedProduct {
  // Most records change only values, often a price: then nothing else of the product is read.
  const edited = editStored(before, options)
  if (edited) return edited
  const { patch, feed, ranks, keyFields } = options
  const state = before && readState(before)
  const next = mergePatch({ state, patch, feed, ranks })
  return { state, next, ...formOf({ productId: patch.productId, keyFields }, { state, next }) }
}

/** Of a product that was `state` and is `next`. */
export function formOf(
  product: { productId: ProductId; keyFields: readonly string[] },
  { state, next }: { state: ProductState | undefined; next: ProductState },
): ProductForm {
  const composed = composeDocument(next, product.productId)
  const keys = keysOf(product, [state?.fields, next.fields])
  return { composed, form: storedForm(next, composed), beside: { ...switchOf(state, next), ...keys } }
}

function editStored(
  before: StoredProduct | undefined,
  { keyFields, ...said }: MergeOptions,
): MergedProduct | undefined {
  if (before?.meta === undefined || keyFields.length > 0) return undefined
  const { meta, document, partial } = before
  const edited = editDocument({ meta, document, partial }, said)
  if (!edited) return undefined
  const { bytes, next } = edited
  const composed = {
    kind: 'complete' as const,
    bytes,
    get document() {
      return JSON.parse(bytes.toString('utf8')) as ProductDocument
    },
  }
  const form = { document: bytes, partial: undefined, meta, incomplete: undefined }
  return { state: undefined, next, composed, form, beside: {} }
}

function switchOf(before: ProductState | undefined, next: ProductState): Pick<ProductWrite, 'switchAt'> {
  const at = nextSwitch(next.later)
  if (at !== undefined) return { switchAt: at }
  return before?.later ? { switchAt: 'none' } : {}
}

/** What a feed with a key finds the product by, where that changes. */
export function keysOf(
  { productId, keyFields }: { productId: ProductId; keyFields: readonly string[] },
  [old, fields]: readonly [ProductState['fields'] | undefined, ProductState['fields']],
): Pick<ProductWrite, 'keys'> {
  const [add, remove]: [KeyEntry[], KeyEntry[]] = [[], []]
  for (const field of keyFields) {
    const [before, after] = [old ? keyValues(old, field) : [], keyValues(fields, field)]
    for (const value of after) if (!before.includes(value)) add.push({ field, value, productId })
    for (const value of before) if (!after.includes(value)) remove.push({ field, value, productId })
  }
  return add.length + remove.length > 0 ? { keys: { add, remove } } : {}
}

export function readState({ document, partial, meta }: StoredProduct): ProductState | undefined {
  return meta === undefined ? undefined : decodeState({ document, partial, meta })
}
