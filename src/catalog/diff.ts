import { productFields } from '../api/contract/product.ts'
import type { ProductId } from '../lib/brand.ts'
import { isJsonObject, type JsonObject } from '../records/look-up.ts'
import type { Change, FieldChange, ProductDocument } from './model.ts'

interface DiffOptions {
  productId: ProductId
  /** Undefined: the product was never complete before. */
  before: ProductDocument | undefined
  after: ProductDocument
  /** Fields whose change is urgent, inside variations and skus too. */
  urgent: readonly string[]
  /** The step that led here is that a full feed no longer names the product. */
  missing: boolean
  /** The endpoint has no document of it yet: it waits in lane new, and an edit does not put it off. */
  isUndelivered?: boolean | undefined
}

type Found = FieldChange & { isUrgent: boolean }

/** How two wire documents differ; undefined when they do not. */
export function diffDocuments({
  productId,
  before,
  after,
  urgent,
  missing,
  isUndelivered = false,
}: DiffOptions): Change | undefined {
  if (before === undefined) return { productId, kind: 'added', fields: [], lane: 'new' }
  const differing = productFields.filter((field) => !isSame(before[field], after[field]))
  const found = differing.flatMap((field) =>
    diffField(field, { before: before[field], after: after[field], urgent }),
  )
  if (found.length === 0) return undefined
  return {
    productId,
    kind: missing ? 'missing' : 'changed',
    fields: found.map(({ field, before: old, after: next }) => ({ field, before: old, after: next })),
    lane: found.some(({ isUrgent }) => isUrgent) ? 'urgent' : isUndelivered ? 'new' : 'deferred',
  }
}

interface Values {
  before: unknown
  after: unknown
  urgent: readonly string[]
}

function diffField(field: string, values: Values): Found[] {
  const { before, after, urgent } = values
  if (field === 'skus') return diffSkus(values)
  if (field === 'variations') return diffMembers(field, { ...values, place: (key) => `${field}.${key}` })
  if (field === 'custom_fields' && isJsonObject(before) && isJsonObject(after)) {
    const isUrgent = urgent.includes(field)
    return entriesOf(before, after).map((entry) => ({ ...entry, field: `${field}.${entry.field}`, isUrgent }))
  }
  return [{ field, before, after, isUrgent: urgent.includes(field) }]
}

/** By id where each SKU has one of its own; otherwise, and when only their order changed, the list as a whole. */
function diffSkus(values: Values): Found[] {
  const [before, after] = [byId(values.before), byId(values.after)]
  const isById = before !== undefined && after !== undefined
  const found = isById ? diffMembers('skus', { ...values, before, after, place: (id) => `skus[${id}]` }) : []
  if (found.length > 0) return found
  const isUrgent = values.urgent.includes('skus') || (!isById && hasUrgentParts(values))
  return [{ field: 'skus', before: values.before, after: values.after, isUrgent }]
}

interface Members extends Values {
  place: (key: string) => string
}

/**
 * A member that comes or goes is urgent when it carries an urgent field: a price that appears or vanishes is a price
 * change. One that carries none (a name only) can wait like any text.
 */
function diffMembers(field: string, { before, after, urgent, place }: Members): Found[] {
  const members = entriesOf(isJsonObject(before) ? before : {}, isJsonObject(after) ? after : {})
  const found = members.flatMap((member): Found[] => {
    const path = place(member.field)
    const { before: old, after: next } = member
    if (isJsonObject(old) && isJsonObject(next)) {
      return entriesOf(old, next).map((entry) => {
        const isUrgent = urgent.includes(field) || urgent.includes(entry.field)
        return { ...entry, field: `${path}.${entry.field}`, isUrgent }
      })
    }
    return [
      {
        field: path,
        before: old,
        after: next,
        isUrgent: urgent.includes(field) || holdsUrgent(old ?? next, urgent),
      },
    ]
  })
  // An empty map that comes or goes has no members to name.
  return found.length > 0 || field === 'skus'
    ? found
    : [{ field, before, after, isUrgent: urgent.includes(field) }]
}

/** Keys of two objects whose values differ, in the order of the newer one, then what is gone. */
function entriesOf(before: JsonObject, after: JsonObject): FieldChange[] {
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .map((key) => ({ field: key, before: ownValue(before, key), after: ownValue(after, key) }))
    .filter((entry) => !isSame(entry.before, entry.after))
}

function byId(list: unknown): JsonObject | undefined {
  if (list === undefined) return {}
  if (!Array.isArray(list)) return undefined
  const ids = list.map((sku) => (isJsonObject(sku) && typeof sku.id === 'string' ? sku.id : undefined))
  if (ids.includes(undefined) || new Set(ids).size < ids.length) return undefined
  return Object.fromEntries(list.map((sku, index) => [String(ids[index]), sku]))
}

/** Without ids nobody can tell which SKU is which: any difference in an urgent field of theirs counts. */
function hasUrgentParts({ before, after, urgent }: Values): boolean {
  return !isSame(urgentParts(before, urgent), urgentParts(after, urgent))
}

function urgentParts(list: unknown, urgent: readonly string[]): unknown {
  if (!Array.isArray(list)) return []
  return list.map((sku) => urgent.map((field) => (isJsonObject(sku) ? (sku[field] ?? null) : null)))
}

function holdsUrgent(member: unknown, urgent: readonly string[]): boolean {
  return isJsonObject(member) && Object.keys(member).some((key) => urgent.includes(key))
}

function ownValue(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Wire values have one canonical form, so equal values have equal JSON. */
function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object') return false
  return hasSameParts(left, right) || JSON.stringify(left) === JSON.stringify(right)
}

/** True of most that are the same, which are lists of texts and maps of them; making their JSON takes longer. */
function hasSameParts(left: object | null, right: object | null): boolean {
  if (!left || !right || Array.isArray(left) !== Array.isArray(right)) return false
  const [ours, theirs] = [Object.keys(left), Object.keys(right)]
  const [ourParts, theirParts] = [left as JsonObject, right as JsonObject]
  return (
    ours.length === theirs.length &&
    ours.every((key, index) => key === theirs[index] && ourParts[key] === theirParts[key])
  )
}
