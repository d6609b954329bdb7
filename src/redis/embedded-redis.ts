import type { Clock } from '../lib/clock.ts'
import { StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { closeConnection, type RedisConnection } from './connection.ts'
import { type EmbeddedFolder, endProcess, openEmbeddedFolder, type ServerRecord } from './embedded-folder.ts'
import { type EmbeddedGuard, startGuard } from './embedded-guard.ts'
import { explainLoss, ServerLostError, type StartedServer, startServer } from './embedded-server.ts'
import { isConnectionFailure } from './failure.ts'
import { countOtherUsers, joinServer } from './presence.ts'
import { readServerInfo, silentError, waitUntilLoaded } from './readiness.ts'

export interface OpenEmbeddedRedisOptions {
  /** Folder of the server's data, under the state folder. Created when absent. */
  dir: string
  clock: Clock
  log: Log
  /** Called after the server died and was started, or found started, again. */
  onRestart?: () => void
  signal?: AbortSignal
}

/** From the start of the process until it listens; loading its data comes after. */
const listenWithinMs = 30_000
/** For a server that runs but does not listen: longer than it takes to begin. Ending it then is harmless. */
const reachableWithinMs = 3_000
/** For a server whose connection broke: its end is told a moment later. */
const endKnownWithinMs = 2_000
/** How often opening starts or joins a server that is killed each time before it is ready. */
const openAttemptsMax = 5
const restartAfterMaxMs = 5_000
const steadyAfterMs = 30_000

/**
 * Joins the server of this folder, or starts it, and waits until it has loaded its data. Fails at once when the server
 * gives up by itself (its settings, its data), and after five attempts when it is killed each time.
 */
export async function openEmbeddedRedis(options: OpenEmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const folder = await openEmbeddedFolder(options.dir, options.log)
  const redis = new EmbeddedRedis(folder, { ...options, guard: startGuard(folder.path) })
  await redis.open(options.signal)
  return redis
}

/** The connection that counts as the use, and the server when this process started it. */
interface Joined {
  presence: RedisConnection
  socketPath: string
  started?: StartedServer
}

/**
 * This process's use of the one redis-server of a state folder. Every process that uses it holds a named connection
 * (`presence.ts`); joining, starting and ending it happen under the folder's lock. A guard ends the server where the last
 * user was killed (`embedded-guard.ts`).
 *
 * joining → joined → (the server died) → joining again, with back-off, until it succeeds → joined …
 *    ↑ ↓           → (disposed) → left; the last user ends the server
 * the server was killed, or went away, before it was ready: joining again, with back-off, five times in all
 */
export class EmbeddedRedis implements AsyncDisposable {
  readonly #folder: EmbeddedFolder
  readonly #options: OpenEmbeddedRedisOptions & { guard?: EmbeddedGuard }
  readonly #closing = new AbortController()
  #presence: RedisConnection | undefined
  #socketPath = ''
  #pid = 0
  #rejoining: Promise<void> = Promise.resolve()
  #joinedAt = 0
  #attempts = 0
  #cleanRuns: readonly string[] = []

  constructor(folder: EmbeddedFolder, options: OpenEmbeddedRedisOptions & { guard?: EmbeddedGuard }) {
    this.#folder = folder
    this.#options = options
  }

  /** Stays the same over restarts. */
  get socketPath(): string {
    return this.#socketPath
  }

  /** Runs before the present one of which nothing is lost, as far as this process began it. */
  get cleanRuns(): readonly string[] {
    return this.#cleanRuns
  }

  /** Of the server that runs at present. */
  get pid(): number {
    return this.#pid
  }

  /** Called by `openEmbeddedRedis`. */
  async open(signal = this.#closing.signal): Promise<void> {
    await this.#open(signal).catch(async (error: unknown) => {
      await this.#releaseGuard()
      throw error
    })
  }

  async #open(signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#join(signal)
        return
      } catch (error) {
        if (!(error instanceof ServerLostError) || attempt === openAttemptsMax) throw error
        this.#options.log.warn({ error }, 'the embedded Redis died before it was ready; starting it again')
      }
      await this.#pauseBefore(attempt, signal)
    }
  }

  async #join(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    const { presence, started } = await this.#folder.locked(() => this.#joinOrStart())
    try {
      const info = await waitUntilLoaded(presence, { clock, log, address: this.#socketPath, signal })
      this.#pid = info.processId
    } catch (error) {
      if (presence.status === 'ready' && !isConnectionFailure(error)) {
        await this.#letGo(presence)
        throw error
      }
      await closeConnection(presence, clock)
      signal.throwIfAborted()
      throw await this.#explainLoss(started)
    }
    this.#presence = presence
    this.#joinedAt = clock.monotonic()
    presence.once('end', () => this.#lost(presence))
    if (presence.status === 'end') this.#lost(presence)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await this.#rejoining
    if (this.#presence?.status === 'ready' && (await this.#letGo(this.#presence))) {
      this.#options.guard?.dismiss()
    } else await this.#releaseGuard()
  }

  /** Where a server runs still, its guard ends it later, unless somebody uses it then. */
  async #releaseGuard(): Promise<void> {
    const { guard } = this.#options
    if (await this.#folder.runningServer()) guard?.leave()
    else guard?.dismiss()
  }

  /** Ends a server that nobody uses; for one that is not opened. */
  async endUnused(): Promise<void> {
    const record = await this.#folder.runningServer()
    if (!record) return
    const presence = await joinServer(record.socketPath, this.#options.clock)
    if (typeof presence !== 'string') await this.#letGo(presence)
  }

  /** Of a server of another process the end is not known: whoever starts it next learns what is wrong with it. */
  async #explainLoss(started: StartedServer | undefined): Promise<StorageError> {
    const { clock } = this.#options
    const deadline = clock.monotonic() + endKnownWithinMs
    while (started && !started.end() && clock.monotonic() < deadline) await clock.sleep(10)
    return explainLoss(started?.end(), this.#folder.logFile)
  }

  /** Under the lock. */
  async #joinOrStart(): Promise<Joined> {
    const { clock } = this.#options
    const socketPath = await this.#folder.prepareSocketPath()
    const running = await joinServer(socketPath, clock)
    if (typeof running !== 'string') return this.#joined({ presence: running, socketPath })
    const record = await this.#folder.runningServer()
    if (record) {
      const presence = await this.#outwait(record)
      if (presence) return this.#joined({ presence, socketPath: record.socketPath })
    }
    return this.#joined(await this.#start(socketPath))
  }

  #joined(joined: Joined): Joined {
    this.#socketPath = joined.socketPath
    return joined
  }

  /** A server that does not listen yet (its starter was killed), not any more, or whose socket file was deleted. */
  async #outwait({ pid, socketPath }: ServerRecord): Promise<RedisConnection | undefined> {
    const { clock, log } = this.#options
    const deadline = clock.monotonic() + reachableWithinMs
    for (;;) {
      const joined = await joinServer(socketPath, clock)
      if (typeof joined !== 'string') return joined
      if (!(await this.#folder.isServer(pid))) return undefined
      if (clock.monotonic() > deadline && joined === 'closing') throw silentError(socketPath, undefined)
      if (clock.monotonic() > deadline) break
      await clock.sleep(50)
    }
    // Two servers must never write one folder.
    log.warn(
      { serverPid: pid, socketPath },
      'the embedded Redis runs but cannot be reached; starting it again',
    )
    endProcess(pid)
    await this.#folder.untilGone(pid, clock)
    return undefined
  }

  /** Under the lock. */
  async #start(socketPath: string): Promise<Joined> {
    this.#cleanRuns = await this.#folder.readCleanRuns()
    await this.#folder.forgetCleanRuns()
    const started = await startServer({ dir: this.#folder.path, socketPath, logFile: this.#folder.logFile })
    try {
      await this.#folder.writeRecord({ pid: started.pid, socketPath })
      const presence = await this.#untilListening(started, socketPath)
      this.#options.log.info({ serverPid: started.pid, socketPath }, 'started the embedded Redis')
      return { presence, socketPath, started }
    } catch (error) {
      endProcess(started.pid)
      throw error
    }
  }

  async #untilListening(started: StartedServer, socketPath: string): Promise<RedisConnection> {
    const { clock } = this.#options
    const deadline = clock.monotonic() + listenWithinMs
    for (;;) {
      const presence = await joinServer(socketPath, clock)
      if (typeof presence !== 'string') return presence
      const end = started.end()
      if (end) throw await explainLoss(end, this.#folder.logFile)
      if (clock.monotonic() > deadline) {
        throw new StorageError('redis-start', `The embedded Redis does not listen on ${socketPath}`, {
          hint: `Look into ${this.#folder.logFile}`,
        })
      }
      await clock.sleep(10)
    }
  }

  async #letGo(presence: RedisConnection): Promise<boolean> {
    const close = () => closeConnection(presence, this.#options.clock)
    try {
      await this.#folder.locked(() => this.#leave(presence).finally(close))
      return true
    } catch (error) {
      this.#options.log.warn({ error }, 'the embedded Redis was left running')
      await close()
      return false
    }
  }

  /** Under the lock, as is its close: nobody joins between the count and the end, and who left is counted no more. */
  async #leave(presence: RedisConnection): Promise<void> {
    if ((await countOtherUsers(presence)) > 0) return
    const { processId, runId } = await readServerInfo(presence)
    // It answers only when it refuses; else the connection ends. Everything is on disk then.
    await presence.shutdown('NOSAVE').catch((error: unknown) => {
      if (presence.status === 'ready') throw error
    })
    await this.#folder.untilGone(processId, this.#options.clock)
    await this.#folder.writeCleanRuns([...this.#cleanRuns, runId])
    this.#options.log.info({ serverPid: processId }, 'ended the embedded Redis')
  }

  #lost(presence: RedisConnection): void {
    if (this.#presence !== presence) return
    this.#presence = undefined
    if (!this.#closing.signal.aborted) this.#rejoining = this.#rejoin()
  }

  /** Until it succeeds or this process lets go. Whichever user comes first starts the server; the others join it. */
  async #rejoin(): Promise<void> {
    const { log, clock, onRestart } = this.#options
    const { signal } = this.#closing
    log.warn({ serverPid: this.#pid }, 'the embedded Redis died; starting it again')
    // A server that dies again and again is not started again and again without a pause.
    if (clock.monotonic() - this.#joinedAt > steadyAfterMs) this.#attempts = 0
    while (!signal.aborted) {
      try {
        await this.#pauseBefore(this.#attempts++, signal)
        await this.#join(signal)
        log.info({ serverPid: this.#pid }, 'the embedded Redis runs again')
        onRestart?.()
        return
      } catch (error) {
        if (!signal.aborted) log.error({ error }, 'the embedded Redis cannot be started again; trying on')
      }
    }
  }

  async #pauseBefore(attempt: number, signal: AbortSignal): Promise<void> {
    if (attempt > 0) await this.#options.clock.sleep(Math.min(50 * 2 ** attempt, restartAfterMaxMs), signal)
  }
}
