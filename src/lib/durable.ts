import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ifPresent } from './errors.ts'
import { privateFileMode, privateFolderMode } from './private-modes.ts'
import { syncFolder } from './system.ts'

/** Makes a file's content survive a power loss. Returns its size. */
export async function syncFile(path: string): Promise<number> {
  await using file = await open(path, 'r')
  await file.sync()
  return (await file.stat()).size
}

/** Creates a folder and those above it, durably. */
export async function makeFolder(dir: string, mode = privateFolderMode): Promise<void> {
  const first = await mkdir(dir, { recursive: true, mode })
  if (first === undefined) return
  for (let folder = dir; ; folder = dirname(folder)) {
    await syncFolder(dirname(folder))
    if (folder === first || folder === dirname(folder)) return
  }
}

/** Copies to `temporary`, syncs, renames to `to`. The caller syncs the folder. Returns the bytes copied. */
export async function copyDurably(from: string, to: string, temporary: string): Promise<number> {
  try {
    await copyFile(from, temporary, constants.COPYFILE_FICLONE)
    await chmod(temporary, privateFileMode)
    const bytes = await syncFile(temporary)
    await rename(temporary, to)
    return bytes
  } catch (error) {
    await removeIfPresent(temporary)
    throw error
  }
}

const partBytes = 1024 * 1024

/** Copies a file that may be very large, and tells after each part; in one step where the file system clones files. */
export async function copyInParts(
  from: string,
  to: string,
  { onPart, signal }: { onPart?: () => void; signal?: AbortSignal } = {},
): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE)
    return await chmod(to, privateFileMode)
  } catch {
    // Most file systems have no clones; anything else shows again below.
  }
  await using source = await open(from, 'r')
  await using target = await open(to, 'w', privateFileMode)
  const part = Buffer.allocUnsafeSlow(partBytes)
  const zeros = Buffer.alloc(partBytes)
  for (let at = 0; ; ) {
    signal?.throwIfAborted()
    const { bytesRead } = await source.read(part, 0, part.length, at)
    if (bytesRead === 0) return await target.truncate(at)
    // A file of holes takes no place on the disk, and neither does its copy.
    const isHole = part.compare(zeros, 0, bytesRead, 0, bytesRead) === 0
    for (let from = 0; from < bytesRead && !isHole; ) {
      from += (await target.write(part, from, bytesRead - from, at + from)).bytesWritten
    }
    at += bytesRead
    onPart?.()
  }
}

/** What was written is there whole or not at all. */
export async function moveDurably(from: string, to: string): Promise<void> {
  await syncFile(from)
  await rename(from, to)
  await syncFolder(dirname(to))
}

/** Writes a small file so that it is there whole or not at all. */
export async function writeDurably(
  path: string,
  content: string | Buffer | Iterable<string>,
  temporary: string,
): Promise<void> {
  try {
    await using file = await open(temporary, 'w', privateFileMode)
    await file.writeFile(content)
    await file.sync()
    await rename(temporary, path)
  } catch (error) {
    await removeIfPresent(temporary)
    throw error
  }
  await syncFolder(dirname(path))
}

export async function removeIfPresent(path: string | Buffer): Promise<void> {
  await ifPresent(unlink(path))
}
