import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { FeedMode } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { ClaimIds, claimFileName, isClaimId } from './claim-name.ts'
import { copyDurably, makeFolder, syncFolder, writeDurably } from './durable.ts'
import { cleanName, rawNameOf } from './entry-name.ts'
import type { ClaimId, Decision } from './model.ts'
import { readSides } from './read-sides.ts'

interface PuttingFile {
  /** `state/<catalog>/inbox`, created when it is not there. */
  inboxDir: string
  feed: FeedName
  mode: FeedMode
  path: string
  /** Every product of the file is sent again, changed or not. */
  resend?: boolean
  /** As of when its name says that it holds; ms since the epoch. */
  asOfMs?: number | undefined
  clock?: Clock
}

/**
 * Copies a file into the inbox, whole or not at all; the holder of the state lock accepts it from there, with what its
 * side files say. The claim finds
 * its line in the manifest (`fileOf`).
 */
export async function putFile(putting: PuttingFile): Promise<ClaimId> {
  const { inboxDir, feed, mode, path, resend = false, asOfMs, clock = systemClock } = putting
  await requireRegular(path)
  const { expect } = await readSides(dirname(path), rawNameOf(Buffer.from(basename(path))))
  await makeFolder(inboxDir)
  const claim = new ClaimIds(clock).next()
  const fileName = claimFileName({
    claim,
    feed,
    mode,
    resend,
    grownFrom: undefined,
    asOfMs,
    expect,
    name: cleanName(basename(path)),
  })
  await copyDurably(path, join(inboxDir, fileName), join(inboxDir, temporaryName(claim)))
  await syncFolder(inboxDir)
  return claim
}

interface PuttingText {
  inboxDir: string
  feed: FeedName
  mode: FeedMode
  /** Under which it appears among the imports. */
  name: string
  text: string
  clock?: Clock
}

/** Like `putFile`, for a file that a command makes itself: no copy of it lies anywhere else. */
export async function putText(putting: PuttingText): Promise<ClaimId> {
  const { inboxDir, feed, mode, name, text, clock = systemClock } = putting
  await makeFolder(inboxDir)
  const claim = new ClaimIds(clock).next()
  const fileName = claimFileName({
    claim,
    feed,
    mode,
    resend: false,
    grownFrom: undefined,
    name: cleanName(name),
  })
  await writeDurably(join(inboxDir, fileName), text, join(inboxDir, temporaryName(claim)))
  return claim
}

interface PuttingDecision {
  inboxDir: string
  decision: Decision
  clock?: Clock
}

/** Puts a decision into the inbox; returns the request under which it will stand in the manifest. */
export async function putDecision({
  inboxDir,
  decision,
  clock = systemClock,
}: PuttingDecision): Promise<string> {
  await makeFolder(inboxDir)
  const request = new ClaimIds(clock).next()
  const temporary = join(inboxDir, temporaryName(request))
  await writeDurably(join(inboxDir, request + decisionSuffix), `${JSON.stringify(decision)}\n`, temporary)
  return request
}

const decisionSuffix = '~decision.json'

/** The request of a decision's file; undefined for other names. */
export function requestOf(fileName: string): string | undefined {
  if (!fileName.endsWith(decisionSuffix)) return undefined
  const request = fileName.slice(0, -decisionSuffix.length)
  return isClaimId(request) ? request : undefined
}

function temporaryName(id: string): string {
  return `.${id}.tmp`
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
