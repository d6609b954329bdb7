import { statSync } from 'node:fs'
import { StorageError } from './errors.ts'

const lookAtFileEveryMs = 2_000

/**
 * Which file this is, whatever its name: inode and time of birth. Where a file system keeps no time of birth, none or one
 * that changes stands in its place: then the inode alone counts, as for a file that has just been made.
 */
export function fileIdentity(file: string): string {
  const { ino, birthtimeNs, ctimeNs } = statSync(file, { bigint: true })
  const hasBirth = birthtimeNs !== 0n && birthtimeNs !== ctimeNs
  return hasBirth ? `${ino}:${birthtimeNs}` : `${ino}`
}

/** False for a copy; true for a file that was moved inside its file system. */
export function isSameFile(one: string, other: string): boolean {
  const [[ino, birth], [otherIno, otherBirth]] = [one.split(':'), other.split(':')]
  return ino === otherIno && (birth === undefined || otherBirth === undefined || birth === otherBirth)
}

/** Tells once when the file is removed or replaced: nothing that is written then counts. */
export function watchFile(path: string, onLost: (error: StorageError) => void): Disposable {
  const identity = fileIdentity(path)
  const look = () => {
    try {
      if (isSameFile(fileIdentity(path), identity)) return
    } catch {
      // It is gone.
    }
    clearInterval(timer)
    const hint = 'Stop catalogd, put the file back or run catalogd restore <folder>, and start it again'
    onLost(
      new StorageError('database-replaced', `${path} was removed or replaced while it was used`, { hint }),
    )
  }
  const timer = setInterval(look, lookAtFileEveryMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
