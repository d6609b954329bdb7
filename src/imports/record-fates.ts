import type { ChunkPlan } from './plan-chunk.ts'
import type { Tally } from './tally.ts'

/** What became of every record of a file; the sum is the records. */
export interface RecordFates {
  /** The document of its product is another one, or a first one. */
  changed: number
  unchanged: number
  /** It says something else, only of fields that other feeds write. */
  overridden: number
  /** Its product lacks required fields. */
  incomplete: number
  rejected: number
  /** A later record of the file has the same id. */
  superseded: number
  /** It stood in the last full file, and was not looked into. */
  skipped: number
  /** The transform makes nothing of it. */
  leftOut: number
  /** The file is held or late as a whole. */
  notApplied: number
}

/** A field of which records say something that is not used, since another feed writes it. */
export interface OverriddenField {
  field: string
  by: string
  records: number
}

/** Counts what of a file other feeds override. */
export class OverriddenRecords {
  /** Records that change nothing for that reason alone. */
  count = 0
  readonly #fields = new Map<string, OverriddenField>()

  add({ overridden, changes, incomplete }: Pick<ChunkPlan, 'overridden' | 'changes' | 'incomplete'>): void {
    if (overridden.length === 0) return
    const others = new Set([...changes.map(({ productId }) => productId), ...incomplete])
    const own = overridden.filter(({ productId }) => !others.has(productId))
    this.count += new Set(own.map(({ productId }) => productId)).size
    for (const { field, writer } of overridden) {
      const key = `${writer} ${field}`
      const known = this.#fields.get(key)
      if (known) known.records += 1
      else this.#fields.set(key, { field, by: writer, records: 1 })
    }
  }

  /** Most frequent first. */
  get fields(): OverriddenField[] {
    return [...this.#fields.values()].sort((one, other) => other.records - one.records)
  }
}

interface Counted {
  records: number
  /** Of all passes over the file: what an interrupted one has changed is found unchanged by the next. */
  changes: Pick<Tally, 'added' | 'changed' | 'incomplete' | 'superseded'>
  rejected: number
  overridden: number
  skipped: number
  leftOut: number
  isApplied: boolean
}

export function fatesOf({ records, changes, isApplied, ...counted }: Counted): RecordFates {
  const { incomplete, superseded } = changes
  const others = { changed: changes.added + changes.changed, incomplete, superseded, ...counted }
  const rest = records - Object.values(others).reduce((sum, count) => sum + count, 0)
  // Changed by an interrupted pass, and overridden since.
  const overridden = Math.max(0, others.overridden + Math.min(0, rest))
  const left = Math.max(0, rest)
  return { ...others, overridden, unchanged: isApplied ? left : 0, notApplied: isApplied ? 0 : left }
}
