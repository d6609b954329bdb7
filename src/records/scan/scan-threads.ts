import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { programFile } from '../../lib/program-file.ts'
import type { RangeOptions, RangeResult } from './scan-range.ts'
import type { RangeMessage } from './scan-worker.ts'

/** Starting a thread takes as long as reading so much. */
export const bytesMin = 16 * 2 ** 20
const threadsMax = 4

interface Running {
  onBytes: (bytes: number) => void
  signal: AbortSignal | undefined
}

/**
 * The threads that scan one file, each a range of it. They start when they are made: while the file's beginning is looked at
 * and the index is read. Their end is not waited for.
 */
export class ScanThreads implements Disposable {
  readonly #threads: readonly ScanThread[]

  constructor(bytes: number) {
    const length = Math.max(1, Math.min(threadsMax, availableParallelism(), Math.floor(bytes / bytesMin)))
    this.#threads = Array.from({ length }, () => new ScanThread())
  }

  get length(): number {
    return this.#threads.length
  }

  /** Once. One `range` for each thread. */
  async run(ranges: readonly RangeOptions[], { onBytes, signal }: Running): Promise<RangeResult[]> {
    signal?.throwIfAborted()
    const aborted = Promise.withResolvers<never>()
    const abort = () => aborted.reject(signal?.reason)
    signal?.addEventListener('abort', abort)
    try {
      const results = this.#threads.map((thread, at) => thread.run(ranges[at] as RangeOptions, onBytes))
      return await Promise.race([Promise.all(results), aborted.promise])
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  [Symbol.dispose](): void {
    for (const thread of this.#threads) thread[Symbol.dispose]()
  }
}

class ScanThread implements Disposable {
  readonly #worker: Worker
  readonly #result = Promise.withResolvers<RangeResult>()
  #onBytes: (bytes: number) => void = () => undefined

  constructor() {
    const { promise, resolve, reject } = this.#result
    // Nobody may ever ask for it.
    promise.catch(() => undefined)
    this.#worker = new Worker(programFile('./scan-worker.ts', import.meta.url))
    this.#worker.on('message', (message: RangeMessage) => {
      if ('result' in message) resolve(message.result)
      else this.#onBytes(message.bytes)
    })
    this.#worker.on('error', reject)
    this.#worker.on('exit', () => reject(new Error('a thread that scans a file has ended')))
  }

  run(range: RangeOptions, onBytes: (bytes: number) => void): Promise<RangeResult> {
    this.#onBytes = onBytes
    this.#worker.postMessage(range)
    return this.#result.promise
  }

  [Symbol.dispose](): void {
    void this.#worker.terminate()
  }
}
