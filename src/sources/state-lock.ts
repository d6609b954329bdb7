import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { readFile, rmdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import { ifPresent, SourceError, systemErrorCode } from '../lib/errors.ts'
import { makeFolder, removeIfPresent, writeDurably } from './durable.ts'
import { acquireLockFolder, folderIdentity, type LockFolder } from './lock-folder.ts'
import { lifeOf, ownIdentity, processIdentitySchema } from './process-identity.ts'

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

/** `folder` ties the record to one holding: it may be left over from an earlier holder. */
const holderSchema = processIdentitySchema.extend({ since: z.string(), folder: z.string() })
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
