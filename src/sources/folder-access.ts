import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { makeFolder } from '../lib/durable.ts'
import { describeError, OperatingError, SourceError, systemErrorCode } from '../lib/errors.ts'

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
