import type { ConsentStatement } from '../catalog/consent-mapping.ts'
import { decodeConsent, digestConsent, encodeConsent } from '../consents/document.ts'
import { type ConsentPosition, isLater, parsePosition } from '../consents/position.ts'
import type { ConsentId, ProductId } from '../lib/brand.ts'
import type { ProductWrite, StoredProduct } from '../mirror/model.ts'
import { emptyTally, type Tally } from './tally.ts'

/** What one record says, and where in the order of acceptance it stands. */
export interface ConsentStep {
  id: ConsentId
  statement: ConsentStatement
  position: ConsentPosition
}

interface PlanOptions {
  steps: readonly ConsentStep[]
  stored: ReadonlyMap<ProductId, StoredProduct>
  /** The record whose delivery was acknowledged last. */
  acknowledged: ReadonlyMap<ConsentId, ConsentPosition>
}

export interface ConsentPlan {
  writes: ProductWrite[]
  tally: Tally
  /** Steps that changed no permission. */
  unchanged: number
}

/**
 * Pure: which consents change, and into which lane. The newest accepted record wins, whatever order the feeds are
 * applied in, and what is not later than an acknowledged record is never offered again.
 */
export function planConsents({ steps, stored, acknowledged }: PlanOptions): ConsentPlan {
  const plan: ConsentPlan = { writes: [], tally: emptyTally(), unchanged: 0 }
  for (const step of steps) {
    addConsent(plan, { step, before: stored.get(step.id), acknowledged: acknowledged.get(step.id) })
  }
  return plan
}

interface Known {
  step: ConsentStep
  before: StoredProduct | undefined
  acknowledged: ConsentPosition | undefined
}

function addConsent(plan: ConsentPlan, { step, before, acknowledged }: Known): void {
  const { id, statement, position } = step
  const applied = before?.meta === undefined ? undefined : parsePosition(before.meta)
  const isPassed = (other: ConsentPosition | undefined) => other !== undefined && isLater(other, position)
  // A record that was applied before is applied once more by a repeated import: that changes nothing.
  if (applied === position || isPassed(applied) || isPassed(acknowledged)) {
    plan.unchanged += 1
    return
  }
  // A Redis that was rolled back may hold a document older than what was acknowledged: it says nothing.
  const isCurrent = applied !== undefined && (acknowledged === undefined || !isLater(acknowledged, applied))
  const known = isCurrent && before?.document ? decodeConsent(before.document).consent : undefined
  const isChange = known !== statement.consent && position !== acknowledged
  const lane = statement.consent ? 'new' : 'urgent'
  plan.writes.push({
    productId: id,
    document: encodeConsent(statement),
    partial: undefined,
    meta: position,
    incomplete: undefined,
    // Also one that says the same: it revives a grant that was not confirmed. The outbox drops what is acknowledged.
    offer: position === acknowledged ? undefined : { digest: digestConsent(statement.consent), lane },
  })
  if (!isChange) {
    plan.unchanged += 1
    return
  }
  plan.tally[known === undefined ? 'added' : 'changed'] += 1
  plan.tally[lane] += 1
}
