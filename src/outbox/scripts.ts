import type { Lane } from '../catalog/model.ts'
import type { RedisBatch, RedisConnection } from '../redis/connection.ts'
import { readScripts, type ScriptArgument, type ScriptFolder } from '../redis/scripts.ts'
import type { CatalogKeys } from './keys.ts'
import type { LaneDelays, ProductWrite } from './model.ts'

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

/** Of the store that the mirror replaces. */
const oldScriptKeys = {
  echo: ['documents', 'echoes'],
  revive: ['acknowledged', 'pending', 'new', 'urgent', 'deferred', 'dead', 'dropped'],
  'take-back': ['acknowledged', 'pending', 'urgent', 'new', 'dead', 'refusals'],
  'claim-consent': [
    ...(['urgent', 'new', 'claimed', 'leases', 'documents', 'meta', 'acknowledged', 'unconfirmed'] as const),
    ...(['dead', 'pause', 'pace', 'writer', 'journal'] as const),
  ],
  'park-consent': ['meta', 'pending', 'claimed', 'urgent', 'new', 'leases', 'dead', 'counters'],
  'release-consent': ['pending', 'claimed', 'urgent', 'new', 'leases', 'dead', 'meta', 'unconfirmed'],
  'follow-journal': [
    ...(['acknowledged', 'acknowledgedMeta', 'unconfirmed', 'meta', 'pending', 'claimed', 'urgent'] as const),
    ...(['new', 'leases', 'dead', 'journal', 'pace', 'refusals', 'counters'] as const),
  ],
} as const satisfies Record<string, readonly (keyof CatalogKeys)[]>

export type ScriptName = (typeof outboxScripts)[number] | keyof typeof oldScriptKeys

/** The outbox's scripts bound to one catalog's keys. */
export class OutboxScripts {
  readonly #folder: ScriptFolder<ScriptName>
  readonly #keys: CatalogKeys

  private constructor(folder: ScriptFolder<ScriptName>, keys: CatalogKeys) {
    this.#folder = folder
    this.#keys = keys
  }

  static async read(keys: CatalogKeys): Promise<OutboxScripts> {
    const names = [...outboxScripts, ...Object.keys(oldScriptKeys)] as ScriptName[]
    return new OutboxScripts(await readScripts(new URL('./', import.meta.url), names), keys)
  }

  /** The reply, with strings as Buffers. */
  run(connection: RedisConnection, name: ScriptName, args: readonly ScriptArgument[]): Promise<unknown> {
    return this.#folder.run(connection, name, this.#call(name, args))
  }

  /** Adds a call to a transaction. */
  append(batch: RedisBatch, name: ScriptName, args: readonly ScriptArgument[]): void {
    this.#folder.append(batch, name, this.#call(name, args))
  }

  /** One command that writes `key`, also when Redis is full: without this it would be refused then. */
  write(
    connection: RedisConnection,
    key: 'pace' | 'pause' | 'probed' | 'probeTurn',
    command: readonly [name: string, ...args: ScriptArgument[]],
  ): Promise<unknown> {
    return this.run(connection, 'write', [key, ...command])
  }

  #call(name: ScriptName, args: readonly ScriptArgument[]) {
    const keys = name in oldScriptKeys ? oldScriptKeys[name as keyof typeof oldScriptKeys] : outboxKeys
    return { keys: keys.map((key) => this.#keys[key]), args }
  }
}

export const laneCodes = { urgent: 'u', new: 'n', deferred: 'd' } as const satisfies Record<Lane, string>

/** Arguments of `offer` for the writes that carry an offer. */
export function offerArguments(
  writes: readonly Pick<ProductWrite, 'productId' | 'offer'>[],
  { deferredAfterMs, newAfterMs }: LaneDelays,
): ScriptArgument[] {
  const args: ScriptArgument[] = [deferredAfterMs, newAfterMs]
  for (const { productId, offer } of writes) {
    if (offer) args.push(productId, offer.digest, laneCodes[offer.lane])
  }
  return args
}
