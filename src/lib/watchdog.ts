import { monitorEventLoopDelay } from 'node:perf_hooks'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Log } from './log.ts'

/** One activity that is watched: working (must advance) or at rest (nothing to do, or waiting for something outside). */
export interface WatchedWork extends Disposable {
  /** There is work that could be done: counts from here, unless it counts already. */
  expect(): void
  /** Something was done; the work goes on. */
  advance(): void
  /** Nothing to do now, or waiting for Redis, the endpoint, a rate limit, a schedule: no stall. */
  rest(): void
  /** Something outside that ends by itself is waited for: no stall until disposed, whatever is expected meanwhile. */
  wait(): Disposable
}

interface WatchdogOptions {
  /** Called once, with the name of the work that stands still. */
  onStall: (name: string) => void
  /** Ticks of a second without progress after which work counts as stalled. */
  ticksMax?: number
  tickMs?: number
  /** In a thread whose starter has its event loop watched: from `watchThread` of the starter's. */
  heartbeat?: Heartbeat
}

/** Counts the ticks of an event loop; -1: it is watched no longer. Goes to a thread as it is. */
export type Heartbeat = Int32Array<SharedArrayBuffer>

/**
 * Notices that work that could be done is not getting done. Ticks are counted instead of time, so that a process that
 * was suspended does not look stalled when it wakes. A second thread counts the ticks of this one and of those that it
 * started, and ends the process when an event loop itself stands still.
 */
export class Watchdog implements AsyncDisposable {
  readonly #works = new Set<{ name: string; working: boolean; waits: number; idleTicks: number }>()
  readonly #options: Required<Omit<WatchdogOptions, 'heartbeat'>>
  readonly #timer: NodeJS.Timeout
  readonly #heartbeat: Heartbeat
  /** Only in the main thread: each thread takes 12 MB. */
  readonly #guard: Worker | undefined

  constructor({ onStall, ticksMax = 30, tickMs = 1000, heartbeat }: WatchdogOptions) {
    this.#options = { onStall, ticksMax, tickMs }
    this.#timer = setInterval(() => this.#tick(), tickMs)
    this.#timer.unref()
    if (!heartbeat) {
      this.#guard = new Worker(guardSource, {
        eval: true,
        // Not those of this process: they may say how a source is to be read.
        execArgv: [],
        workerData: { ticksMax, tickMs, pid: process.pid },
      })
      this.#guard.unref()
    }
    this.#heartbeat = heartbeat ?? this.watchThread()
  }

  /**
   * `job` is the source of a function, which the guard's thread calls for each message that comes through the port; what it
   * returns comes back. For what would hold up others and is done beside them: see `#guard`.
   */
  runBeside(job: string): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.#guard?.postMessage({ job, port: port2 }, [port2])
    return port1
  }

  /** Watches the event loop of a thread that begins to tick now. Over when the thread ends its own watchdog. */
  watchThread(): Heartbeat {
    const heartbeat = new Int32Array(new SharedArrayBuffer(4))
    this.#guard?.postMessage(heartbeat)
    return heartbeat
  }

  /** Begins at rest; disposed, it is watched no longer. */
  watch(name: string): WatchedWork {
    const state = { name, working: false, waits: 0, idleTicks: 0 }
    this.#works.add(state)
    const setWorking = (working: boolean) => {
      state.working = working
      state.idleTicks = 0
    }
    const expect = () => {
      if (!state.working) setWorking(true)
    }
    return {
      expect,
      advance: () => setWorking(true),
      rest: () => setWorking(false),
      wait: () => {
        state.waits += 1
        const end = () => {
          state.waits -= 1
          state.idleTicks = 0
        }
        return { [Symbol.dispose]: end }
      },
      [Symbol.dispose]: () => void this.#works.delete(state),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    Atomics.store(this.#heartbeat, 0, -1)
    await this.#guard?.terminate()
  }

  #tick(): void {
    Atomics.add(this.#heartbeat, 0, 1)
    for (const state of this.#works) {
      if (!state.working || state.waits > 0) continue
      state.idleTicks += 1
      if (state.idleTicks === this.#options.ticksMax) this.#options.onStall(state.name)
    }
  }
}

/** Plain JavaScript, because a worker started from a string needs no file that the built package would have to find. */
const guardSource = `
const { parentPort, workerData: { ticksMax, tickMs, pid } } = require('node:worker_threads')
const loops = new Set()
parentPort.on('message', (message) => {
  if (message.job) run(message)
  else loops.add({ heartbeat: message, seen: 0, idleTicks: 0 })
})
function run({ job, port }) {
  const call = new Function('require', 'return ' + job)(require)
  port.on('message', (message) => port.postMessage(call(message)))
}
setInterval(() => {
  for (const loop of loops) {
    const now = Atomics.load(loop.heartbeat, 0)
    // Zero: it has not begun.
    loop.idleTicks = now !== 0 && now === loop.seen ? loop.idleTicks + 1 : 0
    loop.seen = now
    if (now === -1) loops.delete(loop)
    else if (loop.idleTicks >= ticksMax) end()
  }
}, tickMs)
function end() {
  require('node:fs').writeSync(2, JSON.stringify({ level: 'fatal', pid, msg: 'the event loop stands still; exiting so that the supervisor starts catalogd again' }) + '\\n')
  process.kill(pid, 'SIGKILL')
}
`

/** Why the process ends. */
export function stallOf(name: string): Error {
  return new Error(`no progress for 30 s: ${name}`)
}

const resolutionMs = 5

/** Measures how late this thread's event loop is while debugging, which costs a little, and tells when it is disposed. */
export function watchEventLoop(log: Log): Disposable | undefined {
  if (!log.isLevelEnabled('debug')) return undefined
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  const msAt = (percentile: number) => Math.round(delay.percentile(percentile) / 1e6 - resolutionMs)
  return {
    [Symbol.dispose]: () => {
      const [p50, p99, max] = [msAt(50), msAt(99), msAt(100)]
      log.debug({ p50, p99, max }, 'delay of the event loop of the main thread, ms')
    },
  }
}
