import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ifPresent } from '../lib/errors.ts'
import type { RedisBatch, RedisConnection } from './connection.ts'

export type ScriptArgument = string | number | Buffer

export interface ScriptCall {
  keys: readonly string[]
  args: readonly ScriptArgument[]
}

interface Script {
  source: string
  sha: string
}

/**
 * Lua scripts of one folder, one operation a file, run by their digest. Redis forgets scripts when it restarts, fails
 * over or is told to: `run` loads a forgotten one and repeats by itself, since a call refused with NOSCRIPT has changed
 * nothing. Inside MULTI that is too late (the other commands of the transaction would be applied without it), so there
 * the source goes along.
 */
export class ScriptFolder<Name extends string> {
  readonly #scripts: ReadonlyMap<Name, Script>

  constructor(scripts: ReadonlyMap<Name, Script>) {
    this.#scripts = scripts
  }

  /** The reply, with strings as Buffers at any depth (digests are not text). */
  async run(connection: RedisConnection, name: Name, { keys, args }: ScriptCall): Promise<unknown> {
    const { source, sha } = this.#script(name)
    try {
      return await connection.callBuffer('EVALSHA', sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!isForgottenScript(error)) throw error
      return connection.callBuffer('EVAL', source, keys.length, ...keys, ...args)
    }
  }

  /** Adds the call to a pipeline or transaction; its reply has Buffers too. */
  append(batch: RedisBatch, name: Name, { keys, args }: ScriptCall): RedisBatch {
    return batch.callBuffer('EVAL', this.#script(name).source, keys.length, ...keys, ...args)
  }

  #script(name: Name): Script {
    const script = this.#scripts.get(name)
    if (!script) throw new Error(`no script is named ${name}`)
    return script
  }
}

/**
 * Reads `<name>.lua` for each name from a folder, given as a URL relative to the module that uses them. What `start.lua`
 * of the folder holds, if there is one, goes before each script.
 */
export async function readScripts<Name extends string>(
  folder: URL,
  names: readonly Name[],
): Promise<ScriptFolder<Name>> {
  const start = (await ifPresent(readFile(new URL('start.lua', folder), 'utf8'))) ?? ''
  const entries = names.map(async (name): Promise<[Name, Script]> => {
    const source = start + (await readFile(new URL(`${name}.lua`, folder), 'utf8'))
    return [name, { source, sha: createHash('sha1').update(source).digest('hex') }]
  })
  return new ScriptFolder(new Map(await Promise.all(entries)))
}

function isForgottenScript(error: unknown): boolean {
  return error instanceof Error && error.message.includes('NOSCRIPT')
}
