import type { Change } from '../catalog/model.ts'

/**
 * What an import changed; kept in the mirror while it runs, so that a restart does not lose what was counted before.
 * `incomplete` and `superseded` do not stand there: a repeated pass counts all of them again.
 */
export const tallyNames = [
  'added',
  'changed',
  'missing',
  'urgent',
  'new',
  'deferred',
  'incomplete',
  'superseded',
] as const
export type TallyName = (typeof tallyNames)[number]
export type Tally = Record<TallyName, number>

export function emptyTally(): Tally {
  return {
    added: 0,
    changed: 0,
    missing: 0,
    urgent: 0,
    new: 0,
    deferred: 0,
    incomplete: 0,
    superseded: 0,
  }
}

export function tallyChange(tally: Tally, change: Change): void {
  tally[change.kind] += 1
  tally[change.lane] += 1
}
