import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogName } from '../lib/brand.ts'
import { privateFolderMode } from '../lib/private-modes.ts'
import { makeFolder } from './durable.ts'
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
