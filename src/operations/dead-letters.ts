import { shownDocument } from '../catalog/show-value.ts'
import { ConsentReader, type DeadConsent } from '../consents/reader.ts'
import type { ProductId } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import type { DeadLetter } from '../mirror/model.ts'
import { openMirror, stateDirOf } from '../storage.ts'
import { decide } from './decide.ts'
import type { OperationContext } from './run-here.ts'

/** The disk alone: who only looks needs no Redis. */
type Place = Pick<OperationContext, 'config' | 'catalog'>

export interface ShownDeadLetter extends DeadLetter {
  /** The document that was refused, or a newer one that is on its way. */
  document: unknown
}

/** Oldest first. */
export async function listDeadLetters({ config, catalog }: Place): Promise<DeadLetter[]> {
  using mirror = await openMirror(config, catalog)
  return mirror.deadLetters()
}

/** Throws a ConfigError when the product is no dead letter. The document is shown without sensitive fields. */
export async function showDeadLetter({ config, catalog }: Place, given: string): Promise<ShownDeadLetter> {
  const id = given as ProductId
  using mirror = await openMirror(config, catalog)
  const letter = mirror.deadLetter(id)
  if (!letter) {
    throw new ConfigError('no-dead-letter', `${id} is no dead letter`, { hint: 'See catalogd dead list' })
  }
  const document = mirror.read([id]).get(id)?.document
  return { ...letter, document: document ? shownDocument(document) : null }
}

/**
 * A decision that is written down. Retry: sent once more. Drop: settled for good until a newer document comes. No ids:
 * all. Returns which.
 */
export async function settleDeadLetters(
  context: OperationContext,
  how: 'retry' | 'drop',
  given: readonly string[],
): Promise<ProductId[]> {
  const found = await readDead(context, given)
  const ids = found.map(([id]) => id)
  if (ids.length === 0) return []
  const digests = found.map(([, digest]) => digest.toString('hex'))
  await decide(
    context,
    how === 'retry' ? { decision: 'retry-dead', ids } : { decision: 'drop-dead', ids, digests },
  )
  return ids
}

async function readDead({ config, catalog }: Place, given: readonly string[]) {
  using mirror = await openMirror(config, catalog)
  const ids = given.length > 0 ? given : mirror.deadLetters().map(({ productId }) => productId)
  const digests = mirror.deadDigests(ids as ProductId[])
  return ids.flatMap((id, index) => {
    const digest = digests[index]
    return digest ? [[id as ProductId, digest] as const] : []
  })
}

/** Refused, or grants that were not confirmed in time; oldest first. For the terminal: it names the customers. */
export async function listDeadConsents({ config, catalog }: Place): Promise<DeadConsent[]> {
  using consents = ConsentReader.open(stateDirOf(config, catalog.name))
  return consents.dead()
}

/** By address or id. Throws a ConfigError when it is no dead letter. */
export async function showDeadConsent(context: Place, given: string): Promise<DeadConsent> {
  const [id] = idsOf(context, [given])
  const letter = (await listDeadConsents(context)).find((each) => each.id === id)
  if (letter) return letter
  throw new ConfigError('no-dead-letter', `${id} is no dead letter`, {
    hint: 'See catalogd dead list --consents',
  })
}

/**
 * A decision that is written down, so that it is carried out once whatever ends meanwhile. By addresses or ids; none:
 * all. Answers the ids it acted on, and what was given that is no dead letter.
 */
export async function settleDeadConsents(
  context: OperationContext,
  how: 'retry' | 'drop',
  given: readonly string[],
): Promise<{ ids: string[]; notDead: string[] }> {
  const known = new Set<string>((await listDeadConsents(context)).map(({ id }) => id))
  const chosen = idsOf(context, given)
  const isChosen = (id: string) => given.length === 0 || chosen.includes(id)
  const ids = [...known].filter(isChosen) as ProductId[]
  if (ids.length > 0) await decide(context, { decision: `${how}-dead`, ids, of: 'consents' })
  return { ids, notDead: given.filter((_, index) => !known.has(chosen[index] ?? '')) }
}

/** In the order given. What is no address is taken for an id. */
function idsOf({ config, catalog }: Place, given: readonly string[]): string[] {
  using consents = ConsentReader.open(stateDirOf(config, catalog.name))
  return given.map((one) => (one.includes('@') ? consents.idOf(one) : one))
}
