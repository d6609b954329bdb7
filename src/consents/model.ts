import type { ConsentId, ProductId } from '../lib/brand.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import type { ConsentGate } from './gate.ts'
import type { ConsentHasher } from './key.ts'
import type { ConsentPosition } from './position.ts'

/**
 * What the import of consents needs. For each writer that it opens over `keys`, in this order: `begin`; open the
 * writer; apply what the manifest held at that moment; `gate.open(writer)`; go on applying what comes.
 *
 * A record whose position is not later than `meta` of its id is passed over. One that is not later than
 * `readAcknowledged` of its id may set document and meta, but is never offered. Any other is offered under
 * `digestConsent(consent)`, in the lane `urgent` when it revokes, else `new`; the outbox itself drops what is
 * acknowledged in that very state.
 */
export interface ConsentIntake {
  hasher: ConsentHasher
  /** Writes the file of the key again when it is missing. Throws when it holds another key: commands would use that. */
  keepKey(): Promise<void>
  keys: CatalogKeys
  scripts: OutboxScripts
  gate: ConsentGate
  /**
   * Closes the gate and brings Redis to the journal of acknowledgements. Answers `reset` when what Redis held belongs to
   * another state folder and was removed, `writer` and `applied` included: the writer must be opened afterwards.
   */
  begin(): Promise<'kept' | 'reset'>
  readAcknowledged(ids: readonly ConsentId[]): Promise<ReadonlyMap<ConsentId, ConsentPosition>>
  /**
   * Decisions of the operator. Retry: back to the outbox, also where the outcome of a grant was not confirmed in time.
   * Drop: settled for good, until a newer record comes. Durable. Returns the ids it acted on.
   */
  settleDeadLetters(how: 'retry' | 'drop', ids: readonly ProductId[]): Promise<ProductId[]>
}
