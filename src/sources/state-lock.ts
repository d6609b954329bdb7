import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync, type Stats } from 'node:fs'
import { readFile, rmdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import { makeFolder, removeIfPresent, writeDurably } from '../lib/durable.ts'
import { ifPresent, SourceError, systemErrorCode } from '../lib/errors.ts'
import { acquireLockFolder, folderIdentity, type LockFolder } from './lock-folder.ts'

/** A holder that did not renew for so long has lost the lock. */
const staleMs = 10_000
const renewMs = 2_000
const lookMs = 500
/** After a take-over: how long until it is looked at whether another host took over at the same moment. */
const takeOverCheckMs = 150

export interface LockHolder {
  host: string
  pid: number
  /** ISO 8601. */
  since: string
}

const holderSchema = z.object({
  host: z.string(),
  pid: z.int().positive(),
  /** Start of the process in ticks since the machine booted: a pid alone is used again. Absent where unknown. */
  started: z.string().optional(),
  /** The process table that the pid belongs to (boot and container). Absent where there is no telling. */
  table: z.string().optional(),
  since: z.string(),
  /** Ties the record to one holding: it may be left over from an earlier holder. */
  folder: z.string(),
})
type HolderRecord = z.infer<typeof holderSchema>

interface LockOptions {
  /** The lock is a folder of this name; `<file>.holder.json` beside it says who holds it. */
  file: string
  clock: Clock
  /** The lock is lost (the process was suspended, or the folder removed): nothing may be written from now on. */
  onLost: (error: SourceError) => void
}

export interface StateLock extends AsyncDisposable {
  readonly holder: LockHolder
}

/**
 * Waits until this process is the one that accepts and imports. Works on shared disks; a holder that was killed on
 * this host is replaced at once, one on another host after 10 s. Rejects with the signal's reason when aborted.
 */
export async function openStateLock(
  options: LockOptions & { onStandby?: (holder: LockHolder | undefined) => void; signal?: AbortSignal },
): Promise<StateLock> {
  for (let tries = 0; ; tries++) {
    options.signal?.throwIfAborted()
    const held = await tryStateLock(options)
    if (held) return held
    if (tries === 0) options.onStandby?.(await readLockHolder(options))
    await options.clock.sleep(lookMs, options.signal)
  }
}

/** Takes the lock if it is free; undefined when another process has it. */
export async function tryStateLock(options: LockOptions): Promise<StateLock | undefined> {
  const { file, clock, onLost } = options
  await makeFolder(dirname(file))
  const hasTurns = process.platform === 'linux'
  await using turn = hasTurns ? await takeTurn(file) : undefined
  if (hasTurns && !turn) return undefined
  const isTakeOver = (await ifPresent(stat(file))) !== undefined
  if (turn) await removeDeadLock(options)
  const folder = await acquireLockFolder({
    path: file,
    staleMs,
    renewMs,
    onLost: (cause) => onLost(lostError(file, cause)),
  })
  return folder && becomeHolder({ file, clock, folder, isTakeOver })
}

/** Who accepts and imports on this state folder now; undefined when nobody does. */
export async function readLockHolder({
  file,
  clock,
}: Pick<LockOptions, 'file' | 'clock'>): Promise<LockHolder | undefined> {
  const stats = await ifPresent(stat(file))
  const holder = await readHolder(file)
  if (!stats || !holder || lifeOf(holder) === 'dead' || isStale(stats, clock)) return undefined
  return { host: holder.host, pid: holder.pid, since: holder.since }
}

/**
 * Signals the process that holds the lock; undefined when nobody does. Throws where it cannot be reached from here: a
 * number of a process means something in its own container only.
 */
export async function signalLockHolder(
  options: Pick<LockOptions, 'file' | 'clock'>,
  signal: NodeJS.Signals,
): Promise<LockHolder | undefined> {
  const holder = await readLockHolder(options)
  if (holder === undefined) return undefined
  const record = await readHolder(options.file)
  const isHere = holder.host === hostname() && (record?.table ?? processTable()) === processTable()
  try {
    if (isHere) process.kill(holder.pid, signal)
  } catch (cause) {
    throw unreachable(holder, signal, cause)
  }
  if (!isHere) throw unreachable(holder, signal)
  return holder
}

function unreachable({ host, pid }: LockHolder, signal: string, cause?: unknown): SourceError {
  const where = cause === undefined ? 'runs elsewhere' : 'does not let this user signal it'
  return new SourceError('daemon-elsewhere', `catalogd (pid ${pid} on ${host}) ${where}`, {
    hint: `Run the command there, as its user, or send it ${signal}`,
    cause,
  })
}

interface Acquired {
  file: string
  clock: Clock
  folder: LockFolder
  isTakeOver: boolean
}

async function becomeHolder({ file, clock, folder, isTakeOver }: Acquired): Promise<StateLock | undefined> {
  const since = new Date(clock.now()).toISOString()
  const own: HolderRecord = { ...ownIdentity(), since, folder: folder.identity }
  const isStillMine = async () => {
    const holder = await readHolder(file)
    return holder?.folder === own.folder && holder.pid === own.pid && holder.host === own.host
  }
  try {
    const temporary = join(dirname(file), `.${basename(file)}.${own.pid}.tmp`)
    await writeDurably(holderFile(file), JSON.stringify(own), temporary)
    if (isTakeOver) {
      await clock.sleep(takeOverCheckMs)
      if (!(await isStillMine())) {
        folder.abandon()
        return undefined
      }
    }
  } catch (error) {
    await folder.release()
    throw error
  }
  return {
    holder: { host: own.host, pid: own.pid, since },
    [Symbol.asyncDispose]: async () => {
      if (await isStillMine()) await removeIfPresent(holderFile(file))
      await folder.release()
    },
  }
}

/** Only in this host's turn. A stale lock is left to the time-out, since another host may be taking it over. */
async function removeDeadLock({ file, clock }: LockOptions): Promise<void> {
  const stats = await ifPresent(stat(file))
  const holder = await readHolder(file)
  if (!stats || !holder || isStale(stats, clock)) return
  if (holder.folder !== folderIdentity(stats) || lifeOf(holder) !== 'dead') return
  await ifPresent(rmdir(file))
}

function isStale(stats: Stats, clock: Clock): boolean {
  return stats.mtimeMs < clock.now() - staleMs
}

function holderFile(file: string): string {
  return `${file}.holder.json`
}

/** Undefined when there is none or it is unreadable: then only the time-out tells that the holder is gone. */
async function readHolder(file: string): Promise<HolderRecord | undefined> {
  try {
    return holderSchema.parse(JSON.parse(await readFile(holderFile(file), 'utf8')))
  } catch {
    return undefined
  }
}

function lostError(file: string, cause: Error): SourceError {
  return new SourceError('lock-lost', `${file} is no longer held by this process`, {
    hint: 'Another process may have taken over while this one was suspended; start it again to stand by',
    cause,
  })
}

/**
 * One process of this host at a time looks at a lock and takes it, so that two that find a dead holder cannot remove
 * each other's new lock. The turn is an abstract socket of Linux: the kernel ends it with its process, kill -9
 * included. Undefined: another process has the turn.
 */
async function takeTurn(file: string): Promise<AsyncDisposable | undefined> {
  const name = `\0catalogd-lock-${createHash('sha256').update(file).digest('hex').slice(0, 32)}`
  const server = createServer((socket) => socket.destroy())
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ path: name }, resolve)
    })
  } catch (error) {
    if (systemErrorCode(error) === 'EADDRINUSE') return undefined
    throw error
  }
  server.unref()
  return {
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Says which process it is, so that others can find out whether it lives. */
function ownIdentity(): Omit<HolderRecord, 'since' | 'folder'> {
  return { host: hostname(), pid: process.pid, started: startOf(process.pid), table: processTable() }
}

/** `unknown`: on another host or in another container, or a system without `/proc`. */
function lifeOf(identity: HolderRecord): 'alive' | 'dead' | 'unknown' {
  if (identity.table === undefined || identity.started === undefined) return 'unknown'
  if (identity.table !== processTable()) return 'unknown'
  return startOf(identity.pid) === identity.started ? 'alive' : 'dead'
}

/** Field 22 of `/proc/<pid>/stat`; the command in field 2 may hold spaces and parentheses. A zombie counts as dead. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

/** Containers have process tables of their own, and lock names (`takeTurn`) belong to the network's name space. */
function processTable(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return [boot, readlinkSync('/proc/self/ns/pid'), readlinkSync('/proc/self/ns/net')].join(' ')
  } catch {
    return undefined
  }
}
