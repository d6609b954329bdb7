import fs, { type Stats } from 'node:fs'
import { systemErrorCode } from '../lib/errors.ts'
import { privateFolderMode } from '../lib/private-modes.ts'

interface Acquiring {
  /** The folder that is the lock. */
  path: string
  staleMs: number
  renewMs: number
  onLost: (cause: Error) => void
}

export interface LockFolder {
  /** Tells this holding from others of the same path. */
  identity: string
  release(): Promise<void>
  /** Stops renewing without removing the folder, which is another's by now. */
  abandon(): void
}

type StatCallback = (error: NodeJS.ErrnoException | null, stats?: Stats) => void

/** Makes the lock folder and renews it. Undefined when another holder has it. */
export async function acquireLockFolder({
  path,
  staleMs,
  renewMs,
  onLost,
}: Acquiring): Promise<LockFolder | undefined> {
  let identity: string | undefined
  let isMine = true
  // The library compares times only; another's folder may carry the same one.
  const stat = (file: string, callback: StatCallback) =>
    fs.stat(file, (error, stats) => {
      const isAnothers = identity !== undefined && !(isMine && stats && folderIdentity(stats) === identity)
      callback(isAnothers && !error ? goneError(file) : error, stats)
    })
  const { rmdir, utimes, realpath } = fs
  const mkdir = (folder: string, callback: fs.NoParamCallback) =>
    fs.mkdir(folder, privateFolderMode, callback)
  // Late: whoever only asks who holds the lock needs no library.
  const { lock } = await import('proper-lockfile')
  try {
    const release = await lock(path, {
      lockfilePath: path,
      realpath: false,
      stale: staleMs,
      update: renewMs,
      fs: { mkdir, rmdir, utimes, realpath, stat },
      onCompromised: (cause) => {
        if (isMine) onLost(cause)
        isMine = false
      },
    })
    identity = folderIdentity(await fs.promises.stat(path))
    return {
      identity,
      release: async () => {
        if (isMine) await release()
        isMine = false
      },
      abandon: () => {
        isMine = false
      },
    }
  } catch (error) {
    if (systemErrorCode(error) === 'ELOCKED') return undefined
    throw error
  }
}

export function folderIdentity(stats: Stats): string {
  return `${stats.ino}:${stats.birthtimeMs}`
}

function goneError(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${path} belongs to another process now`), { code: 'ENOENT' })
}
