import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import type { KeyLookup, MirrorChunk } from './model.ts'
import { type Mirror, MirrorReader } from './reader.ts'
import type { MirrorAnswer, MirrorRequest, SentError, ThreadOptions } from './thread.ts'

/** A call to Redis may hang: then the thread is ended from outside, which the file survives as it does a crash. */
const closeMs = 10_000

interface LiveMirrorOptions {
  /** The file that serves the mirror in the thread (`serveMirror`). */
  entry: URL
  /** What it is given, `ThreadOptions` included. */
  workerData: ThreadOptions
  clock: Clock
  log: Log
  /** Something may be due for delivery. */
  onOffered: () => void
  onFatal: (error: unknown) => void
}

interface Waiting {
  id: number
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * The mirror in the process that imports: it reads on a connection of its own, and sends what changes to the thread that
 * writes.
 *
 * Open → failed (the thread cannot go on or has ended: every change is refused) → closed.
 */
export class LiveMirror extends MirrorReader implements Mirror, AsyncDisposable {
  readonly #options: LiveMirrorOptions
  readonly #worker: Worker
  #failure: unknown
  #waiting: Waiting[] = []
  #nextId = 1
  /** Updates run one after another: what one reads, it alone changes. */
  #tail: Promise<unknown> = Promise.resolve()

  private constructor(options: LiveMirrorOptions, worker: Worker) {
    super(options.workerData.file)
    this.#options = options
    this.#worker = worker
    worker.on('message', (answer: MirrorAnswer) => this.#take(answer))
    worker.on('error', (error) => this.#fail(error))
    worker.on('exit', () => this.#fail(hasEnded()))
  }

  /** Throws what keeps the thread from opening the mirror. */
  static async open(options: LiveMirrorOptions): Promise<LiveMirror> {
    const worker = new Worker(options.entry, { workerData: options.workerData })
    const opened = new Promise<void>((resolve, reject) => {
      worker.on('message', (answer: MirrorAnswer) => {
        if (answer.kind === 'log') writeLine(options.log, answer.line)
        else if (answer.kind === 'open') resolve()
        else if (answer.kind === 'fatal') reject(receivedError(answer.failure))
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(hasEnded()))
    })
    try {
      await opened
      return new LiveMirror(options, worker)
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  async update(ids: readonly ProductId[], plan: Parameters<Mirror['update']>[1]): Promise<void> {
    await this.#inTurn(() => plan(this.read(ids)))
  }

  async updateByKey(lookup: KeyLookup, plan: Parameters<Mirror['updateByKey']>[1]): Promise<void> {
    await this.#inTurn(() => {
      const found = this.lookUp(lookup)
      const ids = new Set([...found.values()].flatMap((matches) => (matches.length === 1 ? matches : [])))
      return plan(this.read([...ids]), found)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail
    this[Symbol.dispose]()
    if (this.#worker.threadId === -1) return
    const ended = once(this.#worker, 'exit')
    this.#failure ??= new StorageError('mirror-closed', 'the mirror is closed')
    this.#send({ kind: 'close' })
    const giveUp = new AbortController()
    const late = this.#options.clock.sleep(closeMs, giveUp.signal).then(
      () => this.#worker.terminate(),
      () => undefined,
    )
    await Promise.race([ended, late])
    giveUp.abort()
  }

  async #inTurn(plan: () => MirrorChunk | undefined): Promise<void> {
    const run = this.#tail.then(async () => {
      if (this.#failure !== undefined) throw this.#failure
      const chunk = plan()
      if (chunk) await this.#commit(chunk)
    })
    this.#tail = run.catch(() => undefined)
    await run
  }

  #commit(chunk: MirrorChunk): Promise<void> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject })
      this.#send({ kind: 'commit', id, chunk, nowMs: this.#options.clock.now() })
    })
  }

  #send(request: MirrorRequest): void {
    this.#worker.postMessage(request)
  }

  #take(answer: MirrorAnswer): void {
    switch (answer.kind) {
      case 'open':
      case 'log':
        return
      case 'committed':
        for (const { resolve } of this.#answered(answer.upTo)) resolve()
        return
      case 'failed':
        for (const { reject } of this.#answered(answer.upTo)) reject(receivedError(answer.failure))
        return
      case 'offered':
        this.#options.onOffered()
        return
      case 'fatal':
        this.#fail(receivedError(answer.failure))
        return
      default:
        answer satisfies never
    }
  }

  #answered(upTo: number): Waiting[] {
    const answered = this.#waiting.filter(({ id }) => id <= upTo)
    this.#waiting = this.#waiting.filter(({ id }) => id > upTo)
    return answered
  }

  #fail(error: unknown): void {
    const isFirst = this.#failure === undefined
    this.#failure ??= error
    for (const { reject } of this.#answered(this.#nextId)) reject(this.#failure)
    if (isFirst) this.#options.onFatal(error)
  }
}

function hasEnded(): StorageError {
  return new StorageError('mirror-closed', 'the thread of the mirror has ended')
}

function receivedError({ code, message, hint }: SentError): StorageError {
  return new StorageError(code, message, hint === undefined ? {} : { hint })
}

/** A line of the thread's log goes out as one of this thread's. */
function writeLine(log: Log, line: string): void {
  const { level, msg, time: _, pid: __, ...members } = JSON.parse(line) as Record<string, unknown>
  log[level as Exclude<LogLevel, 'silent'>](members, String(msg))
}
