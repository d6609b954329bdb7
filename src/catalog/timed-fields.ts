import { type ProductField, requiredFields } from '../api/contract/product.ts'
import type { ParsedRecord } from '../records/model.ts'
import { isAbovePrice } from './above-price.ts'
import type { BoundField } from './bound-field.ts'
import { nothingSaid } from './compiled-rule.ts'
import type { LaterPatch, ProductPatch } from './model.ts'
import { Problem } from './problem.ts'
import { openNotes, type RecordNotes } from './record-notes.ts'

type Said = Pick<ProductPatch, 'set' | 'clear'>

interface Options {
  fields: readonly BoundField[]
  /** After every field was computed for now. */
  notes: RecordNotes
  /** What holds now. */
  said: Said
}

interface Timed {
  later: readonly LaterPatch[]
  /** Of cells that count only later. */
  problems: readonly { bound: BoundField; problem: Problem }[]
}

const required: ReadonlySet<string> = new Set(requiredFields)

/** What the record says of its timed fields at each time at which that may change, without times at which it does not. */
export function readTimed(record: ParsedRecord, { fields, notes, said }: Options): Timed {
  const timed = fields.filter(({ timed: isTimed }) => isTimed)
  const later: LaterPatch[] = []
  const problems: { bound: BoundField; problem: Problem }[] = []
  const untimedPrice = fields.find(({ field, timed: isTimed }) => field === 'price' && !isTimed)
  let before = textOf(timed, said)
  for (const at of [...new Set(notes.boundaries)].sort((one, other) => one - other)) {
    const then = openNotes(record, at)
    const set: Partial<Record<ProductField, unknown>> = {}
    const clear: ProductField[] = []
    // What depends on the price does so also where that stays the same.
    let price = untimedPrice?.compute(record.cells, then)
    for (const bound of timed) {
      const found = bound.compute(record.cells, then)
      if (bound.field === 'price') price = found
      const value = bound.abovePrice && !isAbovePrice(found, price) ? undefined : found
      if (value instanceof Problem) problems.push({ bound, problem: value })
      else if (value === undefined) {
        // A required field is never cleared: it stays as it was.
        if (bound.clears && !required.has(bound.field)) clear.push(bound.field)
      } else if (value !== nothingSaid) set[bound.field] = value
    }
    const text = textOf(timed, { set, clear })
    if (text !== before) later.push({ at, set, clear, ...keptBy(then) })
    before = text
  }
  return { later, problems }
}

function keptBy({ keepEntries }: RecordNotes): Pick<LaterPatch, 'keepEntries'> {
  return keepEntries.length > 0 ? { keepEntries } : {}
}

function textOf(timed: readonly BoundField[], { set, clear }: Said): string {
  return JSON.stringify(timed.map(({ field }) => [clear.includes(field), set[field]]))
}
