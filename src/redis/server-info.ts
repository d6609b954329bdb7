import { StorageError } from '../lib/errors.ts'

/** What `INFO` says, as far as catalogd needs it. */
export interface ServerInfo {
  /** Of Redis, or the Redis version that Valkey is compatible with. */
  version: string
  processId: number
  /** Another one after each start. */
  runId: string
  /** Since this server was started. */
  uptimeSeconds: number
  loading: { percent: number; secondsLeft: number } | undefined
  usedMemoryBytes: number
  /** 0: no limit. */
  maxMemoryBytes: number
  /** Nothing is offered, so that what was can be delivered. */
  isShortOfMemory: boolean
  evictionPolicy: string
  aof: 'off' | 'ok' | 'failing'
}

/** From here on imports wait, long before Redis refuses writes. */
const memoryShareMax = 0.7

const versionMin = [6, 2] as const

export function parseServerInfo(text: string): ServerInfo {
  const lines = text.split('\n').map((line) => line.trim())
  const fields = new Map(lines.filter((line) => line.includes(':')).map(splitAtColon))
  const number = (name: string) => Number(fields.get(name) ?? 0)
  const [used, max] = [number('used_memory'), number('maxmemory')]
  return {
    version: fields.get('redis_version') ?? '0',
    processId: number('process_id'),
    runId: fields.get('run_id') ?? '',
    uptimeSeconds: number('uptime_in_seconds'),
    loading:
      number('loading') === 1
        ? { percent: number('loading_loaded_perc'), secondsLeft: number('loading_eta_seconds') }
        : undefined,
    usedMemoryBytes: used,
    maxMemoryBytes: max,
    isShortOfMemory: max > 0 && used >= max * memoryShareMax,
    evictionPolicy: fields.get('maxmemory_policy') ?? 'noeviction',
    aof: aofState(number('aof_enabled'), fields.get('aof_last_write_status')),
  }
}

function splitAtColon(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1)]
}

function aofState(enabled: number, lastWrite: string | undefined): ServerInfo['aof'] {
  if (enabled !== 1) return 'off'
  return lastWrite === undefined || lastWrite === 'ok' ? 'ok' : 'failing'
}

/** Refuses a server that would lose entries of the outbox, or does not know the commands that are used. */
export function checkServerInfo(info: ServerInfo, address: string): void {
  const [major = 0, minor = 0] = info.version.split('.').map(Number)
  if (major < versionMin[0] || (major === versionMin[0] && minor < versionMin[1])) {
    throw new StorageError('redis-version', `Redis at ${address} is of version ${info.version}`, {
      hint: `Use Redis ${versionMin.join('.')} or later, or Valkey`,
    })
  }
  if (info.maxMemoryBytes > 0 && info.evictionPolicy !== 'noeviction') {
    throw new StorageError(
      'redis-eviction',
      `Redis at ${address} deletes keys when its memory is full (maxmemory-policy ${info.evictionPolicy})`,
      { hint: 'Set maxmemory-policy to noeviction, or use a Redis of its own for catalogd' },
    )
  }
}
