import type { RedisConnection } from './connection.ts'
import { parseServerInfo } from './server-info.ts'

/**
 * Which run of the server a connection talks to. Another run may have lost writes, so it is asked anew after each
 * reconnect.
 */
export class RunId {
  readonly #connection: RedisConnection
  #known: { stream: unknown; runId: string } | undefined

  constructor(connection: RedisConnection) {
    this.#connection = connection
  }

  async read(): Promise<string> {
    const { stream, status } = this.#connection
    if (status === 'ready' && this.#known?.stream === stream) return this.#known.runId
    const { runId } = parseServerInfo(await this.#connection.info('server'))
    // It may have reconnected meanwhile; then the answer is of one of both.
    this.#known = this.#connection.stream === stream ? { stream, runId } : undefined
    return runId
  }
}
