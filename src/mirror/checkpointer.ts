import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import type { MessagePort } from 'node:worker_threads'

/**
 * Runs in a thread beside the writer (`Watchdog.runBeside`). Three times: each moves what came during the one before, so
 * that little is left. Whatever fails is tried again by the writer, which tells it.
 */
export const moveLog = `(href) => {
  const { DatabaseSync } = require('node:sqlite')
  try {
    const database = new DatabaseSync(new URL(href))
    database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -64')
    for (let pass = 0; pass < 3; pass++) database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()
    database.close()
  } catch {}
  return 'moved'
}`

/**
 * Moves the log of the mirror into its file beside the writer, which waits for two fsyncs of much otherwise, and all urgent
 * changes with it. The writer ends it (`onMoved`), since only then is the log begun anew.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #href: string
  readonly #port: MessagePort
  #isMoving = false

  /** `port`: to where `moveLog` runs; closed with this. */
  constructor(file: string, port: MessagePort, onMoved: () => void) {
    // Never made anew where somebody has removed it.
    this.#href = Object.assign(pathToFileURL(file), { search: 'mode=rw' }).href
    this.#port = port
    port.on('message', () => {
      this.#isMoving = false
      onMoved()
    })
    port.unref()
  }

  move(): void {
    if (this.#isMoving) return
    this.#isMoving = true
    this.#port.postMessage(this.#href)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#port.ref()
    // The other end may have gone.
    if (this.#isMoving) await Promise.race([once(this.#port, 'message'), once(this.#port, 'close')])
    this.#port.close()
  }
}
