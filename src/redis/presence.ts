import { Redis } from 'ioredis'
import type { Clock } from '../lib/clock.ts'
import { StorageError, systemErrorCode } from '../lib/errors.ts'
import { closeConnection, type RedisConnection } from './connection.ts'
import { connectionOptions } from './connection-options.ts'
import { silentError } from './readiness.ts'

const namePattern = /(?:^| )name=catalogd:\d+:presence(?: |$)/

/**
 * Connects to the embedded server as one of its users: while the connection lives, so does the use. The kernel closes it
 * when the process is killed, so users are never counted wrong. `absent`: nobody listens; `closing`: the server closes
 * new connections, as it does while it ends.
 */
export async function joinServer(
  socketPath: string,
  clock: Clock,
): Promise<RedisConnection | 'absent' | 'closing'> {
  const connection = new Redis({
    ...connectionOptions({ kind: 'socket', path: socketPath }, 'writer'),
    connectionName: `catalogd:${process.pid}:presence`,
    // A server that loads its data is joined, too: it must not be started a second time.
    enableReadyCheck: false,
  })
  let reason: unknown
  connection.on('error', (error) => {
    reason = error
  })
  try {
    await connection.connect()
    // The name of the connection has been sent before: with this reply it is known to the server.
    await connection.client('ID')
    return connection
  } catch {
    await closeConnection(connection, clock)
    return classify(socketPath, reason)
  }
}

function classify(socketPath: string, cause: unknown): 'absent' | 'closing' {
  const code = systemErrorCode(cause) ?? ''
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent'
  if (cause === undefined || code === 'ECONNRESET' || code === 'EPIPE') return 'closing'
  if (code === 'EACCES' || code === 'EPERM') {
    throw new StorageError('redis-foreign', `The embedded Redis at ${socketPath} belongs to another user`, {
      hint: 'Run all commands of one state folder as the same user',
      cause,
    })
  }
  throw silentError(socketPath, cause)
}

/** How many processes use the server besides the one of this connection. */
export async function countOtherUsers(presence: RedisConnection): Promise<number> {
  const [own, list] = await Promise.all([presence.client('ID'), presence.client('LIST')])
  const lines = String(list)
    .split('\n')
    .filter((line) => namePattern.test(line))
  return lines.filter((line) => !line.startsWith(`id=${own} `)).length
}
