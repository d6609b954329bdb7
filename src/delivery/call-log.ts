import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createStream, type RotatingFileStream } from 'rotating-file-stream'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'

/** Written before a request is sent. */
interface CallBegin {
  event: 'begin'
  /** Unique; ties the two entries of a call together. */
  call: string
  /** Wall-clock time in ms. */
  at: number
  /** The claim's token, not the endpoint's. */
  token: string
  ids: readonly string[]
  /** Of the body. */
  bytes: number
}

/** Written when its outcome is known; missing after a kill. */
interface CallEnd {
  event: 'end'
  call: string
  at: number
  /** Absent when no response came. */
  status?: number | undefined
  /** The verdict: `acknowledge`, `retry`, `unknown` … */
  outcome: string
  requestId?: string | undefined
  durationMs: number
}

/** Rotated files that are kept however old they are; beyond them, age decides. */
const rotatedFilesKept = 8
/** A file of another process is removed when nothing was written to it for so long; living processes touch theirs. */
const abandonedAfterMs = 86_400_000
const touchEveryMs = 3_600_000

export interface CallLogOptions {
  /** `calls/` of the catalog; created when absent. */
  dir: string
  /** Unique among the processes that live at one time on this folder: part of the file's name. */
  processName: string
  horizonMs: number
  clock: Clock
  log: Log
  /** Of one file, in MB. */
  rotateMegabytes?: number
}

/**
 * Which products were in which call, on disk, so that after a Redis that lost its last writes it is known what may
 * still take effect. One file a process, rotated by size; nothing of the last two horizons is ever removed.
 *
 * An entry has reached the operating system when `begin` returns: it outlives a kill of the process, not a loss of
 * power in the same second. When the disk refuses to take entries, calls go on without (a price that is not delivered
 * costs more than an echo that might be missed), and it is logged once until it works again.
 */
export class CallLog implements AsyncDisposable {
  readonly #options: CallLogOptions
  readonly #touching: NodeJS.Timeout
  #stream: RotatingFileStream | undefined
  #failing = false
  #calls = 0

  constructor(options: CallLogOptions) {
    this.#options = options
    this.#touching = setInterval(() => void this.#touch(), touchEveryMs).unref()
  }

  /** Writes down a call that is about to be sent; answers its name for `end`. */
  async begin(call: Omit<CallBegin, 'event' | 'call' | 'at'>): Promise<string> {
    this.#calls += 1
    const name = `${call.token}.${this.#calls}`
    const entry: CallBegin = { event: 'begin', call: name, at: this.#options.clock.now(), ...call }
    await this.#append(entry)
    return name
  }

  async end(call: Omit<CallEnd, 'event' | 'at'>): Promise<void> {
    const entry: CallEnd = { event: 'end', at: this.#options.clock.now(), ...call }
    await this.#append(entry)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#touching)
    const stream = this.#stream
    this.#stream = undefined
    if (!stream || stream.destroyed) return
    stream.end()
    // Each failed write has reported its error.
    await once(stream, 'close').catch(() => {})
  }

  async #append(entry: CallBegin | CallEnd): Promise<void> {
    const { dir, log } = this.#options
    const error = await new Promise<Error | null | undefined>((resolve) => {
      this.#open().write(`${JSON.stringify(entry)}\n`, resolve)
    })
    if (error && !this.#failing) log.error({ err: error, dir }, 'the call log cannot be written')
    if (!error && this.#failing) log.info({ dir }, 'the call log can be written again')
    this.#failing = Boolean(error)
  }

  /** A stream that failed is replaced; the new one begins with a line end, since the last line may be torn. */
  #open(): RotatingFileStream {
    if (this.#stream && !this.#stream.destroyed) return this.#stream
    const { dir, processName, rotateMegabytes = 16 } = this.#options
    const name = `${processName}.ndjson`
    try {
      mkdirSync(dir, { recursive: true, mode: privateFolderMode })
    } catch {
      // The stream says what is wrong.
    }
    const stream = createStream(
      (time, index) => (time ? `${processName}.${fileTime(time)}-${index}.ndjson` : name),
      { path: dir, size: `${rotateMegabytes}M`, mode: privateFileMode },
    )
    // Each failed write reports its error itself.
    stream.on('error', () => {})
    stream.on('rotated', () => void this.#prune())
    stream.write('\n', () => {})
    this.#stream = stream
    void this.#prune()
    return stream
  }

  async #touch(): Promise<void> {
    const now = new Date(this.#options.clock.now())
    await utimes(join(this.#options.dir, `${this.#options.processName}.ndjson`), now, now).catch(() => {})
  }

  /** Losing a race against another process that prunes, or against a full disk, costs nothing: it is tried again. */
  async #prune(): Promise<void> {
    const { dir, processName, horizonMs, clock, log } = this.#options
    try {
      const rotated: { path: string; mtimeMs: number }[] = []
      for (const name of await readdir(dir)) {
        if (!name.endsWith('.ndjson') || name === `${processName}.ndjson`) continue
        const path = join(dir, name)
        const { mtimeMs } = await stat(path)
        if (isRotated(name)) rotated.push({ path, mtimeMs })
        else if (mtimeMs < clock.now() - abandonedAfterMs - 2 * horizonMs) await rm(path, { force: true })
      }
      rotated.sort((a, b) => b.mtimeMs - a.mtimeMs)
      for (const { path, mtimeMs } of rotated.slice(rotatedFilesKept)) {
        if (mtimeMs < clock.now() - 2 * horizonMs) await rm(path, { force: true })
      }
    } catch (error) {
      log.debug({ err: error, dir }, 'old call logs could not be removed')
    }
  }
}

function fileTime(time: number | Date): string {
  return new Date(time).toISOString().replace(/[:.]/g, '')
}

function isRotated(name: string): boolean {
  return /\.\d{4}-\d{2}-\d{2}T\d+Z-\d+\.ndjson$/.test(name)
}
