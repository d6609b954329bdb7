import type { StackRecord } from './existing-items.ts'
import type { Fields, ItemId, StackKind } from './model.ts'

/** What the files need of the service. Every method throws an OperatingError when it fails. */
export interface StackService {
  /** All of a kind, over all pages. */
  list(kind: StackKind): AsyncIterable<StackRecord>
  create(kind: StackKind, fields: Fields): Promise<void>
  /** Changes the fields that are named. */
  update(kind: StackKind, id: ItemId, fields: Fields): Promise<void>
  remove(kind: StackKind, id: ItemId): Promise<void>
}
