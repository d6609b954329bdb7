import { parseServerInfo } from '../redis/server-info.ts'
import type { LoopAccess } from './loop-access.ts'

const knownForMs = 250

/** Long before Redis refuses writes nothing more is offered. */
export class RedisMemory {
  #known = { askedAt: Number.NEGATIVE_INFINITY, isShort: false }

  async isShort({ connection, clock }: Pick<LoopAccess, 'connection' | 'clock'>): Promise<boolean> {
    const askedAt = clock.monotonic()
    if (askedAt - this.#known.askedAt >= knownForMs) {
      const { isShortOfMemory: isShort } = parseServerInfo(await connection.info('memory'))
      this.#known = { askedAt, isShort }
    }
    return this.#known.isShort
  }
}
