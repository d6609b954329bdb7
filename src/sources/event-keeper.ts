import { systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RawName } from './entry-name.ts'
import { folderIdentity } from './folder-access.ts'
import { announcesChanges, openFolderEvents } from './folder-events.ts'
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
    await this.pause()
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

  /**
   * Closes the events until the next `refresh`. While they are open, chokidar reads the whole folder again and again as
   * things happen in it, which costs more than accepting does when there are thousands of files.
   */
  async pause(): Promise<void> {
    const events = this.#events
    this.#events = undefined
    await events?.[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pause()
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
