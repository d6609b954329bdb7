import type { RedisConnection } from '../redis/connection.ts'
import { RunId } from '../redis/run-id.ts'
import { type GuardOwner, passOf, readGuard } from './guard.ts'
import { type CatalogKeys, outboxVersion } from './keys.ts'

interface PassOptions {
  connection: RedisConnection
  keys: CatalogKeys
  /** As the configuration names it: no call begins for keys of another one. */
  endpoint: () => string
  /** Of the process that imports: only its own mirror's products are sent. Others serve whichever mirror Redis names. */
  mirrorId?: (() => string | undefined) | undefined
}

/** With what a delivering process asks the guard: its endpoint and run of Redis, and the mirror that it serves. */
export class GuardPass {
  readonly #options: PassOptions
  readonly #runId: RunId
  /** What the guard named when it was read last. */
  #owner: Pick<GuardOwner, 'mirrorId' | 'generation'> | undefined

  constructor(options: PassOptions) {
    this.#options = options
    this.#runId = new RunId(options.connection)
  }

  async read(): Promise<string> {
    if (this.#owner === undefined) await this.renew()
    const runId = await this.#runId.read()
    return this.#owner ? passOf({ ...this.#owner, endpoint: this.#options.endpoint() }, runId) : ''
  }

  /** For people: what the guard names that this process does not serve. Undefined: nothing. */
  async explain(): Promise<string | undefined> {
    const { connection, keys, endpoint } = this.#options
    const guard = await readGuard(connection, keys)
    if (!guard) return 'no process that imports the catalog has used this Redis'
    const served = `Redis serves the state in ${guard.folder} on ${guard.host}`
    if (guard.endpoint !== endpoint())
      return `${served}, which is sent to ${guard.endpoint}, and this process is configured for ${endpoint()}`
    if (guard.version !== outboxVersion)
      return `${served} in version ${guard.version}, and this catalogd knows version ${outboxVersion}`
    return undefined
  }

  /** Serves what the guard names now. Returns whether that is another mirror or generation than before. */
  async renew(): Promise<boolean> {
    const { connection, keys, mirrorId } = this.#options
    const before = this.#owner
    const guard = await readGuard(connection, keys)
    const own = mirrorId?.()
    if (!guard || (own !== undefined && guard.mirrorId !== own)) return false
    this.#owner = { mirrorId: guard.mirrorId, generation: guard.generation }
    return before?.mirrorId !== guard.mirrorId || before.generation !== guard.generation
  }
}
