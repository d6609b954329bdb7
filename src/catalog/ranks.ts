import { type ProductField, productFields, requiredFields } from '../api/contract/product.ts'
import type { FeedConfig } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import { isJsonObject } from '../records/look-up.ts'
import type { ProductPatch, ProductState } from './model.ts'
import { noFields, sortedByKey } from './wire-order.ts'

/**
 * Who writes a field: the value of the feed with the lowest rank among those that have spoken of it counts. So the
 * result depends on what each feed says in its own order, never on how feeds interleave.
 */
export interface FieldRanks {
  /** 0 writes; a feed that does not map the field ranks behind all that do. */
  rank(field: ProductField, feed: FeedName): number
  /** Undefined: no feed maps the field. */
  writer(field: ProductField): FeedName | undefined
  /** Whether products go out of stock that the feed's full files no longer name. */
  countsMissing(feed: FeedName): boolean
  /** Fields that more than one feed maps, in contract order; `feeds` by rank. */
  readonly overlaps: readonly FieldOverlap[]
}

export interface FieldOverlap {
  field: ProductField
  feeds: readonly FeedName[]
  /** The first of `feeds` is named by `owns`; otherwise the configured order decides. */
  isOwned: boolean
}

/** Throws a ConfigError when two feeds own one field, or a feed owns what it does not map. */
export function rankFields(feeds: ReadonlyMap<FeedName, FeedConfig>): FieldRanks {
  const ranks = new Map<ProductField, ReadonlyMap<FeedName, number>>()
  const writers: Partial<Record<ProductField, FeedName>> = {}
  const overlaps: FieldOverlap[] = []
  for (const field of productFields) {
    if (field === 'product_id') continue
    const owner = ownerOf(field, feeds)
    const mapping = [...feeds.keys()].filter((name) => mapsField(field, feeds.get(name)))
    const ordered = owner === undefined ? mapping : [owner, ...mapping.filter((name) => name !== owner)]
    ranks.set(field, new Map(ordered.map((name, rank) => [name, rank])))
    if (ordered[0] !== undefined) writers[field] = ordered[0]
    if (ordered.length > 1) overlaps.push({ field, feeds: ordered, isOwned: owner !== undefined })
  }
  return {
    rank: (field, feed) => ranks.get(field)?.get(feed) ?? Number.POSITIVE_INFINITY,
    writer: (field) => writers[field],
    countsMissing: (feed) => countsMissing(feeds.get(feed)),
    overlaps,
  }
}

export interface MovedField {
  field: ProductField
  from: FeedName
  to: FeedName | undefined
}

/**
 * Fields that another feed writes now, or no feed, whereupon their values go. Products keep what they have until the next
 * file of that feed, or of any, names them.
 */
export function movedFields(before: FieldRanks, after: FieldRanks): MovedField[] {
  return productFields.flatMap((field) => {
    const [from, to] = [before.writer(field), after.writer(field)]
    const stays = from === to || (to === undefined && !isDropped(field, after))
    return from === undefined || stays ? [] : [{ field, from, to }]
  })
}

function ownerOf(field: ProductField, feeds: ReadonlyMap<FeedName, FeedConfig>): FeedName | undefined {
  const owners = [...feeds.values()].filter(({ owns }) => owns.includes(field))
  const [owner] = owners
  if (owners.length > 1) {
    const names = owners.map(({ name }) => name).join(', ')
    throw new ConfigError('owners', `${field} is owned by several feeds: ${names}`, {
      hint: 'Leave it to one of them',
    })
  }
  if (owner && !mapsField(field, owner)) {
    const hint = `Add ${field} to its fields, or take it out of owns`
    throw new ConfigError('owners', `feed ${owner.name} owns ${field}, which it does not map`, { hint })
  }
  return owner?.name
}

/** A feed of products without configured fields may bring any of them; its key only finds products. */
function mapsField(field: ProductField, feed: FeedConfig | undefined): boolean {
  if (feed?.kind !== 'products') return false
  if (field === feed.key) return false
  return Object.keys(feed.fields).length === 0 || Object.hasOwn(feed.fields, field)
}

function countsMissing(feed: FeedConfig | undefined): boolean {
  if (feed?.kind !== 'products' || feed.missing.action === 'ignore') return false
  return feed.files.some(({ mode }) => mode === 'full')
}

const required: ReadonlySet<ProductField> = new Set(requiredFields)

/** Whether its values go because no feed maps it any more. A required field is never cleared. */
export function isDropped(field: ProductField, ranks: FieldRanks): boolean {
  return ranks.writer(field) === undefined && !required.has(field)
}

type Merged = Pick<ProductState, 'fields' | 'writers'>

type SaidPatch = Pick<ProductPatch, 'set' | 'clear' | 'keepEntries'>

interface Said {
  patch: SaidPatch
  feed: FeedName
  ranks: FieldRanks
}

/**
 * The fields after one feed has spoken. A feed speaks of a field by setting or clearing it; it is heard unless a feed
 * of better rank has spoken before. What is known of a field goes when no feed maps it any more.
 */
export function mergeFields(known: Merged | undefined, { patch, feed, ranks }: Said): Merged {
  const fields: Merged['fields'] = { ...noFields }
  const writers: Merged['writers'] = { ...noFields }
  for (const field of productFields) {
    if (field === 'product_id') continue
    const earlier = isDropped(field, ranks) ? undefined : known
    const before = earlier?.fields[field]
    const writer = earlier?.writers[field]
    const said = patch.set[field]
    const isHeard =
      (said !== undefined || patch.clear.includes(field)) && isWriter(field, { feed, writer, ranks })
    const value = isHeard ? heardValue(said, { known: before, patch, field, isOwn: writer === feed }) : before
    if (value !== undefined) fields[field] = value
    const next = isHeard ? feed : writer
    if (next !== undefined) writers[field] = next
  }
  return { fields, writers }
}

/** Whether the value of a feed that speaks of the field counts, where `writer` has spoken of it before. */
export function isWriter(
  field: ProductField,
  { feed, writer, ranks }: Pick<Said, 'feed' | 'ranks'> & { writer: FeedName | undefined },
): boolean {
  return writer === undefined || writer === feed || ranks.rank(field, feed) < ranks.rank(field, writer)
}

interface Before {
  known: unknown
  patch: SaidPatch
  field: ProductField
  /** The known value is the same feed's: only then may parts of it live on, or the order of feeds would matter. */
  isOwn: boolean
}

/** Entries about which the record says nothing stay; a map that has lost its last entry is cleared. */
function heardValue(said: unknown, { known, patch, field, isOwn }: Before): unknown {
  if (field !== 'custom_fields' || !patch.keepEntries || !isJsonObject(said)) return said
  const earlier = isOwn && isJsonObject(known) ? known : {}
  const { keepEntries: keeps } = patch
  const stays =
    'allBut' in keeps ? (key: string) => !keeps.allBut.includes(key) : (key: string) => keeps.includes(key)
  const kept = Object.entries(earlier).filter(([key]) => stays(key))
  const merged = { ...Object.fromEntries(kept), ...said }
  return Object.keys(merged).length === 0 ? undefined : sortedByKey(merged)
}
