import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { Held } from '../imports/held.ts'
import type { FeedName } from '../lib/brand.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { AlertKind, Condition } from './model.ts'

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

/** Which alert a notice is; the part of its key in front of the colon. What is not here is no alert. */
const kindOfNotice: Readonly<Record<string, AlertKind>> = {
  failed: 'failed',
  pull: 'pull',
  drop: 'drop',
  unreadable: 'drop',
  recovery: 'drop',
  disk: 'disk',
  imports: 'imports',
  'consent-imports': 'imports',
}
/** What often passes by itself. */
const lastsMs: Partial<Record<AlertKind, number>> = { imports: 30_000, drop: 30_000 }

/** What the accepting and importing process notes. Pure. */
export function lookAtNotices(
  { name: catalog, feeds }: CatalogConfig,
  notices: Readonly<Record<string, string>>,
): Condition[] {
  return Object.entries(notices).flatMap(([key, text]) => {
    const [head = '', place] = key.split(':', 2)
    const kind = kindOfNotice[head]
    if (kind === undefined) return []
    const feed = feeds.get(place as FeedName)?.name
    const forMs = lastsMs[kind]
    return [
      {
        ...{ kind, catalog, subject: place ?? head, ...(feed === undefined ? {} : { feed }) },
        severity: kind === 'disk' || kind === 'imports' ? ('critical' as const) : ('warning' as const),
        message: text,
        hint: 'catalogd status shows it until it is over',
        ...(kind === 'failed' ? { occurrence: text } : {}),
        ...(forMs === undefined ? {} : { forMs }),
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
