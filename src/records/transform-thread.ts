import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { systemClock } from '../lib/clock.ts'
import { programFile } from '../lib/program-file.ts'
import type { TransformRecord } from './transform-record.ts'
import type { Loaded, Outcome, TransformWorkerData } from './transform-worker.ts'

/** All outcomes; or the place of the record at which the thread had to be given up, and why where it ended by itself. */
export type Attempt =
  | { kind: 'done'; outcomes: readonly Outcome[] }
  | { kind: 'stuck'; at: number; reason: string | undefined }

/** Loading a file may take longer than a record: it may bring libraries along. */
const loadMs = 20_000
const memoryMb = 256

/**
 * A thread that runs the user's file. Opening, then idle and busy in turn; closed for good by the first record that
 * takes too long or ends the thread.
 */
export class TransformThread implements AsyncDisposable {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #place = new Int32Array(new SharedArrayBuffer(4))

  #ended: string | undefined

  constructor(file: string) {
    const { port1, port2: port } = new MessageChannel()
    this.#port = port1
    const progress = this.#place.buffer as SharedArrayBuffer
    const workerData: TransformWorkerData = { file, progress, port }
    this.#worker = new Worker(programFile('./transform-worker.ts', import.meta.url), {
      workerData,
      transferList: [port],
      // What the file has no business with: secrets in the environment, and the output of commands.
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    this.#worker.stdout.resume()
    this.#worker.stderr.resume()
    this.#worker.on('error', (error: unknown) => {
      this.#ended ??= error instanceof Error ? error.message : String(error)
    })
    this.#worker.on('exit', (code) => {
      this.#ended ??= `the thread ended with code ${code}`
    })
  }

  /** Why it does not run any more, whatever was asked of it last. */
  get ended(): string | undefined {
    return this.#ended
  }

  /** Undefined when records may come, else why not. */
  async load(): Promise<string | undefined> {
    const attempt = await this.#await<Loaded>(loadMs)
    if (attempt.kind === 'stuck') return attempt.reason ?? `it is not ready after ${loadMs / 1000} s`
    return attempt.message.loaded ? undefined : attempt.message.reason
  }

  /** `onMoved` hears from time to time that another record is under way. */
  async run(
    records: readonly TransformRecord[],
    { limitMs, onMoved }: { limitMs: number; onMoved?: (() => void) | undefined },
  ): Promise<Attempt> {
    Atomics.store(this.#place, 0, 0)
    this.#port.postMessage(records)
    const attempt = await this.#await<unknown>(limitMs, onMoved)
    if (attempt.kind === 'stuck') return attempt
    const outcomes = attempt.message
    if (areOutcomes(outcomes, records.length)) return { kind: 'done', outcomes }
    return {
      kind: 'stuck',
      at: records.length,
      reason: 'it changed how records are passed to it, and their outcomes did not come back',
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#port.close()
    await this.#worker.terminate()
  }

  /** The next message, unless one record takes longer than `limitMs`. */
  #await<Message>(limitMs: number, onMoved?: () => void) {
    type Answer =
      | { kind: 'message'; message: Message }
      | { kind: 'stuck'; at: number; reason: string | undefined }
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const stuck = (reason?: string) => resolve({ kind: 'stuck', at: Atomics.load(this.#place, 0), reason })
    const onMessage = (message: Message) => resolve({ kind: 'message', message })
    // After the listeners that note why. What it said before it ended may arrive later than its end.
    const onEnd = () => {
      const last: { message: Message } | undefined = receiveMessageOnPort(this.#port)
      if (last) onMessage(last.message)
      else stuck(this.#ended)
    }
    let at = Atomics.load(this.#place, 0)
    let since = systemClock.monotonic()
    const timer = setInterval(
      () => {
        const now = Atomics.load(this.#place, 0)
        if (now === at) {
          if (systemClock.monotonic() - since >= limitMs) stuck()
          return
        }
        at = now
        since = systemClock.monotonic()
        onMoved?.()
      },
      Math.max(5, limitMs / 4),
    )
    this.#port.on('message', onMessage)
    this.#worker.on('error', onEnd).on('exit', onEnd)
    return promise.finally(() => {
      clearInterval(timer)
      this.#port.off('message', onMessage)
      this.#worker.off('error', onEnd).off('exit', onEnd)
    })
  }
}

const kinds: ReadonlySet<unknown> = new Set<Outcome['kind']>(['record', 'skipped', 'failed'])

/** The user's file may have changed what the thread itself runs on. */
function areOutcomes(message: unknown, count: number): message is readonly Outcome[] {
  if (!Array.isArray(message) || message.length !== count) return false
  return message.every((outcome: unknown) => {
    return typeof outcome === 'object' && outcome !== null && 'kind' in outcome && kinds.has(outcome.kind)
  })
}
