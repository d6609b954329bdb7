import type { FeedKind } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Decision } from '../sources/model.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { requireConsents } from './feeds.ts'
import { importNumber } from './option-values.ts'
import { withCatalog } from './with-catalog.ts'

/** Decisions are written down before they act, so that they outlive everything else. */
async function carryOut(context: CommandContext, decision: Decision): Promise<void> {
  const { decide } = await import('../operations/decide.ts')
  await withCatalog(context, (operation) => decide(operation, decision))
}

export const approveCommand = heldCommand('approve', {
  summary:
    'apply what an import holds: missing products go out of stock, or a file that was held whole goes in',
})
export const discardCommand = heldCommand('discard', {
  summary: 'drop what an import holds; nothing is removed or applied',
})

function heldCommand(decision: 'approve' | 'discard', { summary }: { summary: string }): CommandDefinition {
  return {
    usage: `${decision} <import>`,
    summary,
    details: 'The number stands in catalogd status and catalogd imports.',
    examples: [`catalogd ${decision} 12`],
    async run(context, { args: [text = ''] }) {
      const sequence = importNumber(text)
      const { decide, requireHeld } = await import('../operations/decide.ts')
      const held = await withCatalog(context, async (operation) => {
        const what = await requireHeld(operation, sequence)
        await decide(operation, { decision, import: sequence })
        return what
      })
      context.print(
        { import: sequence, decision },
        () => `${decision === 'approve' ? 'Approved' : 'Discarded'}: ${held}`,
      )
    },
  }
}

interface KindOptions {
  products?: boolean
  consents?: boolean
}

const kindOptions = [
  { flags: '--products', description: 'only calls that carry products' },
  { flags: '--consents', description: 'only calls that carry consents' },
]

/** Both options, or none, mean the whole catalog. */
function kindOf({ products = false, consents = false }: KindOptions): { of?: FeedKind } {
  if (products === consents) return {}
  return { of: products ? 'products' : 'consents' }
}

async function setPause(
  context: CommandContext,
  decision: 'pause' | 'resume',
  options: KindOptions,
): Promise<{ paused: boolean; of?: FeedKind }> {
  const kind = kindOf(options)
  if (kind.of === 'consents') requireConsents(await context.catalog())
  await carryOut(context, { decision, ...kind })
  return { paused: decision === 'pause', ...kind }
}

export const pauseCommand: CommandDefinition<KindOptions> = {
  usage: 'pause',
  summary: 'make no more calls until resume; files are still taken in',
  details: 'The decision is written down, and outlives a Redis that loses its data.',
  examples: ['catalogd pause', 'catalogd pause --consents'],
  options: kindOptions,
  async run(context, { options }) {
    const done = await setPause(context, 'pause', options)
    const calls = done.of === undefined ? 'no calls are made' : `no calls that carry ${done.of} are made`
    context.print(done, () => `Paused: ${calls} until catalogd resume.`)
  },
}

export const resumeCommand: CommandDefinition<KindOptions> = {
  usage: 'resume',
  summary: 'make calls again after pause, or after the endpoint refused everything',
  details: 'A pause for wrong credentials ends by itself when the endpoint takes the token.',
  examples: ['catalogd resume'],
  options: kindOptions,
  async run(context, { options }) {
    context.print(await setPause(context, 'resume', options), () => 'Resumed.')
  },
}

export const resyncCommand: CommandDefinition<{ consents?: boolean }> = {
  usage: 'resync [ids...]',
  summary: 'send products once more, changed or not: those named, or all',
  details: 'Consents are never sent again: a consent that was acknowledged may be revoked elsewhere by now.',
  examples: ['catalogd resync', 'catalogd resync SKU-1 SKU-2'],
  options: [{ flags: '--consents', description: 'refused, with the reason' }],
  async run(context, { args, options }) {
    const { consentsStay, decide, requireProducts } = await import('../operations/decide.ts')
    if (options.consents) throw consentsStay()
    await withCatalog(context, async (operation) => {
      await requireProducts(operation, args)
      await decide(operation, { decision: 'resync', ids: args as ProductId[] })
    })
    const what = args.length === 0 ? 'Every product' : args.join(', ')
    context.print({ resync: args.length === 0 ? 'all' : args }, () => `${what} will be sent once more.`)
  },
}
