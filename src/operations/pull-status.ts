import type { CatalogConfig, FeedConfig } from '../config/model.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { readNextDue } from '../redis/schedules.ts'
import { describeSchedule, describeSource } from '../sources/pull/describe-source.ts'
import { pullDirOf, readPullState } from '../sources/pull/pull-state.ts'
import { idOf } from '../sources/pull/pulls.ts'

/** How the fetching of a feed goes. Times are ISO 8601. */
export interface PullStatus {
  /** Without query and credentials. */
  from: string
  schedule: string
  /** Of the last fetch, and of the last one that succeeded, whether it brought a file or not. */
  lastAt: string | null
  succeededAt: string | null
  /** By the schedule; a fetch that failed is repeated before. Null: no daemon has begun yet, or Redis is away. */
  nextAt: string | null
  failure: { since: string; times: number; text: string } | null
}

interface Reading {
  catalog: CatalogConfig
  connections: RedisConnections
  /** `state/<catalog>`. */
  dir: string
}

/** Null for a feed that is not fetched. */
export async function readPullStatus(
  feed: FeedConfig,
  { catalog, connections, dir }: Reading,
): Promise<PullStatus | null> {
  const { pull } = feed
  if (!pull) return null
  const { lastAt = null, succeededAt = null, failure = null } = await readPullState(pullDirOf(dir, feed.name))
  const id = idOf(feed)
  const next = connections.failure ? undefined : await readNextDue(connections, { catalog: catalog.name, id })
  return {
    from: describeSource(pull.source),
    schedule: describeSchedule(pull),
    lastAt,
    succeededAt,
    nextAt: next === undefined ? null : new Date(next).toISOString(),
    failure,
  }
}
