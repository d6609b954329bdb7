import type { RedisOptions } from 'ioredis'
import { ConfigError } from '../lib/errors.ts'

/** Where Redis is: a server of the operator's, or the embedded one. */
export type RedisAddress = { kind: 'url'; url: string } | { kind: 'socket'; path: string }

/**
 * A connection that stays silent so long although a reply is due is given up and made anew: a black-holed connection is
 * never reported by the operating system within a useful time.
 */
const silenceMaxMs = 10_000

/** BullMQ blocks up to 10 s while it waits for a delayed ticket: its silence is no failure. */
const blockingSilenceMaxMs = 15_000

const reconnectAfterMaxMs = 1_000

/**
 * What each kind of connection does when Redis goes away:
 * - `commands` fails at once, and comes back by itself. Nothing is queued or sent twice behind the caller's back.
 * - `writer` fails at once and is dead for good: a WATCH must never be lost without notice.
 * - `worker` waits and sends again, as BullMQ workers need it.
 */
export type ConnectionRole = 'commands' | 'writer' | 'worker'

const optionsOfRoles: Record<ConnectionRole, RedisOptions> = {
  commands: {
    enableOfflineQueue: false,
    // 0: what was under way when the connection broke is rejected. Without it ioredis would neither resend nor settle it.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: reconnectAfterMs,
    reconnectOnError: isFailedOver,
  },
  writer: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: null,
  },
  worker: {
    // BullMQ never recovers from a first connect that it began itself and that failed.
    lazyConnect: false,
    maxRetriesPerRequest: null,
    retryStrategy: reconnectAfterMs,
    reconnectOnError: isFailedOver,
  },
}

/** `legacy`: maps and doubles in the shapes of RESP2. */
export type ConnectionOptions = RedisOptions & { replyMapping: 'legacy' }

export function connectionOptions(address: RedisAddress, role: ConnectionRole): ConnectionOptions {
  return {
    ...addressOptions(address),
    lazyConnect: true,
    // Replies keep one shape on every server, inside scripts and out of them; nothing here needs RESP3.
    protocol: 2,
    connectTimeout: silenceMaxMs,
    socketTimeout: silenceMaxMs,
    // While Redis loads its data, ask again this often whether it is done.
    maxLoadingRetryTime: 500,
    connectionName: `catalogd:${process.pid}:${role}`,
    ...optionsOfRoles[role],
    replyMapping: 'legacy',
  }
}

/** What differs in the second connection that BullMQ makes of a worker's. */
export const blockingOptions: RedisOptions = { socketTimeout: blockingSilenceMaxMs }

function reconnectAfterMs(attempt: number): number {
  return Math.min(50 * 2 ** Math.min(attempt - 1, 10), reconnectAfterMaxMs)
}

/** The server became a replica: connect again, to reach the new primary. */
function isFailedOver(error: Error): boolean {
  return error.message.startsWith('READONLY')
}

/** The address without credentials, for messages. */
export function describeAddress(address: RedisAddress): string {
  if (address.kind === 'socket') return address.path
  const { protocol, host, pathname } = parseUrl(address.url)
  return `${protocol}//${host}${pathname}`
}

function addressOptions(address: RedisAddress): RedisOptions {
  if (address.kind === 'socket') return { path: address.path }
  const url = parseUrl(address.url)
  if (url.protocol === 'unix:') return { path: decodeURIComponent(url.pathname) }
  const db = Number(url.pathname.slice(1) || 0)
  if (!Number.isInteger(db) || db < 0) {
    throw new ConfigError('redis-url', `redis: "${url.pathname}" is no database number`, {
      hint: 'End the URL with the number of a database, for instance /0, or with nothing',
    })
  }
  return {
    // Brackets belong to the URL, not to the IPv6 address.
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: url.port === '' ? 6379 : Number(url.port),
    db,
    ...(url.username === '' ? {} : { username: decodeURIComponent(url.username) }),
    ...(url.password === '' ? {} : { password: decodeURIComponent(url.password) }),
    ...(url.protocol === 'rediss:' ? { tls: {} } : {}),
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url && ['redis:', 'rediss:', 'unix:'].includes(url.protocol)) return url
  // The text may hold a password, so it is not repeated.
  throw new ConfigError(
    'redis-url',
    `redis: the value is no Redis URL${url ? ` (${url.protocol}//…)` : ''}`,
    {
      hint: 'Write redis://host:6379/0, rediss://… for TLS or unix:/path/to/socket, or leave it empty',
    },
  )
}
