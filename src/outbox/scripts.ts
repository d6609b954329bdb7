import type { RedisBatch, RedisConnection } from '../redis/connection.ts'
import { readScripts, type ScriptArgument, type ScriptFolder } from '../redis/scripts.ts'
import type { CatalogKeys } from './keys.ts'
import type { LaneDelays, ProductWrite } from './model.ts'

/** `start.lua` takes the expiry off the first key of a script, so none that has one comes first. */
type LastingKey = Exclude<keyof CatalogKeys, 'probed' | 'probeTurn' | 'writerLease'>

/** Which keys each script declares, in the order of its KEYS. */
const scriptKeys = {
  offer: ['acknowledged', 'pending', 'claimed', 'urgent', 'new', 'deferred', 'dead'],
  claim: ['urgent', 'new', 'deferred', 'echoes', 'claimed', 'leases', 'documents', 'dead', 'pause', 'pace'],
  acknowledge: [
    'acknowledged',
    'pending',
    'claimed',
    'urgent',
    'new',
    'deferred',
    'echoes',
    'leases',
    'pace',
    'refusals',
    'counters',
    'dead',
  ],
  release: ['acknowledged', 'pending', 'claimed', 'urgent', 'new', 'deferred', 'echoes', 'leases', 'dead'],
  reject: [
    'acknowledged',
    'pending',
    'claimed',
    'urgent',
    'new',
    'deferred',
    'echoes',
    'leases',
    'dead',
    'refusals',
    'pause',
    'counters',
    'dropped',
  ],
  admit: ['pause', 'pace'],
  renew: ['leases'],
  hold: ['pace'],
  limit: ['pace'],
  write: ['pace'],
  'correct-times': ['urgent', 'new', 'deferred', 'echoes', 'leases', 'probed', 'probeTurn'],
  look: ['urgent', 'new', 'deferred', 'echoes', 'pause', 'pace', 'leases', 'claimed'],
  echo: ['documents', 'echoes'],
  revive: ['acknowledged', 'pending', 'new', 'urgent', 'deferred', 'dead', 'dropped'],
} as const satisfies Record<string, readonly [LastingKey, ...(keyof CatalogKeys)[]]>

export type ScriptName = keyof typeof scriptKeys

/** The outbox's scripts bound to one catalog's keys. */
export class OutboxScripts {
  readonly #folder: ScriptFolder<ScriptName>
  readonly #keys: CatalogKeys

  private constructor(folder: ScriptFolder<ScriptName>, keys: CatalogKeys) {
    this.#folder = folder
    this.#keys = keys
  }

  static async read(keys: CatalogKeys): Promise<OutboxScripts> {
    const names = Object.keys(scriptKeys) as ScriptName[]
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
    const keys = [this.#keys.pace, this.#keys[key]]
    return this.#folder.run(connection, 'write', { keys, args: command })
  }

  #call(name: ScriptName, args: readonly ScriptArgument[]) {
    return { keys: scriptKeys[name].map((key) => this.#keys[key]), args }
  }
}

const laneCodes = { urgent: 'u', new: 'n', deferred: 'd' } as const

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
