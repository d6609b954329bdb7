import type { CatalogConfig, FeedKind } from '../config/model.ts'
import type { OutboxOverview } from '../outbox/overview.ts'
import type { Condition } from './model.ts'

interface Looked {
  catalog: CatalogConfig
  kind: FeedKind
  overview: OutboxOverview
  urgentLagMs: number
}

/** What is wrong with delivering. Pure. */
export function lookAtOutbox({
  catalog: { name: catalog },
  kind,
  overview,
  urgentLagMs,
}: Looked): Condition[] {
  const conditions: Condition[] = []
  const place = { catalog, subject: kind }
  for (const { reason, since, hint } of overview.paused) {
    if (reason === 'operator') continue
    const message =
      reason === 'credentials'
        ? `The endpoint refuses the credentials: no ${kind} are sent`
        : `The endpoint refuses everything: no ${kind} are sent`
    conditions.push({ ...place, kind: reason, severity: 'critical', message, hint, occurrence: since })
  }
  const { waiting, oldestMs } = overview.lanes.urgent
  if (waiting > 0 && oldestMs > urgentLagMs) {
    const what = kind === 'products' ? 'price and availability changes' : 'revocations'
    const last = overview.lastFailure ? `. The last failed call: ${overview.lastFailure.text}` : ''
    conditions.push({
      ...place,
      kind: 'urgent-lag',
      severity: 'critical',
      message: `${waiting} ${what} wait, the first for ${Math.round(oldestMs / 1000)} s${last}`,
      hint: 'catalogd status says what keeps them',
    })
  }
  if (overview.dead > 0) {
    const list = kind === 'products' ? 'catalogd dead list' : 'catalogd dead list --consents'
    conditions.push({
      ...place,
      kind: 'dead-letters',
      severity: 'warning',
      message: `The endpoint refused ${overview.dead} ${kind}`,
      hint: `${list} says why`,
    })
  }
  return conditions
}
