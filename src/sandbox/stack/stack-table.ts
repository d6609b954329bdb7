import { z } from 'zod'
import { type JsonValue, jsonValue } from '../../api/contract/json-value.ts'

/** A record is replaced, never changed in place: whoever holds one holds what it was. */
export type StackRecord = { readonly id: number } & { readonly [field: string]: JsonValue }

const stackRecordSchema = z.object({ id: z.int().min(1) }).catchall(jsonValue)

export const stackTableSchema = z.object({
  /** Ids are never given twice, also after the record is gone. */
  nextId: z.int().min(1),
  records: z.array(stackRecordSchema),
})
export type StackTableData = z.infer<typeof stackTableSchema>

/** The records of one kind, in the order of their ids. */
export class StackTable {
  readonly #records = new Map<number, StackRecord>()
  readonly #changed: () => void
  #nextId = 1

  constructor(data: StackTableData, changed: () => void) {
    this.#changed = changed
    this.load(data)
  }

  get size(): number {
    return this.#records.size
  }

  list(): StackRecord[] {
    return [...this.#records.values()]
  }

  get(id: number): StackRecord | undefined {
    return this.#records.get(id)
  }

  add(fields: Readonly<Record<string, JsonValue>>): StackRecord {
    const record: StackRecord = { id: this.#nextId, ...fields }
    this.#nextId += 1
    this.#records.set(record.id, record)
    this.#changed()
    return record
  }

  /** The record keeps its place. */
  replace(record: StackRecord): StackRecord {
    this.#records.set(record.id, record)
    this.#changed()
    return record
  }

  remove(id: number): void {
    if (this.#records.delete(id)) this.#changed()
  }

  load({ nextId, records }: StackTableData): void {
    this.#records.clear()
    for (const record of records.toSorted((a, b) => a.id - b.id)) this.#records.set(record.id, record)
    this.#nextId = records.reduce((next, { id }) => Math.max(next, id + 1), nextId)
  }

  toJSON(): StackTableData {
    return { nextId: this.#nextId, records: this.list() }
  }
}
