import { type ChildProcess, spawn } from 'node:child_process'
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { privateFileMode } from '../lib/private-modes.ts'

const binaries = ['redis-server', 'valkey-server']
/** The log of a server that runs for years is begun anew at a start; one older part is kept. */
const logBytesMax = 10_000_000
const tailBytes = 2_000

/** A server process that has just been started by this process; it may outlive it. */
export interface StartedServer {
  pid: number
  /** How it ended; undefined while it runs. */
  end(): ServerEnd | undefined
}

/** One of the two is given. */
export interface ServerEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/** The server went away while it was joined, not for a reason of its own: starting it again helps. */
export class ServerLostError extends StorageError {}

/**
 * Starts a server of its own session, so that neither the end of this process nor Ctrl-C on its terminal reaches it.
 * Whoever uses it last ends it.
 */
export async function startServer(settings: ServerSettings): Promise<StartedServer> {
  await rotateLog(settings.logFile)
  // Its log from the first moment: what is wrong with its settings it says on standard error.
  await using log = await open(settings.logFile, 'a', privateFileMode)
  for (const binary of binaries) {
    const child = await trySpawn(binary, serverArguments(settings), log)
    if (child) return { pid: child.pid as number, end: () => readEnd(child) }
  }
  throw new StorageError('redis-missing', `Neither ${binaries.join(' nor ')} is installed`, {
    hint:
      'Install one (Debian, Ubuntu: apt-get install redis-server; Alpine: apk add redis; macOS: brew install redis), ' +
      'or set redis to the URL of a server',
  })
}

export interface ServerSettings {
  dir: string
  socketPath: string
  logFile: string
}

function serverArguments({ dir, socketPath, logFile }: ServerSettings): string[] {
  const settings: Record<string, string> = {
    dir,
    unixsocket: socketPath,
    unixsocketperm: '700',
    port: '0',
    daemonize: 'no',
    logfile: logFile,
    appendonly: 'yes',
    appendfsync: 'everysec',
    // The last write before a crash may be half on disk: that is a lost write like others of the last second.
    'aof-load-truncated': 'yes',
    save: '',
    'maxmemory-policy': 'noeviction',
  }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
}

/** Undefined when there is no such program. */
async function trySpawn(binary: string, args: string[], log: FileHandle): Promise<ChildProcess | undefined> {
  // Its files are for its user alone; a child begins with the umask of the moment.
  const umask = process.umask(0o077)
  const child = spawn(binary, args, { detached: true, stdio: ['ignore', log.fd, log.fd] })
  process.umask(umask)
  const error = await new Promise<Error | undefined>((resolve) => {
    child.once('spawn', () => resolve(undefined))
    child.once('error', resolve)
  })
  if (!error) {
    child.unref()
    return child
  }
  if (systemErrorCode(error) === 'ENOENT') return undefined
  throw new StorageError('redis-start', `${binary} cannot be started: ${error.message}`, { cause: error })
}

function readEnd({ exitCode: code, signalCode: signal }: ChildProcess): ServerEnd | undefined {
  return code === null && signal === null ? undefined : { code, signal }
}

async function rotateLog(file: string): Promise<void> {
  const size = await stat(file).then(
    (entry) => entry.size,
    () => 0,
  )
  if (size > logBytesMax) await rename(file, `${file}.1`)
}

/**
 * Why a server went away while it was joined; `end` is known of a server of this process. With an exit code it gave up
 * by itself, for its settings or its data, and would again. A signal, or the code 0 of an end in order, came from others.
 */
export async function explainLoss(end: ServerEnd | undefined, logFile: string): Promise<StorageError> {
  if (end?.code) return startError(logFile)
  const how = end?.signal ? `was killed (${end.signal})` : 'went away'
  return new ServerLostError('redis-lost', `The embedded Redis ${how} before it was ready`, {
    hint: `Look for what ends it, for instance a lack of memory, and into ${logFile}`,
  })
}

/** Its own last words say why. */
async function startError(logFile: string): Promise<StorageError> {
  const words = await readTail(logFile)
  const hint = words.includes('redis-check-aof')
    ? 'Stop catalogd, copy the folder, and repair its append-only file with redis-check-aof --fix'
    : 'Remove the reason that its log gives'
  return new StorageError(
    'redis-start',
    `The embedded Redis ended at its start; ${logFile} ends with:\n${words}\n`,
    {
      hint,
    },
  )
}

async function readTail(file: string): Promise<string> {
  try {
    await using handle = await open(file, 'r')
    const { size } = await handle.stat()
    const start = Math.max(0, size - tailBytes)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start)
    const lines = buffer
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .filter((line) => line.trim() !== '')
    return lines.slice(-8).join('\n')
  } catch {
    return '(no log)'
  }
}
