import type { Clock } from '../lib/clock.ts'
import { type OperatingError, StorageError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import type { RedisConnection } from './connection.ts'
import { downError, explainRedisFailure, isPassing } from './failure.ts'
import { parseServerInfo, type ServerInfo } from './server-info.ts'

const progressEveryMs = 5_000
const askAgainMs = 100

interface Waiting {
  address: string
  clock: Clock
  log: Log
  signal?: AbortSignal | undefined
}

/** Reads `INFO`, which a server answers even while it loads its data. */
export async function readServerInfo(connection: RedisConnection): Promise<ServerInfo> {
  return parseServerInfo(await connection.info())
}

/** Waits, for as long as it takes, until the server has loaded its data; reports progress. Fails if it goes away. */
export async function waitUntilLoaded(connection: RedisConnection, waiting: Waiting): Promise<ServerInfo> {
  const { clock, log } = waiting
  let reportAt = clock.monotonic() + progressEveryMs
  for (;;) {
    const info = await readServerInfo(connection)
    if (!info.loading) return info
    if (clock.monotonic() >= reportAt) {
      log.info({ ...info.loading }, 'Redis loads its data')
      reportAt = clock.monotonic() + progressEveryMs
    }
    await clock.sleep(askAgainMs, waiting.signal)
  }
}

/**
 * Waits until a connection that reconnects by itself is ready. Wrong credentials fail at once, a server that cannot be
 * reached fails after `forMs` (undefined: never); one that answers and loads its data is waited for.
 */
export async function waitUntilReady(
  connection: RedisConnection,
  { forMs, ...waiting }: Waiting & { forMs: number | undefined },
): Promise<void> {
  const { clock, address, signal } = waiting
  let deadline = forMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() + forMs
  let lastError: unknown
  const remember = (error: Error) => {
    lastError = error
  }
  connection.on('error', remember)
  try {
    if (connection.status === 'wait') connection.connect().catch(() => {})
    while (connection.status !== 'ready') {
      signal?.throwIfAborted()
      if (isRefusal(lastError)) throw explainRedisFailure(lastError, address)
      if (connection.status === 'end') throw downError(address, lastError)
      if (connection.status === 'connect' && (await isLoading(connection))) {
        await waitUntilLoaded(connection, waiting).catch(remember)
        if (forMs !== undefined) deadline = clock.monotonic() + forMs
      }
      if (clock.monotonic() > deadline) throw downError(address, lastError)
      await clock.sleep(10, signal)
    }
  } finally {
    connection.off('error', remember)
  }
}

async function isLoading(connection: RedisConnection): Promise<boolean> {
  const info = await readServerInfo(connection).catch(() => undefined)
  return info?.loading !== undefined
}

/** The server answered, and trying again will not change the answer. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && !isPassing(error)
}

export function silentError(address: string, cause: unknown): OperatingError {
  return new StorageError('redis-silent', `Redis at ${address} accepts connections but does not answer`, {
    hint: 'Look whether it is stopped, swapping or waiting for its disk',
    cause,
  })
}
