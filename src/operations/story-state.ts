import type { ProductField } from '../api/contract/product.ts'
import { rankFields } from '../catalog/ranks.ts'
import type { CatalogConfig } from '../config/model.ts'
import type { StoredStory } from '../mirror/read-story.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import type { UnderWay } from '../outbox/under-way.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { CallEntry } from './list-calls.ts'
import type { Block, MissingField, StoryState } from './story.ts'

export interface StoryOptions {
  catalog: CatalogConfig
  mirror: MirrorReader
  manifest: ManifestView
  /** What Redis knows; undefined: it is away, or was not asked. */
  underWay: UnderWay | undefined
  /** Whether a daemon works on the state folder. */
  isRunning: boolean
  /** How many of the last calls are looked through: 1,000 take 0.1 s. */
  lookMax?: number
  nowMs: number
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** What Redis knows of this moment counts before what the mirror was told last. */
export function stateOf(
  options: StoryOptions & { stored: StoredStory },
  calls: readonly CallEntry[],
): StoryState {
  const { stored, catalog, underWay } = options
  const { place, dead, incomplete } = stored
  const claim = underWay?.claim
  if (claim) {
    const leaseEndsAt = claim.leaseEndsMs === undefined ? null : isoOf(claim.leaseEndsMs)
    const since = isoOf(claim.beganMs)
    return { state: 'claimed', token: claim.token, since, leaseEndsAt, lane: place?.lane ?? null }
  }
  if (dead) return { state: 'dead-letter', ...dead }
  if (incomplete !== undefined) return { state: 'incomplete', missing: missingOf(incomplete, catalog) }
  if (!place) {
    const at = givenUpAt(options)
    if (at !== undefined) return { state: 'given-up', at }
    const call = calls.find(({ outcome }) => outcome === 'acknowledge')
    return { state: 'at-rest', acknowledgedAt: call?.endedAt ?? null }
  }
  const since = isoOf(place.sinceMs)
  if (place.number === undefined)
    return { state: 'deferred', since, dueAt: isoOf(place.sinceMs + catalog.deferred.afterMs) }
  if (stored.endpoint === 'newest')
    return { state: 'repeated', at: underWay?.echoMs === undefined ? null : isoOf(underWay.echoMs) }
  const isDoubtful = stored.endpoint === 'doubtful'
  return { state: 'due', lane: place.lane, since, isOffered: place.isOffered, isDoubtful }
}

function missingOf(incomplete: string, { feeds }: CatalogConfig): MissingField[] {
  const { rank } = rankFields(feeds)
  return incomplete.split(',').map((field) => {
    const mapping = [...feeds.keys()].filter((feed) => Number.isFinite(rank(field as ProductField, feed)))
    return { field, feeds: mapping }
  })
}

/** What was given up counts as acknowledged in the mirror; that it was stands in the manifest. */
function givenUpAt({
  stored: { digest },
  manifest,
}: StoryOptions & { stored: StoredStory }): string | undefined {
  if (digest === undefined) return undefined
  return manifest
    .decisions()
    .findLast((line) => line.decision === 'drop-dead' && line.digests?.includes(digest))?.at
}

/** Why nothing goes out, whichever product it is. */
export function blocksOf({ mirror, underWay, isRunning, nowMs }: StoryOptions): Block[] {
  const blocks: Block[] = []
  if (!isRunning) blocks.push({ reason: 'daemon', text: 'no daemon runs: catalogd start', since: null })
  if (isRunning && !underWay) blocks.push({ reason: 'redis', text: 'Redis does not answer', since: null })
  if (mirror.repair().repairing)
    blocks.push({ reason: 'repairing', text: 'what Redis lost is being repaired', since: null })
  const { paused = [], holdMs = 0, holdReason, lastFailure } = underWay?.delivery ?? {}
  const calls = mirror.calls()
  const isPaused = paused.some(({ reason }) => reason === 'operator')
  if (calls?.decision === 'pause' && !isPaused && !underWay)
    blocks.push({ reason: 'paused', text: 'calls are paused: catalogd resume', since: calls.at })
  for (const { reason, since, hint } of paused)
    blocks.push({ reason: reason === 'operator' ? 'paused' : reason, text: hint, since })
  if (holdMs > 0) {
    const why = holdReason === 'throttled' ? 'the endpoint asked for it' : (lastFailure?.text ?? 'calls fail')
    blocks.push({ reason: 'waiting', text: `no call before ${isoOf(nowMs + holdMs)}: ${why}`, since: null })
  }
  return blocks
}
