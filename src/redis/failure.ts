import { OperatingError, StorageError, systemErrorCode } from '../lib/errors.ts'

/** What ioredis says when a command could not be sent or its connection broke before the reply. */
const brokenTexts = [
  'Connection is closed',
  "Stream isn't writeable",
  'Command aborted due to connection close',
  'Reached the max retries per request limit',
  'Socket timeout',
  'connect ETIMEDOUT',
]
const brokenCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

const answers: readonly { starts: readonly string[]; code: string; hint: string }[] = [
  { starts: ['LOADING'], code: 'redis-loading', hint: 'Wait until Redis has loaded its data' },
  { starts: ['BUSY '], code: 'redis-busy', hint: 'Wait until the script that runs there has ended' },
  {
    starts: ['READONLY', 'MASTERDOWN', 'NOREPLICAS'],
    code: 'redis-readonly',
    hint: 'Point redis at the primary; catalogd goes on when it may write again',
  },
  {
    starts: ['OOM'],
    code: 'redis-full',
    hint: 'Give Redis more memory (maxmemory); catalogd goes on by itself afterwards',
  },
  {
    starts: ['MISCONF'],
    code: 'redis-disk',
    hint: 'Free disk space on the host of Redis and look into its log',
  },
  {
    starts: ['NOAUTH', 'WRONGPASS', 'NOPERM', 'ERR invalid password', 'ERR AUTH'],
    code: 'redis-credentials',
    hint: 'Correct the user name and password in the Redis URL',
  },
]

/** Redis 6.2 puts this before the refusal of a command that a script called. */
const inScript = /^ERR Error running script .*?: -(?=[A-Z]+ )/s

/** True when the connection broke or could not be made: the outcome of the command is unknown, and waiting helps. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (brokenCodes.has(systemErrorCode(error) ?? '')) return true
  return brokenTexts.some((text) => error.message.includes(text))
}

/**
 * An error of a Redis command as an operating failure with a hint, or the error itself when it is a bug (a wrong type, a
 * failing script).
 */
export function explainRedisFailure(error: unknown, address: string): unknown {
  if (error instanceof OperatingError || !(error instanceof Error)) return error
  if (isConnectionFailure(error)) return downError(address, error)
  const message = firstRefusal(error).message.replace(inScript, '')
  const answer = answers.find(({ starts }) => starts.some((start) => message.startsWith(start)))
  if (!answer) return error
  return new StorageError(answer.code, `Redis at ${address} answers: ${message}`, {
    hint: answer.hint,
    cause: error,
  })
}

/** Waiting helps: Redis is away, silent or busy, loads its data, is full or may not write. */
export function isPassing(error: unknown): boolean {
  return /^redis-(down|silent|loading|busy|readonly|full|disk)$/.test(codeOf(error))
}

/** Redis refuses whatever may need memory. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === 'redis-full'
}

function codeOf(error: unknown): string {
  const explained = explainRedisFailure(error, '')
  return explained instanceof OperatingError ? explained.code : ''
}

/** A transaction is discarded when one of its commands is refused; ioredis attaches what those were told. */
function firstRefusal(error: Error): Error {
  const { previousErrors } = error as Error & { previousErrors?: unknown }
  const [first] = Array.isArray(previousErrors) ? (previousErrors as unknown[]) : []
  return first instanceof Error ? first : error
}

export function downError(address: string, cause: unknown): StorageError {
  const reason = cause instanceof Error ? `: ${cause.message}` : ''
  return new StorageError('redis-down', `Redis at ${address} cannot be reached${reason}`, {
    hint: 'Start Redis, or leave redis out of the configuration so that catalogd runs its own',
    cause,
  })
}
