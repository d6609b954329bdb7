import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { FeedMode } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { copyDurably, makeFolder, writeDurably } from '../lib/durable.ts'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { syncFolder } from '../lib/system.ts'
import { ClaimIds, claimFileName, isClaimId } from './claim-name.ts'
import { cleanName, rawNameOf } from './entry-name.ts'
import type { ClaimId, Decision } from './model.ts'
import { readSides } from './read-sides.ts'

interface Putting {
  /** `state/<catalog>/inbox`, created when it is not there. */
  inboxDir: string
  clock?: Clock
}

interface PuttingFile extends Putting {
  feed: FeedName
  mode: FeedMode
}

/**
 * Copies a file into the inbox, whole or not at all; the holder of the state lock accepts it from there, with what its
 * side files say. The claim finds its line in the manifest (`fileOf`).
 */
export async function putFile({
  path,
  ...putting
}: PuttingFile & {
  path: string
  /** Every product of the file is sent again, changed or not. */
  resend?: boolean
  /** As of when its name says that it holds; ms since the epoch. */
  asOfMs?: number | undefined
}): Promise<ClaimId> {
  await requireRegular(path)
  const { expect } = await readSides(dirname(path), rawNameOf(Buffer.from(basename(path))))
  const nameOf = (claim: ClaimId) =>
    claimFileName({ ...putting, claim, expect, name: cleanName(basename(path)) })
  return put(putting, nameOf, async (to, temporary) => {
    await copyDurably(path, to, temporary)
    await syncFolder(putting.inboxDir)
  })
}

/** Like `putFile`, for a file that a command makes itself: no copy of it lies anywhere else. */
export function putText({
  name,
  text,
  ...putting
}: PuttingFile & {
  /** Under which it appears among the imports. */
  name: string
  text: string
}): Promise<ClaimId> {
  const nameOf = (claim: ClaimId) => claimFileName({ ...putting, claim, name: cleanName(name) })
  return put(putting, nameOf, (to, temporary) => writeDurably(to, text, temporary))
}

/** Puts a decision into the inbox; returns the request under which it will stand in the manifest. */
export function putDecision({ decision, ...putting }: Putting & { decision: Decision }): Promise<string> {
  const text = `${JSON.stringify(decision)}\n`
  const nameOf = (request: string) => request + decisionSuffix
  return put(putting, nameOf, (to, temporary) => writeDurably(to, text, temporary))
}

async function put(
  { inboxDir, clock = systemClock }: Putting,
  nameOf: (id: string) => string,
  write: (to: string, temporary: string) => Promise<void>,
): Promise<string> {
  await makeFolder(inboxDir)
  const id = new ClaimIds(clock).next()
  await write(join(inboxDir, nameOf(id)), join(inboxDir, `.${id}.tmp`))
  return id
}

const decisionSuffix = '~decision.json'

/** The request of a decision's file; undefined for other names. */
export function requestOf(fileName: string): string | undefined {
  if (!fileName.endsWith(decisionSuffix)) return undefined
  const request = fileName.slice(0, -decisionSuffix.length)
  return isClaimId(request) ? request : undefined
}

async function requireRegular(path: string): Promise<void> {
  try {
    // A link is followed here: the operator named it.
    if ((await stat(path)).isFile()) return
  } catch (cause) {
    throw new SourceError('file-unreadable', `${path} cannot be read (${systemErrorCode(cause) ?? cause})`, {
      cause,
    })
  }
  throw new SourceError('file-unreadable', `${path} is not a regular file`)
}
