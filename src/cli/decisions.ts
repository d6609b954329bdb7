import type { ProductId } from '../lib/brand.ts'
import type { Decision } from '../sources/model.ts'
import type { CommandDefinition } from './command.ts'
import type { CommandContext } from './context.ts'
import { withCatalog } from './operation.ts'
import { importNumber } from './option-values.ts'

/** Decisions are written down before they act, so that they outlive everything else. */
async function carryOut(context: CommandContext, decision: Decision): Promise<void> {
  const { decide } = await import('../operations/decide.ts')
  await withCatalog(context, (operation) => decide(operation, decision))
}

export const approveCommand = heldCommand('approve', {
  summary:
    'apply what an import holds: missing products go out of stock, or a file without all columns goes in',
})
export const discardCommand = heldCommand('discard', {
  summary: 'drop what an import holds; nothing is removed',
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
      return undefined
    },
  }
}

export const pauseCommand: CommandDefinition = {
  usage: 'pause',
  summary: 'make no more calls until resume; files are still taken in',
  examples: ['catalogd pause'],
  async run(context) {
    await carryOut(context, { decision: 'pause' })
    context.print({ paused: true }, () => 'Paused: no calls are made until catalogd resume.')
    return undefined
  },
}

export const resumeCommand: CommandDefinition = {
  usage: 'resume',
  summary: 'make calls again after pause, or after the endpoint refused everything',
  details: 'A pause for wrong credentials ends by itself when the endpoint takes the token.',
  examples: ['catalogd resume'],
  async run(context) {
    await carryOut(context, { decision: 'resume' })
    context.print({ paused: false }, () => 'Resumed.')
    return undefined
  },
}

export const resyncCommand: CommandDefinition = {
  usage: 'resync [ids...]',
  summary: 'send products once more, changed or not: those named, or all',
  examples: ['catalogd resync', 'catalogd resync SKU-1 SKU-2'],
  async run(context, { args }) {
    const { decide, requireProducts } = await import('../operations/decide.ts')
    await withCatalog(context, async (operation) => {
      await requireProducts(operation, args)
      await decide(operation, { decision: 'resync', ids: args as ProductId[] })
    })
    const what = args.length === 0 ? 'Every product' : args.join(', ')
    context.print({ resync: args.length === 0 ? 'all' : args }, () => `${what} will be sent once more.`)
    return undefined
  },
}
