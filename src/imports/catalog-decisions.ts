import type { ProductId } from '../lib/brand.ts'
import { settleDeadLetters } from '../outbox/dead-letters.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { DeliveryOutbox } from '../outbox/model.ts'
import type { OutboxScripts } from '../outbox/scripts.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { DecisionLine } from '../sources/model.ts'

interface DecisionAccess {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  outbox: DeliveryOutbox
}

/** Carries out a decision about the catalog as a whole. Safe to repeat. */
export async function applyCatalogDecision(access: DecisionAccess, line: DecisionLine): Promise<void> {
  const { connection, scripts, outbox } = access
  switch (line.decision) {
    case 'pause':
      return outbox.pause('operator', 'catalogd resume lets calls begin again')
    case 'resume':
      await outbox.resume('operator', 'operator')
      return outbox.resume('refuses-everything', 'operator')
    case 'drop-dead':
      await settleDeadLetters({ connection, scripts }, { how: 'drop', ids: line.ids })
      return
    case 'resync':
      for await (const ids of line.ids.length > 0 ? parts(line.ids) : allProducts(access)) {
        await scripts.run(connection, 'echo', ids)
      }
      return
    case 'approve':
    case 'discard':
      throw new Error(`${line.decision} is a decision about a feed`)
    default:
      line satisfies never
  }
}

async function* allProducts({ connection, keys }: DecisionAccess): AsyncIterable<ProductId[]> {
  for await (const page of connection.hscanStream(keys.meta, { count: 1_000 })) {
    const pairs = page as ProductId[]
    const ids = pairs.filter((_, index) => index % 2 === 0)
    if (ids.length > 0) yield ids
  }
}

async function* parts(ids: readonly ProductId[]): AsyncIterable<ProductId[]> {
  for (let start = 0; start < ids.length; start += 1_000) yield ids.slice(start, start + 1_000)
}
