import { join } from 'node:path'
import type { FeedMode, SideKind } from '../config/model.ts'
import type { FeedName } from '../lib/brand.ts'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import { claimFile, type SeenFile } from './claim-file.ts'
import { type ClaimParts, claimFileName } from './claim-name.ts'
import { displayName, entryPath, type RawName } from './entry-name.ts'
import type { FileCalls } from './file-calls.ts'
import { readSides, type SideFile, type Sides } from './read-sides.ts'

/** A settled file of a drop folder. */
export interface Candidate extends SeenFile {
  raw: RawName
  mode: FeedMode
  /** As of when it holds, where its name says so. */
  asOfMs?: number
}

export interface DropPlace {
  feed: FeedName
  dropDir: string
  /** See `claimFile`. */
  takesChanged: boolean
  /** How long a copied file's original is kept to see whether it grows. */
  keepCopiedMs: number
  /** Which side file a file has to have. */
  verify: SideKind | undefined
}

export interface Claimed {
  parts: ClaimParts
  raw: RawName
  bytes: number
  /** Where the file is now: in the archive, or in the hidden folder when it has to be copied. */
  path: string
  /** What stood beside it; to be removed with its acceptance. */
  sides: readonly SideFile[]
}

/** `waiting`: its side file is not there, or does not say anything yet. */
export type CandidateResult =
  | { kind: 'claimed'; claimed: Claimed }
  | { kind: 'changed' }
  | { kind: 'waiting'; for: SideKind }
  | { kind: 'refused'; error: unknown }

/** `md5sum x > x.md5` creates the side file empty and fills it when it has read the whole file. */
const unreadableMs = 60_000

interface Claiming {
  place: DropPlace
  candidate: Candidate
  parts: ClaimParts
  /** Where claimed files of the drop folder go. */
  folder: string
  now: number
  /** See `claimFile`. */
  alongside?: (() => Promise<unknown>) | undefined
  calls: FileCalls
}

/**
 * Takes one file with what its side files say of it, which stands in the name of the claimed file. What goes
 * wrong with one file concerns that file alone.
 */
export async function claimCandidate({
  place,
  candidate,
  parts,
  folder,
  now,
  alongside,
  calls,
}: Claiming): Promise<CandidateResult> {
  const { raw } = candidate
  const { dropDir, takesChanged } = place
  try {
    const sides = await readSides(dropDir, raw, calls)
    const missing = missingSide(place, sides, now)
    if (missing && sides.unnameable.includes(missing)) throw tooLongFor(missing, place, raw)
    if (missing) return { kind: 'waiting', for: missing }
    const named = { ...parts, expect: sides.expect }
    const path = join(folder, claimFileName(named))
    const from = entryPath(dropDir, raw)
    const result = await claimFile({ from, to: path, seen: candidate, takesChanged, alongside, calls })
    if (result.kind !== 'claimed') return { kind: 'changed' }
    return { kind: 'claimed', claimed: { parts: named, raw, bytes: result.bytes, path, sides: sides.files } }
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === undefined || sharedTroubles.has(code)) throw error
    return { kind: 'refused', error }
  }
}

/** Of the disk or of this process: the other files of the folder would fare no better. */
const sharedTroubles: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EXDEV', 'EMFILE', 'ENFILE', 'ENOMEM'],
])

function tooLongFor(kind: SideKind, { dropDir }: DropPlace, raw: RawName): SourceError {
  const name = displayName(raw)
  return new SourceError(
    'name-too-long',
    `${name} in ${dropDir} cannot be taken: the name leaves no room for that of its side file (.${kind})`,
    { hint: 'Let the exporter give shorter names, or take verify out of the configuration of the feed' },
  )
}

/** The kind of side file that a file waits for; undefined: none. `now`: since the epoch. */
export function missingSide(
  { verify }: Partial<Pick<DropPlace, 'verify'>>,
  { expect, unreadableSinceMs }: Sides,
  now: number,
): SideKind | undefined {
  const { unreadable } = expect ?? {}
  if (unreadable !== undefined && unreadableSinceMs !== undefined) {
    if (Math.abs(now - unreadableSinceMs) < unreadableMs) return unreadable
  }
  const isThere = verify === undefined || expect?.[verify] !== undefined || unreadable === verify
  return isThere ? undefined : verify
}
