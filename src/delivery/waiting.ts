import type { FailureVerdict } from '../api/classify.ts'

const backoffBaseMs = 500
const backoffCapMs = 30_000
/** Running calls may finish for so long after the stop; a second is left of ten to put products back. */
export const finishWithinMs = 9_000

/** Full jitter: anything between nothing and a bound that doubles with each failure, so that processes spread out. */
export function backoffMs(failures: number, random: () => number): number {
  const bound = Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.max(0, failures - 1))
  return Math.round(random() * bound)
}

/** How long no call begins after a call that failed, and why: the endpoint's wish counts, or the usual back-off. */
export function holdAfter(
  { kind, afterMs }: Exclude<FailureVerdict, { kind: 'pause' }>,
  usualMs: number,
): { forMs: number; reason: 'throttled' | 'failing' } {
  if (kind === 'throttle') return { forMs: afterMs ?? usualMs, reason: 'throttled' }
  return { forMs: Math.max(afterMs ?? 0, usualMs), reason: 'failing' }
}
