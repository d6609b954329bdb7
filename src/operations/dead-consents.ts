import { decodeConsent } from '../consents/document.ts'
import { openConsentKey } from '../consents/key.ts'
import type { ProductId } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import { type DeadLetter, readDeadLetter, readDeadLetters } from '../outbox/dead-letters.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { decide } from './decide.ts'
import type { OperationContext } from './run-here.ts'

/** A consent that was refused, or a grant that was not confirmed in time. For the terminal: it names the customer. */
export interface DeadConsent extends Omit<DeadLetter, 'productId'> {
  /** What stands for the address in logs. */
  id: string
  /** Null where Redis no longer holds the consent. */
  email: string | null
  consent: boolean | null
}

/** Oldest first. */
export async function listDeadConsents(context: OperationContext): Promise<DeadConsent[]> {
  const access = accessOf(context)
  const letters: DeadLetter[] = []
  for await (const letter of readDeadLetters(access)) letters.push(letter)
  const consents = await Promise.all(letters.map((letter) => describe(context, letter)))
  return consents.sort((one, other) => one.at.localeCompare(other.at))
}

/** By address or id. Throws a ConfigError when it is no dead letter. */
export async function showDeadConsent(context: OperationContext, given: string): Promise<DeadConsent> {
  const [id] = await idsOf(context, [given])
  const letter = id && (await readDeadLetter(accessOf(context), id))
  if (letter) return describe(context, letter)
  throw new ConfigError('no-dead-letter', `${id} is no dead letter`, {
    hint: 'See catalogd dead list --consents',
  })
}

/**
 * A decision that is written down, so that a Redis that forgets it is told again. By addresses or ids; none: all.
 * Answers the ids it acted on, and what was given that is no dead letter.
 */
export async function settleDeadConsents(
  context: OperationContext,
  how: 'retry' | 'drop',
  given: readonly string[],
): Promise<{ ids: string[]; notDead: string[] }> {
  const known = new Set((await listDeadConsents(context)).map(({ id }) => id))
  const chosen = await idsOf(context, given)
  const ids = given.length > 0 ? [...new Set(chosen)].filter((id) => known.has(id)) : [...known]
  if (ids.length > 0) {
    await decide(context, { decision: `${how}-dead`, ids: ids as ProductId[], of: 'consents' })
  }
  return { ids, notDead: given.filter((_, index) => !known.has(chosen[index] ?? '')) }
}

/** In the order given. What is no address is taken for an id. */
async function idsOf({ config }: OperationContext, given: readonly string[]): Promise<string[]> {
  if (!given.some((one) => one.includes('@'))) return [...given]
  const hasher = await openConsentKey(config.stateDir)
  return given.map((one) => (one.includes('@') ? hasher.idOf(one) : one))
}

async function describe(context: OperationContext, letter: DeadLetter): Promise<DeadConsent> {
  const { connection, keys } = accessOf(context)
  const { productId: id, ...rest } = letter
  const document = await connection.hgetBuffer(keys.documents, id)
  const { email, consent } = document ? decodeConsent(document) : { email: null, consent: null }
  return { id, email, consent, ...rest }
}

function accessOf({ catalog, connections }: OperationContext) {
  return { connection: connections.commands, keys: catalogKeys(catalog.name, 'consents') }
}
