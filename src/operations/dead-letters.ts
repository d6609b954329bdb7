import type { ProductId } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import {
  type DeadLetter,
  readDeadDigests,
  readDeadLetter,
  readDeadLetters,
  settleDeadLetters,
} from '../outbox/dead-letters.ts'
import { openOutbox } from '../storage.ts'
import { decide } from './decide.ts'
import type { OperationContext } from './run-here.ts'

export interface ShownDeadLetter extends DeadLetter {
  /** The document that was refused, or a newer one that is on its way. */
  document: unknown
}

/** Oldest first. */
export async function listDeadLetters(context: OperationContext): Promise<DeadLetter[]> {
  const { keys } = await openOutbox(context)
  const letters: DeadLetter[] = []
  for await (const letter of readDeadLetters({ connection: context.connections.commands, keys }))
    letters.push(letter)
  return letters.sort((one, other) => one.at.localeCompare(other.at))
}

/** Throws a ConfigError when the product is no dead letter. The document is shown without sensitive fields. */
export async function showDeadLetter(context: OperationContext, id: string): Promise<ShownDeadLetter> {
  const { keys } = await openOutbox(context)
  const connection = context.connections.commands
  const letter = await readDeadLetter({ connection, keys }, id)
  if (!letter) {
    throw new ConfigError('no-dead-letter', `${id} is no dead letter`, { hint: 'See catalogd dead list' })
  }
  const document = JSON.parse((await connection.hget(keys.documents, id)) ?? 'null')
  if (document !== null && 'supplier_cost' in document) document.supplier_cost = '(hidden)'
  return { ...letter, document }
}

/** Back to the outbox. No ids: all. Returns which. */
export async function retryDeadLetters(context: OperationContext, ids: readonly string[]): Promise<string[]> {
  const { scripts } = await openOutbox(context)
  const connection = context.connections.commands
  return settleDeadLetters({ connection, scripts }, { how: 'retry', ids: await chosen(context, ids) })
}

/** Settled for good until a newer document comes: a decision that is written down. No ids: all. Returns which. */
export async function dropDeadLetters(context: OperationContext, ids: readonly string[]): Promise<string[]> {
  const { keys } = await openOutbox(context)
  const wanted = await chosen(context, ids)
  const found = await readDeadDigests({ connection: context.connections.commands, keys }, wanted)
  const dropped = wanted.filter((_, index) => found[index] !== undefined)
  const digests = found.filter((digest) => digest !== undefined)
  if (dropped.length > 0) await decide(context, { decision: 'drop-dead', ids: dropped, digests })
  return dropped
}

async function chosen(context: OperationContext, ids: readonly string[]): Promise<ProductId[]> {
  if (ids.length > 0) return ids as ProductId[]
  return (await listDeadLetters(context)).map(({ productId }) => productId as ProductId)
}
