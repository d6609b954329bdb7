import type { ConsentStore } from '../consents/store.ts'
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

type PauseDecision = Extract<DecisionLine, { decision: 'pause' | 'resume' }>

/** Carries out a decision about the products of the catalog as a whole. Safe to repeat. */
export async function applyCatalogDecision(access: DecisionAccess, line: DecisionLine): Promise<void> {
  const { connection, scripts, outbox } = access
  if ('of' in line && line.of === 'consents') return
  switch (line.decision) {
    case 'pause':
    case 'resume':
      return applyPause(outbox, line)
    case 'drop-dead':
      await settleDeadLetters({ connection, scripts }, { ...line, how: 'drop' })
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

/** The same for the consents of the catalog. */
export async function applyConsentDecision(consents: ConsentStore, line: DecisionLine): Promise<void> {
  if ('of' in line && line.of === 'products') return
  switch (line.decision) {
    case 'pause':
    case 'resume':
      return consents.pause(line.decision)
    case 'retry-dead':
      return consents.settle('retry', line.ids)
    case 'drop-dead':
      if (line.of === 'consents') await consents.settle('drop', line.ids)
      return
    case 'resync':
      // Of products: a consent is never sent again.
      return
    case 'approve':
    case 'discard':
      throw new Error(`${line.decision} is a decision about a feed`)
    default:
      line satisfies never
  }
}

async function applyPause(outbox: DeliveryOutbox, { decision }: PauseDecision): Promise<void> {
  if (decision === 'pause') return outbox.pause('operator', 'catalogd resume lets calls begin again')
  await outbox.resume('operator', 'operator')
  await outbox.resume('refuses-everything', 'operator')
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
