import { once } from 'node:events'
import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import type { KeyLookup, MirrorChunk } from './model.ts'
import { type Mirror, MirrorReader } from './reader.ts'
import type { CommitRequest, MirrorAnswer, MirrorRequest, SentError, ThreadOptions } from './thread.ts'

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

/** A change that the thread was sent, or is to be sent with the next ones. */
interface Waiting {
  id: number
  /** The products that it was planned for. */
  ids: ReadonlySet<ProductId>
  committed: PromiseWithResolvers<void>
}

interface Planned {
  ids: readonly ProductId[]
  chunk: MirrorChunk | undefined
  gather: boolean
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
  #gathered: CommitRequest[] = []
  /** Plans are made one after another. */
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

  update(
    ids: readonly ProductId[],
    plan: Parameters<Mirror['update']>[1],
    { gather = false } = {},
  ): Promise<void> {
    return this.#inTurn(async () => {
      await this.#until((waiting) => ids.some((id) => waiting.ids.has(id)))
      return { ids, chunk: plan(this.read(ids)), gather }
    })
  }

  updateByKey(lookup: KeyLookup, plan: Parameters<Mirror['updateByKey']>[1]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#until(() => true)
      const found = this.lookUp(lookup)
      const ids = [
        ...new Set([...found.values()].flatMap((matches) => (matches.length === 1 ? matches : []))),
      ]
      return { ids, chunk: plan(this.read(ids), found), gather: false }
    })
  }

  flush(): void {
    this.#post()
    // What is not planned yet, since it waits for a change under way, is not left behind.
    void this.#tail.then(() => this.#post())
  }

  #post(): void {
    for (const request of this.#gathered.splice(0)) {
      this.#worker.postMessage(request, [request.chunk.buffer])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail
    await this.#until(() => true)
    this[Symbol.dispose]()
    if (this.#worker.threadId === -1) return
    const ended = once(this.#worker, 'exit')
    this.#failure ??= new StorageError('mirror-closed', 'the mirror is closed')
    this.#worker.postMessage({ kind: 'close' } satisfies MirrorRequest)
    const giveUp = new AbortController()
    const late = this.#options.clock.sleep(closeMs, giveUp.signal).then(
      () => this.#worker.terminate(),
      () => undefined,
    )
    await Promise.race([ended, late])
    giveUp.abort()
  }

  /** Resolves when the change is durable; the next one is planned before. What it was planned from is let go at once. */
  #inTurn(plan: () => Promise<Planned>): Promise<void> {
    const turn = this.#tail.then(async () => {
      if (this.#failure !== undefined) throw this.#failure
      return { durable: this.#send(await plan()) }
    })
    this.#tail = turn.catch(() => undefined)
    return turn.then(({ durable }) => durable)
  }

  /** Resolves when no such change is under way any more: what it changes is there to be read, or has failed. */
  async #until(isMeant: (waiting: Waiting) => boolean): Promise<void> {
    const meant = this.#waiting.filter(isMeant)
    if (meant.length > 0) this.#post()
    await Promise.allSettled(meant.map(({ committed }) => committed.promise))
  }

  #send({ ids, chunk, gather }: Planned): Promise<void> | undefined {
    if (!chunk) return undefined
    const id = this.#nextId++
    const committed = Promise.withResolvers<void>()
    this.#waiting.push({ id, ids: new Set(ids), committed })
    this.#gathered.push({ kind: 'commit', id, chunk: serialize(chunk), nowMs: this.#options.clock.now() })
    if (!gather) this.#post()
    return committed.promise
  }

  #take(answer: MirrorAnswer): void {
    switch (answer.kind) {
      case 'open':
      case 'log':
        return
      case 'committed':
        for (const { committed } of this.#answered(answer.upTo)) committed.resolve()
        return
      case 'failed':
        for (const { committed } of this.#answered(answer.upTo))
          committed.reject(receivedError(answer.failure))
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
    for (const { committed } of this.#answered(this.#nextId)) committed.reject(this.#failure)
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
