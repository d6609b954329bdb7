import { chmod, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogName, FeedName } from '../lib/brand.ts'
import { makeFolder } from '../lib/durable.ts'
import { ifPresent } from '../lib/errors.ts'
import { privateFolderMode } from '../lib/private-modes.ts'
import type { ClaimId } from './model.ts'

/** Where things stand inside `state/<catalog>`. */
export function layoutOf(dir: string) {
  return {
    archiveDir: join(dir, 'archive'),
    inboxDir: join(dir, 'inbox'),
    failedDir: join(dir, 'failed'),
  }
}

/** Claimed files of a drop folder on another file system wait here for their copy. */
export function hiddenDirOf(dropDir: string, catalog: CatalogName): string {
  return join(dropDir, '.catalogd', encodeURIComponent(catalog))
}

const copyPrefix = '.copy-'
const compressPrefix = '.zst-'

export function copyName(fileName: string): string {
  return copyPrefix + fileName
}

export function compressName(fileName: string): string {
  return compressPrefix + fileName
}

export function isCompressName(fileName: string): boolean {
  return fileName.startsWith(compressPrefix)
}

/** Which claim a temporary file of the archive was made for; undefined when it is none. */
export function claimOfTemporary(fileName: string): ClaimId | undefined {
  const prefix = [copyPrefix, compressPrefix].find((candidate) => fileName.startsWith(candidate))
  return prefix && fileName.slice(prefix.length).split('~', 1)[0]
}

/** Folders below `state` that an earlier version made are closed to others. The folder itself may be somebody's own. */
export async function closeToOthers(dir: string): Promise<void> {
  await makeFolder(dir)
  // Not ours to change where another user owns it.
  await chmod(dir, privateFolderMode).catch(() => undefined)
}

/** Whether other users may enter or list a folder. */
export async function isOpenToOthers(dir: string): Promise<boolean> {
  return ((await stat(dir)).mode & 0o007) !== 0
}

/** Stands beside each file that was refused whole. */
export const failedReportSuffix = '.report.json'

/** Refused files stay here until somebody takes them out; nothing else removes them. */
export function failedDirOf(dir: string, feed: FeedName): string {
  return join(layoutOf(dir).failedDir, encodeURIComponent(feed))
}

/** Reports are counted: of a file that found no room on the disk only the report is there. */
export async function countFailedFiles(dir: string, feed: FeedName): Promise<number> {
  const names = await ifPresent(readdir(failedDirOf(dir, feed)))
  return names?.filter((name) => name.endsWith(failedReportSuffix)).length ?? 0
}

/** Removes a refused file, with its report, of which the rest has come meanwhile. Safe to repeat. */
export async function removeFailedFile(
  folder: string,
  { claim, name }: { claim: ClaimId; name: string },
): Promise<void> {
  for (const candidate of [name, `${claim}-${name}`]) {
    const path = join(folder, candidate)
    if ((await claimOfReport(`${path}${failedReportSuffix}`)) !== claim) continue
    // The report last: without it nobody would know whose file it was.
    for (const suffix of ['', '.zst', failedReportSuffix]) await rm(`${path}${suffix}`, { force: true })
  }
}

/** Undefined where there is none; empty where it does not say. */
export async function claimOfReport(path: string): Promise<ClaimId | undefined> {
  try {
    const text = await ifPresent(readFile(path, 'utf8'))
    return text === undefined ? undefined : String(JSON.parse(text).claim ?? '')
  } catch {
    return ''
  }
}
