import type { CallAdmission, Claim, ClaimAnswer, PauseReason } from './model.ts'

/** What the scripts answer when no call may be made now; undefined: one may. */
export function parseWithheld(
  kind: string,
  details: readonly unknown[],
): Exclude<CallAdmission, { kind: 'admitted' }> | undefined {
  if (kind === 'paused') return { kind, reasons: details.map(String) as PauseReason[] }
  if (kind !== 'wait') return undefined
  const [forMs, calls] = details
  return { kind, forMs: Number(forMs), ...(calls === undefined ? {} : { calls: Number(calls) }) }
}

export function parseLanes(counts: string): Claim['lanes'] {
  const [urgent = 0, fresh = 0, deferred = 0, echoed = 0] = counts.split(' ').map(Number)
  return { urgent, new: fresh, deferred, echoed }
}

/** The scripts write -1 where nothing waits. */
export function parseIdle([nextDue]: readonly unknown[]): ClaimAnswer {
  const nextDueMs = Number(nextDue)
  return { kind: 'idle', nextDueMs: nextDueMs < 0 ? undefined : nextDueMs }
}

export function texts(answer: unknown): string[] {
  return (answer as unknown[]).map(String)
}
