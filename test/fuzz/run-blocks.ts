import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Block } from './fuzz-child.ts'
import type { Failure, Tally } from './run-cases.ts'

export interface RunOptions {
  what: Block['what']
  seed: number
  from: number
  to: number
  /** Processes at one time. */
  workers: number
  /** Cases that a process is given at once. */
  blockCases: number
  /** A process that needs longer for a block is killed. */
  blockMs: number
  onProgress?: (done: number, failures: readonly Failure[]) => void
}

export interface RunResult {
  tally: Tally
  failures: Failure[]
  /** Of the largest process. */
  maxRssBytes: number
}

interface Answer extends RunResult {}

const child = new URL('fuzz-child.ts', import.meta.url)
const failuresMax = 20

/** Shares the cases out to processes. A block whose process crashes or hangs is tried again case by case. */
export async function runBlocks(options: RunOptions): Promise<RunResult> {
  const { from, to, workers, blockCases } = options
  const result: RunResult = { tally: {}, failures: [], maxRssBytes: 0 }
  let next = from
  const takeBlock = () => {
    if (next >= to || result.failures.length >= failuresMax) return undefined
    const block = { from: next, to: Math.min(to, next + blockCases) }
    next = block.to
    return block
  }
  let done = 0
  const work = async () => {
    const worker = new Worker(options)
    for (let block = takeBlock(); block !== undefined; block = takeBlock()) {
      add(result, (await worker.run(block)) ?? (await caseByCase(worker, block)))
      done += block.to - block.from
      options.onProgress?.(done, result.failures)
    }
    worker.stop()
  }
  await Promise.all(Array.from({ length: workers }, work))
  return result
}

interface Range {
  from: number
  to: number
}

async function caseByCase(worker: Worker, { from, to }: Range): Promise<Answer> {
  const result: Answer = { tally: {}, failures: [], maxRssBytes: 0 }
  for (let number = from; number < to; number++) {
    const answer = await worker.run({ from: number, to: number + 1 })
    if (answer) add(result, answer)
    else {
      const difference = 'the process crashed or did not come back'
      result.failures.push({ case: number, kind: 'unknown', difference, text: '', settings: {} })
      if (result.failures.length >= failuresMax) break
    }
  }
  return result
}

function add(sum: RunResult, { tally, failures, maxRssBytes }: Answer): void {
  for (const [kind, counts] of Object.entries(tally)) {
    const known = sum.tally[kind] ?? { cases: 0, refused: 0 }
    sum.tally[kind] = known
    known.cases += counts.cases
    known.refused += counts.refused
    if (counts.documents !== undefined) known.documents = (known.documents ?? 0) + counts.documents
    for (const [code, count] of Object.entries(counts.codes ?? {})) {
      known.codes ??= {}
      known.codes[code] = (known.codes[code] ?? 0) + count
    }
  }
  sum.failures.push(...failures)
  sum.maxRssBytes = Math.max(sum.maxRssBytes, maxRssBytes)
}

/** One process at a time; the next block after a crash is given to a new one. */
class Worker {
  readonly #options: RunOptions
  #process: ChildProcess | undefined

  constructor(options: RunOptions) {
    this.#options = options
  }

  /** Undefined: the process crashed or hung. */
  async run({ from, to }: Range): Promise<Answer | undefined> {
    const { what, seed, blockMs } = this.#options
    this.#process ??= fork(child, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] })
    const running = this.#process
    const ended = new AbortController()
    const timer = setTimeout(() => running.kill('SIGKILL'), blockMs)
    const onExit = () => ended.abort()
    running.once('exit', onExit)
    try {
      running.send({ what, seed, from, to } satisfies Block)
      const [answer] = await once(running, 'message', { signal: ended.signal })
      return answer as Answer
    } catch {
      this.#process = undefined
      return undefined
    } finally {
      clearTimeout(timer)
      running.off('exit', onExit)
    }
  }

  stop(): void {
    this.#process?.kill()
  }
}
