import type { AcceptSequence, ProductId } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import { listDeadLetters, settleDeadLetters } from '../operations/dead-letters.ts'
import { decide, requireHeld, requireProducts } from '../operations/decide.ts'
import { findDaemon, type OperationContext } from '../operations/run-here.ts'
import { reasonKey } from './reason-key.ts'

/** As the commands are called. */
export type ActionName = 'approve' | 'discard' | 'pause' | 'resume' | 'resync' | 'retry-dead' | 'drop-dead'

export interface ActionRequest {
  name: ActionName
  catalog: string
  fields: Readonly<Record<string, string>>
}

/** Carries out what a form of a page asks for and says what was done. In the thread of the console. */
export async function act(context: OperationContext, { name, fields }: ActionRequest): Promise<string> {
  if ((await findDaemon(context)) === undefined) {
    throw new ConfigError('nobody-imports', 'no catalogd imports on this state folder now', {
      hint: 'Start it, and repeat what you did',
    })
  }
  switch (name) {
    case 'approve':
    case 'discard': {
      const sequence = Number(fields.import) as AcceptSequence
      const what = await requireHeld(context, sequence)
      await decide(context, { decision: name, import: sequence })
      return `${name === 'approve' ? 'Approved' : 'Discarded'}: ${what}`
    }
    case 'pause':
    case 'resume':
      await decide(context, { decision: name })
      return name === 'pause' ? 'Paused: no calls are made until you resume.' : 'Resumed.'
    case 'resync': {
      const ids = idsOf(fields) as ProductId[]
      if (ids.length === 0) throw new ConfigError('usage', 'no product was named')
      await requireProducts(context, ids)
      await decide(context, { decision: 'resync', ids })
      return `${ids.join(', ')} will be sent once more.`
    }
    case 'retry-dead':
    case 'drop-dead':
      return settle(context, name === 'retry-dead' ? 'retry' : 'drop', fields)
    default:
      return name satisfies never
  }
}

async function settle(
  context: OperationContext,
  how: 'retry' | 'drop',
  fields: ActionRequest['fields'],
): Promise<string> {
  const ids = fields.reason === undefined ? idsOf(fields) : await idsOfReason(context, fields.reason)
  // No ids would mean all of them.
  if (ids.length === 0 && fields.all !== 'yes')
    throw new ConfigError('no-dead-letter', 'there is no such dead letter')
  const settled = await settleDeadLetters(context, how, ids)
  const done = how === 'retry' ? 'sent once more' : 'dropped until a newer document comes'
  return `${settled.length === 1 ? settled[0] : `${settled.length} products`}: ${done}.`
}

async function idsOfReason(context: OperationContext, reason: string): Promise<string[]> {
  const letters = await listDeadLetters(context)
  return letters.filter((letter) => reasonKey(letter.reason) === reason).map(({ productId }) => productId)
}

/** JSON: an id may hold anything. */
function idsOf({ ids = '' }: ActionRequest['fields']): string[] {
  return ids === '' ? [] : (JSON.parse(ids) as string[])
}
