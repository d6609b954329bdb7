import { ConsentReader, type DeadConsent } from '../consents/reader.ts'
import type { ProductId } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import { stateDirOf } from '../storage.ts'
import { decide } from './decide.ts'
import type { OperationContext } from './run-here.ts'

/** Refused, or grants that were not confirmed in time; oldest first. For the terminal: it names the customers. */
export async function listDeadConsents({ config, catalog }: OperationContext): Promise<DeadConsent[]> {
  using consents = ConsentReader.open(stateDirOf(config, catalog.name))
  return consents.dead()
}

/** By address or id. Throws a ConfigError when it is no dead letter. */
export async function showDeadConsent(context: OperationContext, given: string): Promise<DeadConsent> {
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
function idsOf({ config, catalog }: OperationContext, given: readonly string[]): string[] {
  using consents = ConsentReader.open(stateDirOf(config, catalog.name))
  return given.map((one) => (one.includes('@') ? consents.idOf(one) : one))
}
