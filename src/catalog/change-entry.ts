import type { FeedName } from '../lib/brand.ts'
import type { Change, FieldChange, Lane } from './model.ts'
import type { RecordOrigin } from './origins.ts'
import { shortValue } from './show-value.ts'

/** `record`: a feed said so. `missing`: its full file named the product no longer. `announced`: what it had said for that time. */
export type ChangeCause =
  | ({ kind: 'record'; feed: FeedName } & RecordOrigin)
  | { kind: 'missing'; feed: FeedName; import: number }
  | { kind: 'announced' }

/** One change of a product's document. */
export interface ChangeEntry {
  /** When it was written down, ms since the epoch. */
  atMs: number
  cause: ChangeCause
  lane: Lane
  /** As `shortValue` shows the values; null: none. */
  fields: FieldChange[]
  /** Further fields that changed. */
  more: number
}

type StoredChange = readonly [
  cause: ChangeCause,
  lane: Lane,
  fields: readonly (readonly [field: string, before: unknown, after: unknown])[],
  more: number,
]

/** Some ten changes of a price fit into the history of a product, and no change fills it alone. */
const entryCharactersMax = 300

/** Without its time: the mirror puts that in front of it. */
export function encodeChange({ fields, lane }: Change, cause: ChangeCause): string {
  const shown: StoredChange[2][number][] = []
  let characters = 0
  for (const { field, before, after } of fields) {
    const entry = [field.slice(0, 100), shortValue(field, before), shortValue(field, after)] as const
    characters += JSON.stringify(entry).length
    if (shown.length > 0 && characters > entryCharactersMax) break
    shown.push(entry)
  }
  return JSON.stringify([cause, lane, shown, fields.length - shown.length] satisfies StoredChange)
}

export function decodeChange(line: string): ChangeEntry {
  const end = line.indexOf(' ')
  const [cause, lane, fields, more] = JSON.parse(line.slice(end + 1)) as StoredChange
  return {
    atMs: Number(line.slice(0, end)),
    cause,
    lane,
    fields: fields.map(([field, before, after]) => ({ field, before, after })),
    more,
  }
}
