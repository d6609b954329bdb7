import type { ProductId } from '../lib/brand.ts'
import type { RedisBatch, RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import type { KeyEntry } from './model.ts'

/** Between value and id. Values do not hold it (`keyValues` sees to that), ids may. */
const separator = '\0'
const afterSeparator = '\u0001'

/** Values of one field by which products are to be found. */
export interface KeyLookup {
  field: string
  values: readonly string[]
}

/** By value the products that have it: none, one, or the first two of several. */
export type FoundProducts = ReadonlyMap<string, readonly ProductId[]>

export async function lookUpKeys(
  connection: RedisConnection,
  keys: CatalogKeys,
  { field, values }: KeyLookup,
): Promise<FoundProducts> {
  const index = keys.keyIndex(field)
  const pipeline = connection.pipeline()
  for (const value of values) {
    pipeline.zrangebylex(index, `[${value}${separator}`, `(${value}${afterSeparator}`, 'LIMIT', 0, 2)
  }
  const answers = (await pipeline.exec()) ?? []
  return new Map(
    values.map((value, place) => {
      const [error, members] = answers[place] ?? []
      if (error) throw error
      return [value, ((members ?? []) as string[]).map((member) => idOf(member))]
    }),
  )
}

/** Safe to repeat: an entry that is there already stays once, one that is gone is not missed. */
export function appendKeyEntries(
  batch: RedisBatch,
  keys: CatalogKeys,
  { add = [], remove = [] }: { add?: readonly KeyEntry[]; remove?: readonly KeyEntry[] },
): void {
  for (const [field, members] of membersByField(remove)) batch.zrem(keys.keyIndex(field), ...members)
  for (const [field, members] of membersByField(add)) {
    batch.zadd(keys.keyIndex(field), ...members.flatMap((member) => [0, member]))
  }
}

function membersByField(entries: readonly KeyEntry[]): Map<string, string[]> {
  const members = new Map<string, string[]>()
  for (const { field, value, productId } of entries) {
    const member = `${value}${separator}${productId}`
    const known = members.get(field)
    if (known) known.push(member)
    else members.set(field, [member])
  }
  return members
}

function idOf(member: string): ProductId {
  return member.slice(member.indexOf(separator) + 1) as ProductId
}
