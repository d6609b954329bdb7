import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { Held } from '../imports/context.ts'
import type { FeedName } from '../lib/brand.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AlertKind, Condition } from './alert-book.ts'

/** What waits for an operator's decision, one matter a feed. Pure. */
export function lookAtHeld(
  { name: catalog }: CatalogConfig,
  heldByFeed: ReadonlyMap<FeedName, readonly Held[]>,
): Condition[] {
  return [...heldByFeed].flatMap(([feed, all]) => {
    const newest = all.at(-1)
    if (newest === undefined) return []
    const { sequence, file, reason } = newest
    const others = all.length > 1 ? `, and ${all.length - 1} more of this feed` : ''
    return [
      {
        ...{ kind: 'held' as const, catalog, feed, subject: feed, severity: 'warning' as const },
        occurrence: all.map((held) => held.sequence).join(),
        message: `Import ${sequence} of ${file} is held: ${reason}${others}`,
        hint: `catalogd approve ${sequence}, or catalogd discard ${sequence}`,
      },
    ]
  })
}

/**
 * Which alert a notice is, by the part of its key in front of the colon, and how long it must last where it often passes by
 * itself. What is not here is no alert.
 */
const alertOfNotice: Readonly<Record<string, { kind: AlertKind; forMs?: number }>> = {
  failed: { kind: 'failed' },
  pull: { kind: 'pull' },
  drop: { kind: 'drop', forMs: 30_000 },
  unreadable: { kind: 'drop', forMs: 30_000 },
  waiting: { kind: 'drop', forMs: 15 * 60_000 },
  recovery: { kind: 'drop', forMs: 30_000 },
  disk: { kind: 'disk' },
  imports: { kind: 'imports', forMs: 30_000 },
  'consent-imports': { kind: 'imports', forMs: 30_000 },
}

/** What the accepting and importing process notes. Pure. */
export function lookAtNotices(
  { name: catalog, feeds }: CatalogConfig,
  notices: Readonly<Record<string, string>>,
): Condition[] {
  return Object.entries(notices).flatMap(([key, text]) => {
    const [head = '', place] = key.split(':', 2)
    const alert = alertOfNotice[head]
    if (alert === undefined) return []
    const feed = feeds.get(place as FeedName)?.name
    // Two notices of one feed may be alerts of one kind.
    const subject = place === undefined || alert.kind === head ? (place ?? head) : `${place} ${head}`
    return [
      {
        ...{ ...alert, catalog, subject, ...(feed === undefined ? {} : { feed }) },
        severity:
          alert.kind === 'disk' || alert.kind === 'imports' ? ('critical' as const) : ('warning' as const),
        message: text,
        hint: 'catalogd status shows it until it is over',
        ...(alert.kind === 'failed' ? { occurrence: text } : {}),
      },
    ]
  })
}

interface FeedsLooked {
  catalog: CatalogConfig
  manifest: ManifestView
  nowMs: number
  /** Of a feed that never had a file: since when one has been expected. */
  expectedSinceMs: (feed: FeedName) => number
}

/** Feeds whose files do not come, or come too late. Needs no Redis. */
export function lookAtFiles({ catalog, manifest, nowMs, expectedSinceMs }: FeedsLooked): Condition[] {
  return [...catalog.feeds.values()].flatMap((feed) => {
    const newest = manifest.newest(feed.name)
    const place = { catalog: catalog.name, feed: feed.name, subject: feed.name, severity: 'warning' as const }
    const conditions: Condition[] = []
    const since = newest ? Date.parse(newest.acceptedAt) : expectedSinceMs(feed.name)
    if (feed.expectEveryMs !== undefined && nowMs - since > feed.expectEveryMs) {
      const last = newest ? `the last one, ${newest.name}, came at ${newest.acceptedAt}` : 'none came yet'
      conditions.push({
        ...place,
        kind: 'stale',
        message: `Feed ${feed.name} expects a file every ${describeMs(feed.expectEveryMs)}; ${last}`,
        hint: whereFilesComeFrom(feed),
      })
    }
    const outcome: string | undefined = newest && manifest.outcome(newest.sequence)?.outcome
    if (newest && outcome === 'late') {
      conditions.push({
        ...place,
        kind: 'late',
        message: `Import ${newest.sequence} of ${newest.name} is older than the newest full file of feed ${feed.name} and was set aside`,
        hint: 'Find out why files come out of order; the next file of the feed goes in as usual',
        occurrence: String(newest.sequence),
      })
    }
    return conditions
  })
}

function whereFilesComeFrom({ dropDir }: FeedConfig): string {
  return dropDir === ''
    ? 'Look at what sends or fetches its files'
    : `Look at what writes its files to ${dropDir}`
}

function describeMs(delayMs: number): string {
  const hours = delayMs / 3_600_000
  if (hours >= 1) return `${Math.round(hours * 10) / 10} h`
  return delayMs >= 60_000 ? `${Math.round(delayMs / 6_000) / 10} min` : `${delayMs / 1000} s`
}
