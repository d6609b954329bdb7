import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
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
  #file: { fd: number; bytes: number } | undefined
  #failing = false
  #calls = 0
  #rotations = 0

  constructor(options: CallLogOptions) {
    this.#options = options
    this.#touching = setInterval(() => void this.#touch(), touchEveryMs).unref()
  }

  /** Writes down a call that is about to be sent; answers its name for `end`. */
  async begin(call: Omit<CallBegin, 'event' | 'call' | 'at'>): Promise<string> {
    this.#calls += 1
    const name = `${call.token}.${this.#calls}`
    this.#append({ event: 'begin', call: name, at: this.#options.clock.now(), ...call })
    return name
  }

  async end(call: Omit<CallEnd, 'event' | 'at'>): Promise<void> {
    this.#append({ event: 'end', at: this.#options.clock.now(), ...call })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#touching)
    this.#close()
  }

  /** At once: it takes some microseconds, and the way to another thread and back some milliseconds of an urgent call. */
  #append(entry: CallBegin | CallEnd): void {
    const { dir, log } = this.#options
    let failure: unknown
    try {
      this.#write(`${JSON.stringify(entry)}\n`)
    } catch (error) {
      this.#close()
      failure = error
    }
    if (failure && !this.#failing) log.error({ err: failure, dir }, 'the call log cannot be written')
    if (!failure && this.#failing) log.info({ dir }, 'the call log can be written again')
    this.#failing = failure !== undefined
  }

  #write(text: string): void {
    const { rotateMegabytes = 16 } = this.#options
    this.#file ??= this.#open()
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file.fd, bytes, at)
    this.#file.bytes += bytes.length
    if (this.#file.bytes > rotateMegabytes * 2 ** 20) this.#rotate()
  }

  /** Begins with a line end, since the last line may be torn. */
  #open(): { fd: number; bytes: number } {
    mkdirSync(this.#options.dir, { recursive: true, mode: privateFolderMode })
    const fd = openSync(this.#path, 'a', privateFileMode)
    const file = { fd, bytes: fstatSync(fd).size }
    this.#file = file
    file.bytes += writeSync(fd, '\n')
    void this.#prune()
    return file
  }

  #rotate(): void {
    this.#close()
    this.#rotations += 1
    const { dir, processName, clock } = this.#options
    const time = new Date(clock.now()).toISOString().replace(/[:.]/g, '')
    renameSync(this.#path, join(dir, `${processName}.${time}-${this.#rotations}.ndjson`))
    void this.#prune()
  }

  #close(): void {
    if (this.#file) closeSync(this.#file.fd)
    this.#file = undefined
  }

  get #path(): string {
    return join(this.#options.dir, `${this.#options.processName}.ndjson`)
  }

  async #touch(): Promise<void> {
    const now = new Date(this.#options.clock.now())
    await utimes(this.#path, now, now).catch(() => {})
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

function isRotated(name: string): boolean {
  return /\.\d{4}-\d{2}-\d{2}T\d+Z-\d+\.ndjson$/.test(name)
}
