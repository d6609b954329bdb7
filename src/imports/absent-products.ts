import { keyValues } from '../catalog/feed-key.ts'
import { decodeState } from '../catalog/stored-form.ts'
import type { ProductId } from '../lib/brand.ts'
import type { MirrorReader } from '../mirror/model.ts'
import type { IdTable } from '../records/id-table.ts'

/** Which of these products a file does not name. */
export type AbsentProducts = (ids: readonly ProductId[]) => readonly ProductId[]

/** Of a file that names products by their ids. */
export function absentById(ids: IdTable): AbsentProducts {
  return (known) => known.filter((id) => !ids.has(id))
}

interface KeyedFile {
  key: string
  /** The values of the key in the file, rejected records included. */
  values: IdTable
  /** The products whose records were applied. */
  found: Pick<IdTable, 'has'>
  mirror: Pick<MirrorReader, 'read'>
}

/**
 * Of a file that names them by a key: present is what was found, and what has a value that stands in the file, lest a
 * record that was rejected counts as missing.
 */
export function absentByKey({ key, values, found, mirror }: KeyedFile): AbsentProducts {
  return (known) => {
    const doubtful = known.filter((id) => !found.has(id))
    if (doubtful.length === 0) return []
    const stored = mirror.read(doubtful)
    return doubtful.filter((id) => {
      const { meta, document, partial } = stored.get(id) ?? {}
      if (meta === undefined) return true
      const { fields } = decodeState({ meta, document, partial })
      return !keyValues(fields, key).some((value) => values.has(value))
    })
  }
}
