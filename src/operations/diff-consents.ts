import type { Change } from '../catalog/model.ts'
import { decodeConsent } from '../consents/document.ts'
import { findConsentKey } from '../consents/key.ts'
import { positionOf } from '../consents/position.ts'
import type { ConsentFile } from '../imports/open-feed-file.ts'
import { type ConsentStep, planConsents } from '../imports/plan-consents.ts'
import { readFeedFile } from '../imports/read-feed-file.ts'
import { ProblemCollector } from '../imports/report.ts'
import { type Tally, tallyNames } from '../imports/tally.ts'
import type { AcceptSequence, ProductId } from '../lib/brand.ts'
import type { StoredProduct } from '../outbox/model.ts'
import { readStored } from '../outbox/read-stored.ts'
import type { Mirror } from './mirror.ts'

interface DiffOptions {
  mirror: Mirror
  nowMs: number
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
export async function diffConsents(file: ConsentFile, options: DiffOptions, counts: Counts): Promise<void> {
  const { mirror, nowMs } = options
  // Undefined: no consent was ever taken in here, and a look must not create the key.
  const hasher = mirror && (await findConsentKey(mirror.consents.stateDir))
  const problems = new ProblemCollector()
  for await (const { items, superseded } of readFeedFile(file, { now: () => nowMs, problems })) {
    counts.changes.superseded += superseded.length
    const steps = items.map(({ id, item: statement, record }): ConsentStep => {
      const key = hasher ? hasher.idOf(statement.email) : (id as ConsentStep['id'])
      return { id: key, statement, position: positionOf(newest, record.record) }
    })
    await diffSteps(steps, hasher ? options : { ...options, mirror: undefined }, counts)
  }
  counts.rejected = problems.rejected
}

async function diffSteps(
  steps: readonly ConsentStep[],
  { mirror, onChange }: DiffOptions,
  counts: Counts,
): Promise<void> {
  const ids = steps.map(({ id }) => id)
  const stored =
    mirror && ids.length > 0
      ? await readStored(mirror.connection, mirror.consents.keys, ids)
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
