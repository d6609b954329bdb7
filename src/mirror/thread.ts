import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { systemClock } from '../lib/clock.ts'
import { collectAtRest } from '../lib/collect-at-rest.ts'
import { watchFile } from '../lib/database-file.ts'
import type { Log, LogLevel } from '../lib/log.ts'
import { openThreadLog, type SentError, sentError } from '../lib/thread-messages.ts'
import type { SettledCall } from './calls.ts'
import { Checkpointer } from './checkpointer.ts'
import type { NewCallAnswer, NewCallRequest } from './loop-model.ts'
import type { MirrorChunk } from './model.ts'
import { type PackedChunk, unpackChunk } from './packed-chunk.ts'
import { MirrorStore, type StoreOptions } from './store.ts'
import type { WrittenBlock } from './written-documents.ts'

/** How long one transaction goes on taking chunks that wait, while nothing else of the thread does. */
const commitMs = 250
/** The same while something else waits. */
const sharedCommitMs = 25
/** Checkpoints cost what others need: they are postponed for so long while there is work. */
const postponedMs = 2_000
const checkpointEveryMs = 1_000

/** `nowMs`: by the clock of who asks. */
export interface CommitRequest {
  kind: 'commit'
  id: number
  /** It waits for no chunk of many that were gathered. */
  isPrompt: boolean
  chunk: PackedChunk
  nowMs: number
}

/** `connect`: who has the other end asks, too. `calls`: to be noted with what is drained next; nobody waits for that. */
export type MirrorRequest =
  | CommitRequest
  | { kind: 'calls'; calls: readonly SettledCall[] }
  | { kind: 'newCalls'; request: NewCallRequest }
  | { kind: 'connect'; port: MessagePort }
  | { kind: 'close' }

/** `committed` and `failed` answer requests of one port; everything else goes to the thread that started this one. */
export type MirrorAnswer =
  | { kind: 'open' }
  | { kind: 'committed'; ids: readonly number[] }
  | { kind: 'failed'; ids: readonly number[]; failure: SentError }
  /** Something may be due for delivery. */
  | { kind: 'offered'; urgent: boolean; others: boolean }
  /** Durable, and not offered yet: for calls that are made in this process. */
  | { kind: 'written'; blocks: readonly WrittenBlock[] }
  | { kind: 'newCalls'; answer: NewCallAnswer }
  /** Redis was found to belong to this mirror. */
  | { kind: 'compared' }
  /** The thread cannot go on. */
  | { kind: 'fatal'; failure: SentError }
  | { kind: 'log'; line: string }

export interface ThreadOptions extends StoreOptions {
  logLevel: LogLevel
  /** To where `moveLog` runs. */
  checkpoints: MessagePort
}

/** What the thread's loop is given, and how it ends. */
interface LoopAccess {
  store: MirrorStore
  log: Log
  tell: (answer: Extract<MirrorAnswer, { kind: 'offered' | 'compared' | 'newCalls' }>) => void
  onFatal: (error: unknown) => void
}

export interface RunningLoop extends AsyncDisposable {
  /** The loop has work that waits for the thread. */
  readonly isWaiting: boolean
  /** Something was committed, or is about to be. */
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
  { logLevel, checkpoints, ...options }: ThreadOptions,
  openLoop: (access: LoopAccess) => Promise<RunningLoop>,
): Promise<void> {
  const answer = (message: MirrorAnswer) => port.postMessage(message, memoryOf(message))
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
    const orFail = (work: () => void) => {
      try {
        work()
      } catch (error) {
        fail(error)
      }
    }
    await using checkpointer = new Checkpointer(options.file, checkpoints, () =>
      orFail(() => failure === undefined && store.endCheckpoint()),
    )
    const checkpoint = (isQuiet: boolean) => {
      const now = systemClock.monotonic()
      if (failure !== undefined || (!isQuiet && now - checkpointAt < postponedMs)) return
      checkpointAt = now
      if (isQuiet) store.rest()
      else if (store.isLogLong()) checkpointer.move()
    }
    // The loop changes much, too, and sends nothing.
    const isQuiet = () => !loop.isWaiting && systemClock.monotonic() - changedAt > checkpointEveryMs / 2
    const timer = setInterval(() => orFail(() => checkpoint(isQuiet())), checkpointEveryMs)
    answer({ kind: 'open' })
    await new Promise<void>((close) => {
      const serve = (asker: MessagePort) => {
        const waiting: MirrorRequest[] = []
        const run = () => {
          const last = commitWaiting({ waiting, port: asker, starter: port, store, loop, failure })
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
          if (takeAside(request, store)) return request.kind === 'newCalls' && loop.wake()
          // What the loop asks Redis first is answered meanwhile.
          if (request.kind === 'commit' && request.isPrompt) loop.wake()
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

/** What need not be copied to the other thread. */
function memoryOf(message: MirrorAnswer): ArrayBuffer[] {
  if (message.kind !== 'newCalls' || message.answer.kind !== 'taken') return []
  return [message.answer.taken.documents.bytes.buffer]
}

/** Calls are made in the thread that started this one. */
function tellWritten(store: MirrorStore, starter: MessagePort): void {
  const blocks = store.takeBlocks()
  if (blocks.length === 0) return
  // The documents themselves are copied: others of the same memory may wait here for a call (`FreshPlaces`).
  const digests = blocks.map((block) => block.digests.buffer)
  starter.postMessage({ kind: 'written', blocks } satisfies MirrorAnswer, digests)
}

interface Serving {
  waiting: MirrorRequest[]
  port: MessagePort
  /** Of the thread that started this one. */
  starter: MessagePort
  store: MirrorStore
  loop: RunningLoop
  failure: unknown
}

/** What is served with other work, and is not waited for here. */
function takeAside(request: MirrorRequest, store: MirrorStore): boolean {
  if (request.kind === 'calls') store.noteCalls(request.calls)
  else if (request.kind === 'newCalls') store.newCalls.ask(request.request)
  else return false
  return true
}

/** A prompt one, where any waits; it stays there. */
function firstOf({
  waiting,
  port,
  store,
}: Pick<Serving, 'waiting' | 'port' | 'store'>): MirrorRequest | undefined {
  for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port)) {
    const request: MirrorRequest = more.message
    if (!takeAside(request, store)) waiting.push(request)
  }
  const promptAt = waiting.findIndex((request) => request.kind === 'commit' && request.isPrompt)
  if (promptAt > 0) waiting.unshift(...waiting.splice(promptAt, 1))
  return waiting[0]
}

/**
 * Makes what waits durable, in one transaction, and answers it. Prompt changes come first, and are answered before anything
 * else is begun. Returns what is no change, and was not done.
 */
function commitWaiting({ waiting, port, starter, store, loop, failure }: Serving): MirrorRequest | undefined {
  const answer = (message: MirrorAnswer) => port.postMessage(message)
  const began = systemClock.monotonic()
  const first = firstOf({ waiting, port, store })
  if (first?.kind !== 'commit') return waiting.shift()
  const ids: number[] = []
  let isPrompt = false
  const next = (): MirrorChunk | undefined => {
    const isLate = systemClock.monotonic() - began > (loop.isWaiting ? sharedCommitMs : commitMs)
    const request = firstOf({ waiting, port, store })
    if (request?.kind !== 'commit' || (ids.length > 0 && isLate) || (isPrompt && !request.isPrompt))
      return undefined
    waiting.shift()
    ids.push(request.id)
    isPrompt = request.isPrompt
    return unpackChunk(request.chunk)
  }
  try {
    if (failure !== undefined) throw failure
    store.commit(next, first.nowMs, { isReadNext: first.isPrompt })
    answer({ kind: 'committed', ids })
    tellWritten(store, starter)
  } catch (error) {
    if (ids.length === 0) next()
    answer({ kind: 'failed', ids, failure: sentError(error) })
  }
  return undefined
}
