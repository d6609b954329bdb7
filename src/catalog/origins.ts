import type { ProductField } from '../api/contract/product.ts'
import type { FeedName } from '../lib/brand.ts'
import type { ProductPatch, ProductState } from './model.ts'
import { shortValue } from './show-value.ts'
import { maskOfPatch, maskWhere, metaFields } from './stored-form.ts'

/** A record of a feed file: the number of its import, and the line on which it begins. */
export interface RecordOrigin {
  import: number
  line: number
}

/** Where what one feed says of a product comes from. */
export interface FeedOrigins {
  /** Newest first. Each speaks of the fields of its mask; one without a mask of all others. */
  records: (RecordOrigin & { mask?: number })[]
  /** What the feed said last of fields that another feed writes: as `shortValue` shows it. */
  hidden: Partial<Record<ProductField, unknown>>
  /** The import of the full file that no longer named the product. */
  missingIn?: number
}

type StoredRecord = readonly [importNumber: number, line: number, mask?: number]
type StoredOrigins =
  | readonly [feed: FeedName, importNumber: number, line: number]
  | Record<FeedName, { r: StoredRecord[]; h?: FeedOrigins['hidden']; m?: number }>

/** Of a product of which this feed alone has spoken, and the record of all that it has said: about 20 bytes. */
export function originsOfPatch(feed: FeedName, { import: number, line }: RecordOrigin): string {
  return JSON.stringify([feed, number, line] satisfies StoredOrigins)
}

export function decodeOrigins(text: string | undefined): Map<FeedName, FeedOrigins> {
  if (text === undefined) return new Map()
  const stored = JSON.parse(text) as StoredOrigins
  if (isSole(stored)) {
    const [feed, number, line] = stored
    return new Map([[feed, { records: [{ import: number, line }], hidden: {} }]])
  }
  return new Map(
    Object.entries(stored).map(([feed, { r, h = {}, m }]) => {
      const records = r.map(([number, line, mask]) => {
        return { import: number, line, ...(mask === undefined ? {} : { mask }) }
      })
      return [feed as FeedName, { records, hidden: h, ...(m === undefined ? {} : { missingIn: m }) }]
    }),
  )
}

function isSole(stored: StoredOrigins): stored is Extract<StoredOrigins, readonly unknown[]> {
  return Array.isArray(stored)
}

function encodeOrigins(origins: ReadonlyMap<FeedName, FeedOrigins>): string {
  const stored = [...origins].map(([feed, { records, hidden, missingIn: m }]) => {
    const r = records.map(({ import: number, line, mask }) =>
      mask === undefined ? [number, line] : [number, line, mask],
    )
    const h = Object.keys(hidden).length > 0 ? { h: hidden } : {}
    return [feed, { r, ...h, ...(m === undefined ? {} : { m }) }]
  })
  return JSON.stringify(Object.fromEntries(stored))
}

interface SaidRecord {
  feed: FeedName
  patch: ProductPatch
  origin: RecordOrigin
  /** Before and after the record. Where its feed takes no field over, only who writes each is looked at. */
  state: ProductState | undefined
  next: Pick<ProductState, 'writers'>
}

/** After a record; `isHiddenChanged`: it says something else than before of a field that another feed writes. */
export function originsAfter(
  before: string | undefined,
  { feed, patch, origin, state, next }: SaidRecord,
): { text: string; isHiddenChanged: boolean } {
  const origins = decodeOrigins(before)
  const mine: FeedOrigins = origins.get(feed) ?? { records: [], hidden: {} }
  const hiddenBefore = JSON.stringify(mine.hidden)
  const said = maskOfPatch(patch)
  for (const field of fieldsOf(said)) {
    const writer = next.writers[field]
    delete mine.hidden[field]
    if (writer !== feed) {
      if (patch.set[field] !== undefined) mine.hidden[field] = shortValue(field, patch.set[field])
      continue
    }
    const former = state?.writers[field]
    const lost = former === undefined || former === feed ? undefined : origins.get(former)
    if (lost && state?.fields[field] !== undefined)
      lost.hidden[field] = shortValue(field, state.fields[field])
  }
  const own = maskWhere((field) => next.writers[field] === feed || field in mine.hidden)
  const isAll = (own & ~said) === 0
  const earlier = mine.records.flatMap((record) => {
    const mask = record.mask === undefined ? undefined : record.mask & ~said
    return mask === 0 ? [] : [mask === undefined ? record : { ...record, mask }]
  })
  const records = isAll ? [origin] : [{ ...origin, mask: said }, ...earlier]
  origins.set(feed, { records, hidden: mine.hidden })
  return { text: encodeOrigins(origins), isHiddenChanged: JSON.stringify(mine.hidden) !== hiddenBefore }
}

/** After a full file of the feed that no longer names the product. */
export function originsWithout(before: string | undefined, feed: FeedName, missingIn: number): string {
  const origins = decodeOrigins(before)
  const { records, hidden } = origins.get(feed) ?? { records: [], hidden: {} }
  return encodeOrigins(origins.set(feed, { records, hidden, missingIn }))
}

/** The record in which the feed last spoke of the field; undefined: nobody noted it. */
export function originOf(origins: FeedOrigins | undefined, field: ProductField): RecordOrigin | undefined {
  const bit = maskWhere((each) => each === field)
  return origins?.records.find(({ mask }) => mask === undefined || (mask & bit) !== 0)
}

/** What a record says of fields that another feed writes, where it is something else: field and writer. */
export function overriddenBy(
  patch: ProductPatch,
  feed: FeedName,
  next: Pick<ProductState, 'fields' | 'writers'>,
): { field: ProductField; writer: FeedName }[] {
  return (Object.keys(patch.set) as ProductField[]).flatMap((field) => {
    const [said, writer] = [patch.set[field], next.writers[field]]
    if (said === undefined || writer === undefined || writer === feed) return []
    return JSON.stringify(said) === JSON.stringify(next.fields[field]) ? [] : [{ field, writer }]
  })
}

function fieldsOf(mask: number): ProductField[] {
  return metaFields.filter((_, place) => (mask & (1 << place)) !== 0)
}
