import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../lib/log.ts'
import type { Acceptor } from './acceptor.ts'
import { type ClaimParts, claimFileName, parseClaimFileName } from './claim-name.ts'
import { removeIfPresent, syncFile, syncFolder } from './durable.ts'
import { lstatIfPresent, scanIfPresent } from './folder-scan.ts'
import type { GrowthWatch } from './growth.ts'
import { claimOfTemporary, isCompressName } from './layout.ts'
import type { AcceptLine } from './model.ts'

interface Recovery {
  acceptor: Acceptor
  growth: GrowthWatch
  log: Log
}

interface Found {
  parts: ClaimParts
  path: string
}

const linesAtOnce = 1000

/**
 * Completes what a crash cut off in the archive: temporary files go, claimed files without a line get one, in the order
 * of their claims. Files in use are handed to the growth watch. Returns what was accepted. Safe to repeat and to run
 * beside accepting: claims in flight are left alone.
 */
export async function recoverArchive({ acceptor, growth, log }: Recovery): Promise<AcceptLine[]> {
  const { archiveDir, manifest } = acceptor
  const unlined: Found[] = []
  for await (const { raw, kind } of scanIfPresent(archiveDir)) {
    if (kind === 'folder') continue
    if (isLeftBehind(raw, acceptor)) await removeIfPresent(join(archiveDir, raw))
    const found = foundIn(archiveDir, raw)
    if (!found || acceptor.isInFlight(found.parts.claim)) continue
    const accept = manifest.fileOf(found.parts.claim)
    if (accept) growth.watch(accept)
    else if (kind === 'file') unlined.push(found)
  }
  unlined.sort((a, b) => (a.parts.claim < b.parts.claim ? -1 : 1))
  const accepted: AcceptLine[] = []
  for (let from = 0; from < unlined.length; from += linesAtOnce) {
    accepted.push(...(await writeLines(acceptor, unlined.slice(from, from + linesAtOnce))))
  }
  for (const { claim, feed, name } of accepted)
    log.info({ claim, feed, file: name }, 'accepted a file claimed earlier')
  return accepted
}

/**
 * Completes what was claimed in a hidden folder and not yet copied; call before `recoverArchive`, which writes the
 * lines. Copies that are accepted already are watched and removed.
 */
export async function recoverHidden({ acceptor, growth, log }: Recovery, hiddenDir: string): Promise<void> {
  for await (const { raw, kind } of scanIfPresent(hiddenDir)) {
    const found = foundIn(hiddenDir, raw)
    if (!found || kind !== 'file' || acceptor.isInFlight(found.parts.claim)) continue
    const { claim, feed, name } = found.parts
    const accept = acceptor.manifest.fileOf(claim)
    if (accept) {
      growth.watchCopied({ accept, path: found.path, keepMs: 0 })
      continue
    }
    const fileName = claimFileName(found.parts)
    // A copy under its final name is whole; when the original has grown since, the growth watch sees it.
    if (await lstatIfPresent(join(acceptor.archiveDir, fileName))) continue
    await acceptor.copyIntoArchive(found.path, fileName)
    log.info({ claim, feed, file: name }, 'copied a file claimed earlier')
  }
}

/** Archiving runs beside this: what it compresses into is its own, which it writes anew after a crash and removes. */
function isLeftBehind(fileName: string, acceptor: Acceptor): boolean {
  const claim = claimOfTemporary(fileName)
  if (claim === undefined || acceptor.isInFlight(claim)) return false
  return !isCompressName(fileName) || acceptor.manifest.fileOf(claim) === undefined
}

async function writeLines(acceptor: Acceptor, files: readonly Found[]): Promise<AcceptLine[]> {
  const lines = []
  for (const { parts, path } of files) {
    await syncFile(path)
    lines.push(acceptor.lineOf(parts, (await lstat(path)).size))
  }
  await syncFolder(acceptor.archiveDir)
  return acceptor.append(lines)
}

/** Names of claims are UTF-8; the raw form is one character a byte. */
function foundIn(dir: string, raw: string): Found | undefined {
  const fileName = Buffer.from(raw, 'latin1').toString('utf8')
  const parts = parseClaimFileName(fileName)
  return parts && { parts, path: join(dir, fileName) }
}
