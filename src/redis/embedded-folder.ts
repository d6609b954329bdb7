import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import lockfile from 'proper-lockfile'
import type { Clock } from '../lib/clock.ts'
import { writeDurably } from '../lib/durable.ts'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { privateFolderMode } from '../lib/private-modes.ts'
import { isProcess, syncFolder } from '../lib/system.ts'

/** The shortest limit of all systems (macOS: 104 bytes with the closing zero). */
const socketPathBytesMax = 103
/** A holder that was killed keeps the lock for so long. */
const lockStaleMs = 5_000
/** Commands that used the server alone, one after another, between two daemons. */
const cleanRunsMax = 1_000
const endWithinMs = 10_000
const lockRetries = { retries: 400, factor: 1.2, minTimeout: 10, maxTimeout: 100, randomize: true }

/** Written by whoever starts the server, so that all users find the same one. */
export interface ServerRecord {
  pid: number
  socketPath: string
}

/** The folder of the embedded server: its data, its log, who runs, and the lock under which it is started and ended. */
export class EmbeddedFolder {
  readonly path: string
  readonly #log: Log

  constructor(folder: string, log: Log) {
    this.path = folder
    this.#log = log
  }

  get logFile(): string {
    return path.join(this.path, 'redis.log')
  }

  /** Runs `work` while no other process starts, joins or ends the server. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    const unlock = await lockfile
      .lock(this.path, {
        lockfilePath: path.join(this.path, 'start.lock'),
        stale: lockStaleMs,
        update: 1_000,
        retries: lockRetries,
        onCompromised: (error) => this.#log.warn({ error }, 'the lock of the embedded Redis was taken over'),
      })
      .catch((cause: unknown) => {
        throw lockError(this.path, cause)
      })
    try {
      return await work()
    } finally {
      await unlock().catch((error: unknown) => this.#log.debug({ error }, 'the lock was released already'))
    }
  }

  async readRecord(): Promise<ServerRecord | undefined> {
    const text = await readFile(this.#recordFile, 'utf8').catch(() => '')
    const [pid, socketPath] = text.split('\n')
    if (!/^\d+$/.test(pid ?? '') || !socketPath?.startsWith('/')) return undefined
    return { pid: Number(pid), socketPath }
  }

  async writeRecord({ pid, socketPath }: ServerRecord): Promise<void> {
    await writeDurably(this.#recordFile, `${pid}\n${socketPath}\n`, `${this.#recordFile}.${process.pid}.tmp`)
  }

  /**
   * Runs of the server that were ended in good order, each before the next began: none of them lost anything. Empty where
   * the newest ended in another way, or runs.
   */
  async readCleanRuns(): Promise<string[]> {
    const text = await readFile(this.#cleanFile, 'utf8').catch(() => '')
    return text.split('\n').filter((runId) => runId !== '')
  }

  /** Before a server begins: should it not end in good order, nothing says that it did. */
  async forgetCleanRuns(): Promise<void> {
    await rm(this.#cleanFile, { force: true })
    await syncFolder(this.path)
  }

  /** After the end of a run. */
  async writeCleanRuns(runIds: readonly string[]): Promise<void> {
    const lines = runIds.slice(-cleanRunsMax).map((runId) => `${runId}\n`)
    await writeDurably(this.#cleanFile, lines.join(''), `${this.#cleanFile}.${process.pid}.tmp`)
  }

  /** Where the server shall listen: in this folder, or in a short private one when the path would be too long. */
  async prepareSocketPath(): Promise<string> {
    const direct = path.join(this.path, 'redis.sock')
    if (Buffer.byteLength(direct) <= socketPathBytesMax) return direct
    const recorded = await this.readRecord()
    // Another process may see another temporary folder; what one of them chose first counts for all. The name tells a
    // record of this folder from one that came with a copy of it.
    const chosen = recorded && path.dirname(recorded.socketPath)
    if (chosen && path.basename(chosen) === shortName(this.path) && (await isPrivateFolder(chosen))) {
      return recorded.socketPath
    }
    return path.join(await makeShortFolder(this.path), 'redis.sock')
  }

  /** True when the process is a server that works in this folder, and not merely has a number that was given again. */
  async isServer(pid: number): Promise<boolean> {
    try {
      return (await readlink(`/proc/${pid}/cwd`)) === this.path
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT' || process.platform === 'linux') return false
      return isProcess(pid)
    }
  }

  /** Waits for the end of a server of this folder. */
  async untilGone(pid: number, clock: Clock): Promise<void> {
    const deadline = clock.monotonic() + endWithinMs
    while (isProcess(pid) && (await this.isServer(pid))) {
      if (clock.monotonic() > deadline) {
        throw new StorageError('redis-end', `The embedded Redis (process ${pid}) does not end`, {
          hint: `Look into ${this.logFile}`,
        })
      }
      await clock.sleep(10)
    }
  }

  /** What is recorded, where that server runs. */
  async runningServer(): Promise<ServerRecord | undefined> {
    const record = await this.readRecord()
    return record && (await this.isServer(record.pid)) ? record : undefined
  }

  get #cleanFile(): string {
    return path.join(this.path, 'closed')
  }

  get #recordFile(): string {
    return path.join(this.path, 'server')
  }
}

/** Creates the folder, readable by its owner only. */
export async function openEmbeddedFolder(dir: string, log: Log): Promise<EmbeddedFolder> {
  try {
    await mkdir(dir, { recursive: true, mode: privateFolderMode })
    await chmod(dir, privateFolderMode)
    return new EmbeddedFolder(await realpath(dir), log)
  } catch (cause) {
    throw new StorageError('redis-folder', `${dir} cannot be used by the embedded Redis: ${String(cause)}`, {
      hint: 'Let the user that runs catalogd own the state folder',
      cause,
    })
  }
}

/** Undefined where there is none. */
export async function findEmbeddedFolder(dir: string, log: Log): Promise<EmbeddedFolder | undefined> {
  const found = await realpath(dir).catch(() => undefined)
  return found === undefined ? undefined : new EmbeddedFolder(found, log)
}

/** Servers whose folder was deleted under them: nobody finds them any more. Only Linux shows them. */
export async function serversWithoutFolder(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((entry) => /^\d+$/.test(entry))
  const isOne = async (pid: string) => {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '')
    const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return cwd === `${dir} (deleted)` && title.startsWith('redis-server')
  }
  const found = await Promise.all(pids.map(async (pid) => ((await isOne(pid)) ? [Number(pid)] : [])))
  return found.flat()
}

/** Asks a process to end; one that is gone already is no failure. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error
  }
}

function shortName(dir: string): string {
  return `catalogd-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`
}

async function makeShortFolder(dir: string): Promise<string> {
  const folder = path.join(os.tmpdir(), shortName(dir))
  await mkdir(folder, { recursive: true, mode: privateFolderMode })
  if (Buffer.byteLength(folder) + '/redis.sock'.length > socketPathBytesMax) {
    throw new StorageError(
      'redis-folder',
      `The paths of ${dir} and of ${os.tmpdir()} are too long for a socket`,
      {
        hint: 'Set TMPDIR to a folder with a short path, or state to one',
      },
    )
  }
  if (await isPrivateFolder(folder)) return folder
  throw new StorageError('redis-folder', `${folder} belongs to another user, or others may write into it`, {
    hint: 'Remove it, or set state to a folder with a shorter path',
  })
}

/** A folder (no link) of this user that nobody else may enter. */
async function isPrivateFolder(folder: string): Promise<boolean> {
  const entry = await lstat(folder).catch(() => undefined)
  return entry?.isDirectory() === true && entry.uid === process.getuid?.() && (entry.mode & 0o077) === 0
}

function lockError(folder: string, cause: unknown): StorageError {
  if (systemErrorCode(cause) === 'ELOCKED') {
    return new StorageError(
      'redis-locked',
      `Another process keeps starting or ending the Redis of ${folder}`,
      {
        hint: 'Look for a catalogd that is stopped or hangs, and end it',
        cause,
      },
    )
  }
  return new StorageError('redis-folder', `${folder} cannot be locked: ${String(cause)}`, { cause })
}
