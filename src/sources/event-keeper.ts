import { watch } from 'node:fs'
import { realpath, statfs } from 'node:fs/promises'
import { basename } from 'node:path'
import { systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type RawName, rawNameOf } from './entry-name.ts'
import { folderIdentity } from './folder-access.ts'
import type { NoticeBoard } from './notices.ts'

interface EventKeeperOptions {
  dir: string
  /** Of the notice; the place is the feed or the inbox. */
  place: string
  notices: NoticeBoard
  log: Log
  onEvent: (raw: RawName | undefined) => void
}

/** How often a folder without events is looked at. */
const pollMs = 2_000

/**
 * Keeps the events of a folder open. closed → open; → failed (the system refuses, or there never are events): then
 * the folder has to be looked at more often. Each `refresh` tries again, and follows a folder that was replaced.
 */
export class EventKeeper implements AsyncDisposable {
  readonly #options: EventKeeperOptions
  #events: AsyncDisposable | undefined
  #identity = ''
  #hasFailed = false
  #isSilent = false

  constructor(options: EventKeeperOptions) {
    this.#options = options
  }

  /** The time between scans: as given while there are events. */
  scanMs(rescanMs: number): number {
    return this.#events && !this.#hasFailed && !this.#isSilent ? rescanMs : Math.min(rescanMs, pollMs)
  }

  /** Call with each scan, before it. True: events were opened just now. */
  async refresh(): Promise<boolean> {
    const { dir, onEvent } = this.#options
    const identity = await folderIdentity(dir)
    if (this.#events && !this.#hasFailed && identity === this.#identity) return false
    await this.#close()
    try {
      const onFailure = (error: Error) => {
        this.#fail(error)
        onEvent(undefined)
      }
      this.#events = await openFolderEvents({ dir, onEvent, onFailure })
      this.#identity = identity
      this.#hasFailed = false
      this.#isSilent = !(await announcesChanges(dir))
      if (this.#isSilent) this.#options.log.info({ dir }, 'a network folder: looked at every 2 s')
      this.#options.notices.clear(`watch:${this.#options.place}`, '')
      return true
    } catch (error) {
      this.#fail(error)
      return false
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }

  async #close(): Promise<void> {
    const events = this.#events
    this.#events = undefined
    await events?.[Symbol.asyncDispose]()
  }

  #fail(error: unknown): void {
    this.#hasFailed = true
    const { dir, place, notices } = this.#options
    const code = systemErrorCode(error) ?? String(error)
    const hint =
      code === 'ENOSPC' || code === 'EMFILE' || code === 'ENFILE'
        ? 'Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)'
        : 'Check the folder'
    const text = `The system does not announce changes of ${dir} (${code}); it is looked at every 2 s instead. ${hint}`
    notices.raise(`watch:${place}`, '', text)
  }
}

interface Watching {
  dir: string
  /** Something happened to an entry; undefined: look at all. */
  onEvent: (raw: RawName | undefined) => void
  /** Events stopped; close it and fall back to looking. */
  onFailure: (error: Error) => void
}

/** Events of one folder, as hints of where to look. Throws when the system refuses (`ENOSPC`, `EMFILE`, `EACCES`). */
export async function openFolderEvents({ dir, onEvent, onFailure }: Watching): Promise<AsyncDisposable> {
  // The configured folder may be a link; links inside it are not followed.
  const folder = await realpath(dir)
  const watcher = watch(folder, { encoding: 'buffer' }, (_event, name) =>
    onEvent(rawNameOfEvent(name, folder)),
  )
  watcher.on('error', onFailure)
  return { [Symbol.asyncDispose]: async () => watcher.close() }
}

/** An event of the folder itself (moved, removed) carries its own name. */
function rawNameOfEvent(name: Buffer | null, folder: string): RawName | undefined {
  return name === null || name.toString() === basename(folder) ? undefined : rawNameOf(name)
}

/** NFS, SMB, CIFS, SMB2, FUSE, 9p: what other hosts do there causes no events here. */
const silentTypes = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997])

async function announcesChanges(dir: string): Promise<boolean> {
  return !silentTypes.has((await statfs(dir)).type >>> 0)
}
