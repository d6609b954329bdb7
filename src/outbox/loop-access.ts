import type { Lane } from '../catalog/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { NewCallAnswer } from '../mirror/loop-model.ts'
import type { MirrorStore } from '../mirror/store.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { MirrorPlace } from './guard.ts'
import type { CatalogKeys } from './keys.ts'
import type { OutboxScripts } from './scripts/scripts.ts'

export interface LoopSettings {
  catalog: string
  keys: CatalogKeys
  scripts: OutboxScripts
  mirror: MirrorStore
  /** As the configuration names it. */
  endpoint: string
  place: MirrorPlace
  delivery: { callBytes: number; timeoutMs: number; horizonMs: number }
  deferredAfterMs: number
  /** This process delivers, too: it reads documents in the mirror. Default: no. */
  isDelivering?: boolean
  /** For calls of new products that are made in this process. */
  onNewCalls?: (answer: NewCallAnswer) => void
  /** New products wait so long for others to share their call. */
  newAfterMs: number
  /** How long acknowledgements wait while there is something to offer. */
  drainAfterMs: number
  /** From this many acknowledgements on, a drain goes through the mirror's products instead of all that Redis has. Default: 20,000. */
  walkFrom?: number
  /** Bytes of the documents of one lane, from which on no more of it are offered; at least four calls. */
  pendingBytes: number
  clock: Clock
  log: Log
}

/** One connection's loop. The connection never reconnects; `session` is of this connection alone. */
export interface LoopAccess extends LoopSettings {
  connection: RedisConnection
  session: string
  runId: string
}

/** Redis is not as it was a moment ago: another process, a rollback, a closed guard. All is compared again. */
export class OutboxMovedError extends Error {}

/** Throws unless the script found this session's guard. */
export function checkSession(answer: unknown): void {
  if (Number(answer) !== 1) throw new OutboxMovedError('another process has taken over, or Redis fell back')
}

export function numbersOf(values: readonly unknown[]): Record<Lane, number> {
  const [urgent, fresh, deferred] = values.map((value) => Number(value ?? 0))
  return { urgent: urgent ?? 0, new: fresh ?? 0, deferred: deferred ?? 0 }
}

/** Lets commits and other work of the thread go between two synchronous steps. */
export function afterOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export async function beat(access: LoopAccess): Promise<void> {
  access.mirror.noteBeat(await raiseBeat(access))
}

/**
 * Raised in Redis, then noted, and durable with what the turn changes first, before it is raised again: Redis is ahead by one
 * at most. Safe to repeat; what was raised and not noted is raised to the same again.
 */
export async function raiseBeat({ connection, scripts, session, mirror }: LoopAccess): Promise<number> {
  mirror.keepBeat()
  const { beat: remembered } = mirror.readIdentity()
  checkSession(await scripts.run(connection, 'beat', [session, String(remembered)]))
  return remembered + 1
}
