import { realpath, statfs } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { watch } from 'chokidar'
import { type RawName, rawNameOf } from './entry-name.ts'

interface Watching {
  dir: string
  /** Something happened to an entry; undefined: look at all. */
  onEvent: (raw: RawName | undefined) => void
  /** Events stopped; close it and fall back to looking. */
  onFailure: (error: Error) => void
}

/**
 * Events of one folder by chokidar, as hints of where to look. Only the folder itself is watched: chokidar would take
 * an inotify watch for every file in it. Rejects when the system refuses (`ENOSPC`, `EMFILE`, `EACCES`).
 */
export async function openFolderEvents({ dir, onEvent, onFailure }: Watching): Promise<AsyncDisposable> {
  // The configured folder may be a link; links inside it are not followed.
  const folder = await realpath(dir)
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    atomic: false,
    ignored: (path) => resolve(path) !== folder,
  })
  const onRaw = (_event: string, name: unknown) => onEvent(rawNameOfEvent(name, folder))
  try {
    await new Promise<void>((settle, reject) => {
      watcher.once('ready', settle)
      watcher.once('error', (error) => reject(asError(error)))
    })
  } catch (error) {
    await watcher.close()
    throw error
  }
  watcher.on('raw', onRaw)
  watcher.on('error', (error) => onFailure(asError(error)))
  return { [Symbol.asyncDispose]: () => watcher.close() }
}

/** An event of the folder itself (moved, removed) carries its own name; a name that is no UTF-8 arrives damaged. */
function rawNameOfEvent(name: unknown, folder: string): RawName | undefined {
  if (typeof name !== 'string' || name === basename(folder) || name.includes('\uFFFD')) return undefined
  return rawNameOf(Buffer.from(name, 'utf8'))
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** NFS, SMB, CIFS, SMB2, FUSE, 9p: what other hosts do there causes no events here. */
const silentTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997])

export async function announcesChanges(dir: string): Promise<boolean> {
  return !silentTypes.has((await statfs(dir)).type >>> 0)
}
