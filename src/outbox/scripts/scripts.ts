import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Lane } from '../../catalog/model.ts'
import type { RedisBatch, RedisConnection } from '../../redis/connection.ts'
import { type CatalogKeys, keyNames } from '../keys.ts'

export type ScriptArgument = string | number | Buffer

const scriptNames = [
  ...(['offer', 'claim', 'acknowledge', 'release', 'reject', 'admit', 'renew', 'hold', 'limit'] as const),
  ...(['write', 'correct-times', 'look', 'drain', 'drained', 'take', 'beat'] as const),
  ...(['shut', 'open', 'bind'] as const),
] as const

export type ScriptName = (typeof scriptNames)[number]

interface Script {
  source: string
  sha: string
}

/** What delivery has to remember, also when Redis is full. */
export type SmallWrite = [
  key: 'pace' | 'pause' | 'probed' | 'probeTurn',
  command: readonly [name: string, ...args: ScriptArgument[]],
]

/**
 * The Lua scripts of this folder, one operation a file, bound to one catalog's keys and run by their digest. `start.lua`
 * goes before each. Redis forgets scripts when it restarts, fails over or is told to: `run` loads a forgotten one and
 * repeats by itself, since a call refused with NOSCRIPT has changed nothing. Inside MULTI that is too late (the other
 * commands of the transaction would be applied without it), so there the source goes along.
 */
export class OutboxScripts {
  readonly #scripts: Readonly<Record<ScriptName, Script>>
  readonly #keys: readonly string[]

  private constructor(scripts: Readonly<Record<ScriptName, Script>>, keys: CatalogKeys) {
    this.#scripts = scripts
    this.#keys = keyNames.map((name) => keys[name])
  }

  static async read(keys: CatalogKeys): Promise<OutboxScripts> {
    const start = await readScript('start')
    const entries = scriptNames.map(async (name) => {
      const source = start + (await readScript(name))
      return [name, { source, sha: createHash('sha1').update(source).digest('hex') }] as const
    })
    const scripts = Object.fromEntries(await Promise.all(entries)) as Record<ScriptName, Script>
    return new OutboxScripts(scripts, keys)
  }

  /** The reply, with strings as Buffers at any depth (digests are not text). */
  async run(
    connection: RedisConnection,
    name: ScriptName,
    args: readonly ScriptArgument[],
  ): Promise<unknown> {
    const { source, sha } = this.#scripts[name]
    const call = [this.#keys.length, ...this.#keys, ...args]
    try {
      return await connection.callBuffer('EVALSHA', sha, ...call)
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('NOSCRIPT'))) throw error
      return connection.callBuffer('EVAL', source, ...call)
    }
  }

  /** Adds a call to a transaction; its reply has Buffers too. */
  append(batch: RedisBatch, name: ScriptName, args: readonly ScriptArgument[]): void {
    batch.callBuffer('EVAL', this.#scripts[name].source, this.#keys.length, ...this.#keys, ...args)
  }

  /** One command that writes `key`, also when Redis is full: without this it would be refused then. */
  write(connection: RedisConnection, ...[key, command]: SmallWrite): Promise<unknown> {
    return this.run(connection, 'write', [key, ...command])
  }
}

function readScript(name: string): Promise<string> {
  return readFile(new URL(`./${name}.lua`, import.meta.url), 'utf8')
}

export const laneCodes = { urgent: 'u', new: 'n', deferred: 'd' } as const satisfies Record<Lane, string>
