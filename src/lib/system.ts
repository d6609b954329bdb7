import { closeSync, constants, fsync, fsyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { systemErrorCode } from './errors.ts'

/** Network shares and some user-space file systems cannot sync a folder; nothing more can be done there. */
const folderSyncUnsupported = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'EISDIR', 'EBADF'])

/** Makes renames, creations and removals in a folder survive a power loss. */
export async function syncFolder(dir: string): Promise<void> {
  const folder = openSync(dir, folderFlags)
  try {
    await syncNumber(folder).catch(passUnsupported)
  } finally {
    closeSync(folder)
  }
}

const syncNumber = promisify(fsync)

/** The same at once. */
export function syncFolderNow(dir: string): void {
  const folder = openSync(dir, folderFlags)
  try {
    fsyncSync(folder)
  } catch (error) {
    passUnsupported(error)
  } finally {
    closeSync(folder)
  }
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY

function passUnsupported(error: unknown): void {
  if (!folderSyncUnsupported.has(systemErrorCode(error) ?? '')) throw error
}

/** Signals nobody; an existing process of another user counts, too. */
export function isProcess(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return systemErrorCode(error) === 'EPERM'
  }
}
