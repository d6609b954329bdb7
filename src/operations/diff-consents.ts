import type { BoundConsents } from '../catalog/consent-mapping.ts'
import type { Change } from '../catalog/model.ts'
import type { FeedConfig } from '../config/model.ts'
import { decodeConsent } from '../consents/document.ts'
import { findConsentKey } from '../consents/key.ts'
import { positionOf } from '../consents/position.ts'
import { type ConsentStep, planConsents } from '../imports/plan-consents.ts'
import { type Tally, tallyNames } from '../imports/tally.ts'
import type { AcceptSequence, ProductId } from '../lib/brand.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { StoredProduct } from '../outbox/model.ts'
import { readStored } from '../outbox/read-stored.ts'
import type { Judgement } from '../records/judge.ts'
import { readRecords } from '../records/read-records.ts'
import type { RedisConnection } from '../redis/connection.ts'

interface OpenedConsents {
  name: string
  bytes: number
  judgement: Judgement
  mapping: BoundConsents
}

/** What Redis holds of consents. */
export interface ConsentMirror {
  connection: RedisConnection
  keys: CatalogKeys
  stateDir: string
}

interface DiffOptions {
  feed: FeedConfig
  file: string
  consents: ConsentMirror | undefined
  signal: AbortSignal
  onChange: (change: Change) => void
}

interface Counts {
  rejected: number
  unchanged: number
  changes: Tally
}

/** A file that comes now stands behind everything that was accepted. */
const newest = 9_999_999_999 as AcceptSequence

/** Which consents a file would change; calls `onChange` with the address in place of the id. */
export async function diffConsents(
  { name, bytes, judgement, mapping }: OpenedConsents,
  options: DiffOptions,
  counts: Counts,
): Promise<void> {
  const { feed, file, consents, signal } = options
  // Undefined: no consent was ever taken in here, and a look must not create the key.
  const hasher = consents && (await findConsentKey(consents.stateDir))
  const { recordBytes } = feed.format
  for await (const batch of readRecords({ path: file, name, bytes, ...judgement, recordBytes, signal })) {
    counts.rejected += batch.rejected.length
    const steps: ConsentStep[] = []
    for (const record of batch.records) {
      const { id, statement } = mapping.map(record)
      if (id === undefined || !statement) counts.rejected += 1
      else if (!judgement.ids.isLast(id, record.record)) counts.changes.superseded += 1
      else {
        const key = hasher ? hasher.idOf(statement.email) : (id as ConsentStep['id'])
        steps.push({ id: key, statement, position: positionOf(newest, record.record) })
      }
    }
    await diffSteps(steps, hasher ? options : { ...options, consents: undefined }, counts)
  }
}

async function diffSteps(
  steps: readonly ConsentStep[],
  { consents, onChange }: DiffOptions,
  counts: Counts,
): Promise<void> {
  const ids = steps.map(({ id }) => id)
  const stored =
    consents && ids.length > 0
      ? await readStored(consents.connection, consents.keys, ids)
      : new Map<ProductId, StoredProduct>()
  const plan = planConsents({ steps, stored, acknowledged: new Map() })
  for (const name of tallyNames) counts.changes[name] += plan.tally[name]
  counts.unchanged += plan.unchanged
  for (const { productId, document, offer } of plan.writes) {
    if (!offer || !document) continue
    const { email, consent } = decodeConsent(document)
    const old = stored.get(productId)?.document
    const before = old && decodeConsent(old).consent
    // Offered again all the same, so that a newer record counts; the outbox drops what is acknowledged.
    if (before === consent) continue
    onChange({
      productId: email as ProductId,
      kind: before === undefined ? 'added' : 'changed',
      lane: offer.lane,
      fields: [{ field: 'consent', before, after: consent }],
    })
  }
}
