import { constants, type Stats } from 'node:fs'
import { link, lstat, open, rename, unlink } from 'node:fs/promises'
import { systemErrorCode } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { type FileCalls, pooledCalls } from './file-calls.ts'
import { linkUnsupported } from './folder-access.ts'

/** How a file looked when it was found settled. */
export interface SeenFile {
  size: number
  mtimeMs: number
  inode: number
}

interface Claiming {
  from: Buffer
  to: string
  seen: SeenFile
  /** The file is taken even if it is not as it was seen (`settle: 0s`). */
  takesChanged: boolean
  /** What can be done while the renamed file is synced. */
  alongside?: (() => Promise<unknown>) | undefined
  calls?: FileCalls
}

/** `changed`: it must settle again. `not-regular`: a link, folder or device stands there now. */
export type ClaimResult = { kind: 'claimed'; bytes: number } | { kind: 'gone' | 'changed' | 'not-regular' }

/**
 * Takes a file out of a drop folder by renaming it within its file system, and makes its content durable. Vanishing and
 * being replaced at that moment are ordinary. Throws system errors; then the file is where it was.
 */
export async function claimFile(claiming: Claiming): Promise<ClaimResult> {
  const { from, to, seen, takesChanged, calls = pooledCalls } = claiming
  const file = await openRegular(from, calls)
  if (typeof file === 'string') return { kind: file }
  await using handle = file
  const before = await handle.stat()
  if (!before.isFile()) return { kind: 'not-regular' }
  if (!takesChanged && !isAsSeen(before, seen)) return { kind: 'changed' }
  try {
    await calls.rename(from, to)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return { kind: 'gone' }
    throw error
  }
  try {
    const result = await confirm({ ...claiming, calls, before, sync: () => handle.sync() })
    if (result.kind === 'claimed' && before.nlink === 1) await keepPrivate(to, calls)
    return result
  } catch (error) {
    await putBack(to, from)
    throw error
  }
}

/** A file of another user keeps its rights, unless we are root: it is protected by its folder then. */
async function keepPrivate(path: string, calls: FileCalls): Promise<void> {
  await calls.chmod(path, privateFileMode).catch(() => undefined)
}

async function openRegular(path: Buffer, calls: FileCalls) {
  try {
    // Links are not followed, and a named pipe does not block.
    return await calls.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT') return 'gone'
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EMLINK') return 'not-regular'
    throw error
  }
}

interface Confirming extends Claiming {
  calls: FileCalls
  before: Stats
  sync: () => Promise<void>
}

/** What was renamed may not be what was opened: the name was free to be replaced until then. */
async function confirm({
  to,
  from,
  before,
  seen,
  takesChanged,
  sync,
  alongside,
  calls,
}: Confirming): Promise<ClaimResult> {
  const [after] = await Promise.all([calls.lstat(to), sync(), alongside?.()])
  const isOpened = after.ino === before.ino
  if (!after.isFile()) {
    await putBack(to, from)
    return { kind: 'not-regular' }
  }
  // When something newer took the name already, the older state is accepted as it is.
  if (!takesChanged && !isAsSeen(after, seen) && (await putBack(to, from))) return { kind: 'changed' }
  if (!isOpened) await syncReplaced(to)
  return { kind: 'claimed', bytes: after.size }
}

async function syncReplaced(path: string): Promise<void> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  await handle.sync()
}

export function isAsSeen(stats: Stats, seen: SeenFile): boolean {
  return stats.size === seen.size && stats.mtimeMs === seen.mtimeMs && stats.ino === seen.inode
}

/** Undoes a claim without overwriting what has taken the name since. False when the file has to stay claimed. */
export async function putBack(claimed: string, origin: Buffer): Promise<boolean> {
  try {
    await link(claimed, origin)
    await unlink(claimed)
    return true
  } catch (error) {
    if (!linkUnsupported.has(systemErrorCode(error) ?? '')) return false
  }
  try {
    await lstat(origin)
    return false
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') return false
  }
  return rename(claimed, origin).then(
    () => true,
    () => false,
  )
}
