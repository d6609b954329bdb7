import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { systemClock } from '../lib/clock.ts'
import { collectAtRest } from '../lib/collect-at-rest.ts'
import { watchFile } from '../lib/database-file.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { openThreadLog, type SentError, sentError } from '../lib/thread-messages.ts'
import type { MirrorChunk } from './model.ts'
import { type PackedChunk, unpackChunk } from './packed-chunk.ts'
import { MirrorStore, type StoreOptions } from './store.ts'

/** How long one transaction goes on taking chunks that wait, while nothing else of the thread does. */
const commitMs = 250
/** The same while something else waits. */
const sharedCommitMs = 25
/** Checkpoints keep everything waiting: they are postponed for so long while there is work. */
const postponedMs = 2_000
const checkpointEveryMs = 1_000

/** `nowMs`: by the clock of who asks. */
export interface CommitRequest {
  kind: 'commit'
  id: number
  chunk: PackedChunk
  nowMs: number
}

/** `connect`: who has the other end asks, too. */
export type MirrorRequest = CommitRequest | { kind: 'connect'; port: MessagePort } | { kind: 'close' }

/**
 * `committed` and `failed` answer all requests of one port up to that one; everything else goes to the thread that started
 * this one.
 */
export type MirrorAnswer =
  | { kind: 'open' }
  | { kind: 'committed'; upTo: number }
  | { kind: 'failed'; upTo: number; failure: SentError }
  /** Something may be due for delivery. */
  | { kind: 'offered'; urgent: boolean; others: boolean }
  /** The thread cannot go on. */
  | { kind: 'fatal'; failure: SentError }
  | { kind: 'log'; line: string }

export interface ThreadOptions extends StoreOptions {
  logLevel: LogLevel
}

/** What the thread's loop is given, and how it ends. */
interface LoopAccess {
  store: MirrorStore
  log: Log
  tell: (answer: Extract<MirrorAnswer, { kind: 'offered' }>) => void
  onFatal: (error: unknown) => void
}

export interface RunningLoop extends AsyncDisposable {
  /** The loop has work that waits for the thread. */
  readonly isWaiting: boolean
  /** Something was committed. */
  wake(): void
}

/**
 * The mirror's thread: makes the chunks durable that it is sent, several in one transaction where several wait, and runs
 * the loop on the same connection in between.
 *
 * Opening (refused: it ends at once) → serving → failed (another file stands under the mirror's name: every request is
 * answered so) → closed.
 */
export async function serveMirror(
  port: MessagePort,
  { logLevel, ...options }: ThreadOptions,
  openLoop: (access: LoopAccess) => Promise<RunningLoop>,
): Promise<void> {
  const answer = (message: MirrorAnswer) => port.postMessage(message)
  let failure: unknown
  const fail = (error: unknown) => {
    failure ??= error
    answer({ kind: 'fatal', failure: sentError(error) })
  }
  try {
    const log = openThreadLog(logLevel, answer)
    using store = MirrorStore.open(options)
    await using loop = await openLoop({ store, log, tell: answer, onFatal: fail })
    using _watch = watchFile(options.file, fail)
    using _collect = collectAtRest()
    let [changedAt, checkpointAt] = [0, 0]
    const checkpoint = (isQuiet: boolean) => {
      const now = systemClock.monotonic()
      if (failure !== undefined || (!isQuiet && now - checkpointAt < postponedMs)) return
      checkpointAt = now
      store.checkpoint()
    }
    // The loop changes much, too, and sends nothing.
    const timer = setInterval(() => {
      try {
        checkpoint(!loop.isWaiting && systemClock.monotonic() - changedAt > checkpointEveryMs / 2)
      } catch (error) {
        fail(error)
      }
    }, checkpointEveryMs)
    answer({ kind: 'open' })
    await new Promise<void>((close) => {
      const serve = (asker: MessagePort) => {
        const waiting: MirrorRequest[] = []
        const next = () => waiting.shift() ?? receiveMessageOnPort(asker)?.message
        const run = () => {
          const last = commitWaiting(next, { port: asker, store, loop, failure })
          changedAt = systemClock.monotonic()
          // Between commits, when those who wait have their answer.
          checkpoint(false)
          loop.wake()
          // Only the thread that started this one decides how long it lives.
          if (last?.kind === 'connect') serve(last.port).unref()
          if (last?.kind === 'close') close()
          if (waiting.length > 0) setImmediate(run)
        }
        // Not at once: all that waits would be committed before the loop has an answer of Redis.
        return asker.on('message', (request: MirrorRequest) => {
          if (waiting.push(request) === 1) setImmediate(run)
        })
      }
      serve(port)
    })
    clearInterval(timer)
  } catch (error) {
    fail(error)
  } finally {
    port.close()
  }
}

interface Serving {
  port: MessagePort
  store: MirrorStore
  loop: RunningLoop
  failure: unknown
}

/** Makes what waits durable and answers it. Returns what is no change, and was not done. */
function commitWaiting(
  take: () => MirrorRequest | undefined,
  { port, store, loop, failure }: Serving,
): MirrorRequest | undefined {
  const answer = (message: MirrorAnswer) => port.postMessage(message)
  const began = systemClock.monotonic()
  let request = take()
  if (request?.kind !== 'commit') return request
  const { nowMs } = request
  let upTo = request.id
  const next = (): MirrorChunk | undefined => {
    if (request === undefined) {
      const isLate = systemClock.monotonic() - began > (loop.isWaiting ? sharedCommitMs : commitMs)
      request = isLate ? undefined : take()
    }
    if (request?.kind !== 'commit') return undefined
    const { chunk, id } = request
    upTo = id
    request = undefined
    return unpackChunk(chunk)
  }
  try {
    if (failure !== undefined) throw failure
    store.commit(next, nowMs)
    answer({ kind: 'committed', upTo })
  } catch (error) {
    answer({ kind: 'failed', upTo, failure: sentError(error) })
  }
  return request
}
