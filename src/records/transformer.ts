import { fileRefusal } from './read-file.ts'
import type { TransformRecord } from './transform-record.ts'
import { TransformThread } from './transform-thread.ts'
import type { Outcome } from './transform-worker.ts'

export interface TransformerOptions {
  file: string
  limitMs: number
  /** What messages call the feed file. */
  name: string
  /** Records go on being transformed. */
  onMoved?: (() => void) | undefined
}

/** `late`: it took too long. */
export type TransformOutcome = Outcome | { kind: 'late'; reason: string }

/** A record that took too long once is tried alone with more time: the machine may have been busy. */
const patience = 10
const patienceMsMin = 1_000
/** So many records of a file get this second chance. */
const secondChancesMax = 20
/** After so many that took too long no further record of the file is tried. */
const lateMax = 500

/**
 * Transforms the records of one file. A thread that is stuck is ended and another one takes its place; the record that it
 * was stuck at is the only one that fails.
 */
export class Transformer implements AsyncDisposable {
  readonly #options: TransformerOptions
  #thread: TransformThread | undefined
  #late = 0

  constructor(options: TransformerOptions) {
    this.#options = options
  }

  /** One outcome a record. Await each call before the next. Throws FileRefusedError when the file cannot be loaded. */
  async run(records: readonly TransformRecord[]): Promise<TransformOutcome[]> {
    const outcomes: TransformOutcome[] = []
    while (outcomes.length < records.length) {
      const rest = records.slice(outcomes.length)
      if (this.#late >= lateMax) {
        outcomes.push(...rest.map(() => late(`${lateMax} records before it took too long: it was not tried`)))
        break
      }
      const attempt = await this.#attempt(rest, this.#options.limitMs)
      if (attempt.kind === 'done') outcomes.push(...attempt.outcomes)
      else if (attempt.at >= rest.length) {
        // Everything was transformed, and then the thread ended before it could say so.
        outcomes.push(...rest.map(() => failed(attempt.reason)))
      } else {
        const before = attempt.at === 0 ? [] : await this.run(rest.slice(0, attempt.at))
        const culprit = rest[attempt.at] as TransformRecord
        outcomes.push(
          ...before,
          attempt.reason === undefined ? await this.#again(culprit) : failed(attempt.reason),
        )
      }
    }
    return outcomes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.[Symbol.asyncDispose]()
    this.#thread = undefined
  }

  async #again(record: TransformRecord): Promise<TransformOutcome> {
    const { limitMs } = this.#options
    this.#late += 1
    if (this.#late > secondChancesMax) return late(`it took longer than ${limitMs} ms`)
    const longMs = Math.max(limitMs * patience, patienceMsMin)
    const attempt = await this.#attempt([record], longMs)
    if (attempt.kind === 'done') return attempt.outcomes[0] as Outcome
    return attempt.reason === undefined ? late(`it took longer than ${longMs} ms`) : failed(attempt.reason)
  }

  async #attempt(records: readonly TransformRecord[], limitMs: number) {
    // What the file set going may end the thread between two messages: that is no record's fault.
    if (this.#thread?.ended !== undefined) await this[Symbol.asyncDispose]()
    this.#thread ??= await this.#open()
    const attempt = await this.#thread.run(records, { limitMs, onMoved: this.#options.onMoved })
    this.#options.onMoved?.()
    if (attempt.kind === 'stuck') await this[Symbol.asyncDispose]()
    return attempt
  }

  async #open(): Promise<TransformThread> {
    const { file, name } = this.#options
    const thread = new TransformThread(file)
    const reason = await thread.load()
    if (reason === undefined) return thread
    await thread[Symbol.asyncDispose]()
    throw fileRefusal({
      name,
      code: 'transform-not-loaded',
      found: `its feed has a transform that cannot be used: ${file}: ${reason}`,
      hint: 'Correct that file or the configuration, and drop this one again',
    })
  }
}

function late(reason: string): TransformOutcome {
  return { kind: 'late', reason }
}

function failed(reason: string | undefined): Outcome {
  return { kind: 'failed', reason: reason ?? 'the thread ended' }
}
