import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { WatchedWork } from '../lib/watchdog.ts'
import type { RedisConnections } from '../redis/connections.ts'

const lookEveryMs = 500

interface RoomOptions {
  connections: Pick<RedisConnections, 'isShortOfMemory' | 'address'>
  clock: Clock
  log: Log
  /** Undefined: it is over. */
  onNotice: (text: string | undefined) => void
}

/**
 * Imports wait while Redis is short of memory: what they have offered is delivered meanwhile, and a Redis that is full
 * could not even take what delivery writes down.
 */
export class Room {
  readonly #options: RoomOptions
  #waiting = 0

  constructor(options: RoomOptions) {
    this.#options = options
  }

  /** Resolves when there is room, or the signal is aborted. Fails as Redis does. */
  async wait(work: Pick<WatchedWork, 'wait'>, signal: AbortSignal): Promise<void> {
    const { connections, clock } = this.#options
    if (!(await connections.isShortOfMemory())) return
    using _ = work.wait()
    if (++this.#waiting === 1) this.#tell()
    try {
      while (!signal.aborted && (await connections.isShortOfMemory())) {
        await clock.sleep(lookEveryMs, signal).catch(() => {})
      }
    } finally {
      if (--this.#waiting === 0) this.#tellOver()
    }
  }

  #tell(): void {
    const { connections, log, onNotice } = this.#options
    const text = `imports wait: the memory of Redis at ${connections.address} is nearly used up (over 70 % of maxmemory). Give it more; delivery goes on, and everything else by itself`
    log.warn(text)
    onNotice(text)
  }

  #tellOver(): void {
    this.#options.log.info('imports go on: Redis has memory again')
    this.#options.onNotice(undefined)
  }
}
