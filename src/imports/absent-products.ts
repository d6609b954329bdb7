import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { FeedConfig } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import type { IdTable } from '../records/id-table.ts'

export type AbsentProducts = (ids: readonly ProductId[]) => readonly ProductId[]

interface Reading {
  feed: Pick<FeedConfig, 'key'>
  mirror: Pick<MirrorReader, 'read'>
}

interface Named {
  /** What stands in the file, rejected records included: ids or, of a feed with a key, values of the key. */
  ids: Pick<IdTable, 'has'>
  /** Of a feed with a key: the products whose records were applied. */
  found?: Pick<IdTable, 'has'>
}

/**
 * By a key, present is what was found, and what has a value that stands in the file, lest a record that was rejected
 * counts as missing.
 */
export function absentProducts({ feed: { key }, mirror }: Reading, { ids, found }: Named): AbsentProducts {
  if (key === undefined) return (known) => known.filter((id) => !ids.has(id))
  return (known) => {
    const doubtful = known.filter((id) => !found?.has(id))
    if (doubtful.length === 0) return []
    const stored = mirror.read(doubtful)
    return doubtful.filter((id) => {
      const { meta, document, partial } = stored.get(id) ?? {}
      if (meta === undefined) return true
      const { fields } = decodeState({ meta, document, partial })
      return !keyValues(fields, key).some((value) => ids.has(value))
    })
  }
}
