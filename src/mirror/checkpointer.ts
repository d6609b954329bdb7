import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/**
 * Three times: each moves what came during the one before, so that little is left. Whatever fails is tried again by the
 * writer, which tells it.
 */
const source = `
const { parentPort, workerData: href } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
parentPort.on('message', () => {
  try {
    const database = new DatabaseSync(new URL(href))
    database.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -64')
    for (let pass = 0; pass < 3; pass++) database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()
    database.close()
  } catch {}
  parentPort.postMessage('moved')
})
`

/**
 * Moves the log of the mirror into its file beside the writer, which waits for two fsyncs of much otherwise, and all urgent
 * changes with it. The writer ends it (`onMoved`), since only then is the log begun anew.
 */
export class Checkpointer implements AsyncDisposable {
  readonly #worker: Worker
  #isMoving = false

  constructor(file: string, onMoved: () => void) {
    // Never made anew where somebody has removed it.
    const { href } = Object.assign(pathToFileURL(file), { search: 'mode=rw' })
    // Not the options of this process: they may say how a source is to be read.
    this.#worker = new Worker(source, { eval: true, execArgv: [], workerData: href })
    this.#worker.unref()
    this.#worker.on('message', () => {
      this.#isMoving = false
      onMoved()
    })
  }

  move(): void {
    if (this.#isMoving) return
    this.#isMoving = true
    this.#worker.postMessage('move')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
