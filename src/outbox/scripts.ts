import type { Lane } from '../catalog/model.ts'
import type { RedisBatch, RedisConnection } from '../redis/connection.ts'
import { readScripts, type ScriptArgument, type ScriptFolder } from '../redis/scripts.ts'
import type { CatalogKeys } from './keys.ts'

/** KEYS of every script of the outbox, in the order in which `start.lua` names them. */
const outboxKeys = [
  ...(['documents', 'pending', 'urgent', 'new', 'deferred', 'echoes', 'requests', 'claimed'] as const),
  ...(['leases', 'acknowledged', 'dead', 'refusals', 'pause', 'pace', 'positions', 'bytes'] as const),
  ...(['beat', 'guard', 'counters', 'probed', 'probeTurn'] as const),
] as const satisfies (keyof CatalogKeys)[]

const outboxScripts = [
  ...(['offer', 'claim', 'acknowledge', 'release', 'reject', 'admit', 'renew', 'hold', 'limit'] as const),
  ...(['write', 'correct-times', 'look', 'drain', 'drained', 'take', 'beat'] as const),
  ...(['shut', 'open'] as const),
] as const

export type ScriptName = (typeof outboxScripts)[number]

/** The outbox's scripts bound to one catalog's keys. */
export class OutboxScripts {
  readonly #folder: ScriptFolder<ScriptName>
  readonly #keys: CatalogKeys

  private constructor(folder: ScriptFolder<ScriptName>, keys: CatalogKeys) {
    this.#folder = folder
    this.#keys = keys
  }

  static async read(keys: CatalogKeys): Promise<OutboxScripts> {
    return new OutboxScripts(await readScripts(new URL('./', import.meta.url), outboxScripts), keys)
  }

  /** The reply, with strings as Buffers. */
  run(connection: RedisConnection, name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown> {
    return this.#folder.run(connection, name, this.#call(args))
  }

  /** Adds a call to a transaction. */
  append(batch: RedisBatch, name: ScriptName, args: readonly ScriptArgument[]): void {
    this.#folder.append(batch, name, this.#call(args))
  }

  /** One command that writes `key`, also when Redis is full: without this it would be refused then. */
  write(
    connection: RedisConnection,
    key: 'pace' | 'pause' | 'probed' | 'probeTurn',
    command: readonly [name: string, ...args: ScriptArgument[]],
  ): Promise<unknown> {
    return this.run(connection, 'write', [key, ...command])
  }

  #call(args: readonly ScriptArgument[]) {
    return { keys: outboxKeys.map((key) => this.#keys[key]), args }
  }
}

export const laneCodes = { urgent: 'u', new: 'n', deferred: 'd' } as const satisfies Record<Lane, string>
