import { constants } from 'node:fs'
import { access, chmod, copyFile, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { describeError, ifPresent, OperatingError, SourceError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'
import { syncFolder } from '../lib/system.ts'

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
export async function writeDurably(path: string, content: string | Buffer, temporary: string): Promise<void> {
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

/** Foreign owners under `fs.protected_hardlinks`, file systems without links, too many links, other file systems. */
export const linkUnsupported = new Set([
  'EPERM',
  'EACCES',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EXDEV',
])

export async function removeIfPresent(path: string | Buffer): Promise<void> {
  await ifPresent(unlink(path))
}

/** Creates a drop folder that is missing; throws a SourceError that says what to do when it cannot be used. */
export async function ensureDropFolder(dir: string): Promise<void> {
  try {
    // Others are to write there, as far as the umask lets them.
    await makeFolder(dir, 0o777)
  } catch (cause) {
    throw new SourceError('drop-folder', `The drop folder ${dir} cannot be created (${nameOf(cause)})`, {
      hint: `Create it, and let ${whoWeAre()} read and write there`,
      cause,
    })
  }
  try {
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new SourceError(
      'drop-folder',
      `The drop folder ${dir} cannot be read and written (${nameOf(cause)})`,
      {
        hint: accessHint(dir),
        cause,
      },
    )
  }
}

/** For a file that could not be opened or renamed; what says itself what to do is left as it is. */
export function fileAccessError(dir: string, name: string, cause: unknown): SourceError {
  if (cause instanceof SourceError) return cause
  const isDenied = ['EACCES', 'EPERM'].includes(systemErrorCode(cause) ?? '')
  return new SourceError('drop-file', `${name} in ${dir} cannot be taken (${nameOf(cause)})`, {
    hint: isDenied
      ? `Let ${whoWeAre()} read the file and write in its folder: chmod a+r, or write files under that user`
      : 'Look at that file and its disk; it is tried again',
    cause,
  })
}

/** Something outside the program is wrong; everything else is a bug. Node gives its own errors codes with `ERR_`. */
export function isOperatingFailure(error: unknown): boolean {
  const code = systemErrorCode(error)
  return error instanceof OperatingError || (code !== undefined && !code.startsWith('ERR_'))
}

/** For anything else that went wrong with a drop folder. */
export function describeFolderError(dir: string, error: unknown): string {
  if (error instanceof OperatingError) return describeError(error)
  return `The folder ${dir} cannot be used (${describeError(error)}); it is tried again`
}

/** Tells a folder from another of the same path. */
export async function folderIdentity(dir: string): Promise<string> {
  const { dev, ino } = await stat(dir)
  return `${dev}:${ino}`
}

function accessHint(dir: string): string {
  return `catalogd runs as ${whoWeAre()}: chown or chmod the folder so that this user can read, write and enter it (chmod u+rwx ${dir})`
}

function whoWeAre(): string {
  return `uid ${process.geteuid?.() ?? '?'} (gid ${process.getegid?.() ?? '?'})`
}

function nameOf(error: unknown): string {
  return systemErrorCode(error) ?? describeError(error)
}
