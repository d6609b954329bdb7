import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { FeedConfig } from '../../config/model.ts'
import { writeDurably } from '../../lib/durable.ts'
import { ifPresent } from '../../lib/errors.ts'

const validators = z.object({ etag: z.string().optional(), lastModified: z.string().optional() })
const version = z.object({
  ...validators.shape,
  sha256: z.string(),
  name: z.string(),
  claim: z.string().optional(),
  /** The server announced no length: that it is whole shows in the import only. */
  isLengthUnknown: z.boolean().optional(),
})
const remoteFile = z.object({
  name: z.string(),
  bytes: z.number(),
  modifiedMs: z.number(),
  /** Where the server has one. */
  etag: z.string().optional(),
})

const pullState = z.object({
  /** Digest of where files come from: what is remembered of one place says nothing of another. */
  place: z.string().default(''),
  /** ISO 8601. Of the last fetch, whatever came of it. */
  lastAt: z.string().optional(),
  /** Of the last fetch that succeeded, also without anything new. */
  succeededAt: z.string().optional(),
  /** Since when fetches fail, how often in a row, and why. */
  failure: z.object({ since: z.string(), times: z.number(), text: z.string() }).optional(),
  /** A fetch has begun and not ended; when nothing runs, it was cut off. */
  isUnfinished: z.boolean().optional(),
  /** Not asked again before. */
  notBefore: z.string().optional(),
  /** Of a URL: the version that was accepted last. */
  version: version.optional(),
  /** Of a folder: files that were accepted and are there still. */
  taken: z.array(remoteFile).default([]),
  /**
   * Fetched and about to be accepted: with a line in the manifest they are, and what goes with them holds; without one
   * they are fetched again.
   */
  pending: z
    .array(
      z.object({
        claim: z.string(),
        version: version.optional(),
        remote: remoteFile.optional(),
      }),
    )
    .default([]),
})

export type PullState = z.output<typeof pullState>
export type RemoteFile = z.output<typeof remoteFile>
export type PulledVersion = NonNullable<PullState['version']>

const fileName = 'state.json'

/** Where a feed's fetches keep what they need: below `state/<catalog>`. */
export function pullDirOf(dir: string, feed: string): string {
  return join(dir, 'pull', feed)
}

/** Nothing remembered costs one fetch more, so a file that cannot be understood counts as none. */
export async function readPullState(pullDir: string): Promise<PullState> {
  try {
    return pullState.parse(JSON.parse((await ifPresent(readFile(join(pullDir, fileName), 'utf8'))) ?? '{}'))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return pullState.parse({})
    throw error
  }
}

export function writePullState(pullDir: string, state: PullState): Promise<void> {
  return writeDurably(join(pullDir, fileName), `${JSON.stringify(state)}\n`, join(pullDir, '.state.tmp'))
}

/** What the schedule of a feed is called in Redis. */
export function scheduleIdOf({ name }: Pick<FeedConfig, 'name'>): string {
  return `pull-${name}`
}
