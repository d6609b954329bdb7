import type { AsOfRule, FeedConfig, Share } from './model.ts'
import type { FeedInput } from './schema.ts'
import { parseShare } from './share.ts'

/** The keys of a feed that keep a bad file from doing damage; those that are not there are left out. */
export function buildSafety({
  verify,
  asOf,
  changes,
}: FeedInput): Pick<FeedConfig, 'verify' | 'asOf' | 'changes'> {
  const rule = asOf && buildAsOf(asOf)
  return {
    ...(verify === undefined ? {} : { verify }),
    ...(rule === undefined ? {} : { asOf: rule }),
    ...(changes === undefined ? {} : { changes: { atMost: buildLanes(changes.atMost) } }),
  }
}

function buildAsOf({
  name,
  column,
  date,
  zone = 'UTC',
}: NonNullable<FeedInput['asOf']>): AsOfRule | undefined {
  if (name !== undefined) return { from: 'name', regex: name, zone }
  return column === undefined ? undefined : { from: 'column', column, date, zone }
}

const lanes = ['urgent', 'new', 'deferred'] as const

function buildLanes(atMost: NonNullable<FeedInput['changes']>['atMost']) {
  const shareOf = (lane: (typeof lanes)[number]) => (typeof atMost === 'object' ? atMost[lane] : atMost)
  const shares = lanes.flatMap((lane): [string, Share][] => {
    const parsed = parseShare(shareOf(lane))
    return parsed === undefined ? [] : [[lane, parsed]]
  })
  return Object.fromEntries(shares)
}
