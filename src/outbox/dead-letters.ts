import type { ProductId } from '../lib/brand.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import type { OutboxScripts } from './scripts.ts'

/** A product that the endpoint refused, until a newer document revives it. */
export interface DeadLetter {
  productId: string
  /** The endpoint's own words where it gave any. */
  reason: string
  /** HTTP status; null when the product was never sent (too large for any call). */
  status: number | null
  requestId: string | null
  /** ISO 8601. */
  at: string
}

const digestBytes = 16

interface Access {
  connection: RedisConnection
  keys: CatalogKeys
}

/** All dead letters, in no order. */
export async function* readDeadLetters({ connection, keys }: Access): AsyncIterable<DeadLetter> {
  let cursor = '0'
  do {
    const [next, pairs] = (await connection.hscanBuffer(keys.dead, cursor, 'COUNT', 500)) as [
      Buffer,
      Buffer[],
    ]
    cursor = next.toString()
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const [id, letter] = [pairs[i], pairs[i + 1]]
      if (id && letter) yield parseLetter(id.toString(), letter)
    }
  } while (cursor !== '0')
}

/** Undefined when the product is no dead letter. */
export async function readDeadLetter(
  { connection, keys }: Access,
  id: string,
): Promise<DeadLetter | undefined> {
  const letter = await connection.hgetBuffer(keys.dead, id)
  return letter ? parseLetter(id, letter) : undefined
}

/**
 * Retry: back to the outbox. Drop: settled for good, until a newer document comes; with `digests` only those documents,
 * and also where Redis has forgotten that they were refused. Returns the ids it acted on.
 */
export async function settleDeadLetters(
  { connection, scripts }: { connection: RedisConnection; scripts: OutboxScripts },
  {
    how,
    ids,
    digests = [],
  }: { how: 'retry' | 'drop'; ids: readonly ProductId[]; digests?: readonly string[] },
): Promise<ProductId[]> {
  const done: ProductId[] = []
  const letters = ids.map((id, index) => [id, Buffer.from(digests[index] ?? '', 'hex')] as const)
  for (let start = 0; start < letters.length; start += 1_000) {
    const part = letters.slice(start, start + 1_000).flat()
    const answer = await scripts.run(connection, 'revive', [how, ...part])
    done.push(...(answer as Buffer[]).map((id) => id.toString() as ProductId))
  }
  return done
}

/** `letter`: 16 bytes of digest, then JSON. */
export function parseLetter(productId: string, letter: Buffer): DeadLetter {
  const fields = JSON.parse(letter.subarray(digestBytes).toString('utf8')) as Partial<DeadLetter>
  const { reason = '', status = null, requestId = null, at = '' } = fields
  return { productId, reason, status, requestId, at }
}
