import { ExitCode } from '../lib/errors.ts'
import type { Verified } from '../operations/verify-products.ts'
import type { CommandDefinition } from './context.ts'
import { cell, countOf, shownValue } from './table.ts'

export const verifyCommand: CommandDefinition<{ partner?: string }> = {
  usage: 'verify <product_id...>',
  summary: 'ask the shopper-intent service for products and compare what it answers with ours',
  details:
    'Asks by name and brand for up to 20 products. Each is answered: matches, differs in which field (ours → theirs), or not returned, which may also mean that others fit better. Exit code 0 when all match, otherwise 1. With --json: one product a line, the summary last.',
  examples: ['catalogd verify SKU-1', 'catalogd verify SKU-1 SKU-2 --json'],
  options: [{ flags: '--partner <id>', description: 'partner identifier (default: intent.partnerId)' }],
  needsConfigFile: true,
  async run(context, { args, options }) {
    const { openIntent, partnerOf } = await import('../operations/ask-intent.ts')
    const { verifyProducts } = await import('../operations/verify-products.ts')
    const { openMirror } = await import('../storage.ts')
    const { config } = await context.loadedConfig()
    const partnerId = partnerOf(config, options.partner)
    const { clock, signal } = context
    await using client = openIntent({ config, clock })
    const counts: Record<Verified['outcome'], number> = {
      matches: 0,
      differs: 0,
      'not-returned': 0,
      unknown: 0,
      incomplete: 0,
    }
    using mirror = await openMirror(config, await context.catalog())
    for await (const verified of verifyProducts(args, { client, mirror, partnerId, signal })) {
      counts[verified.outcome] += 1
      context.printLine(verified, formatVerified)
    }
    const products = Object.values(counts).reduce((sum, count) => sum + count)
    if (context.json || products > 1) {
      const summary = { products, ...counts }
      context.printLine({ summary }, () => `${countOf(products, 'product')}: ${counts.matches} as here.`)
    }
    return counts.matches === products ? ExitCode.done : ExitCode.data
  },
}

function formatVerified(verified: Verified): string {
  const id = cell(verified.productId, 60)
  switch (verified.outcome) {
    case 'unknown':
      return `${id}: unknown here: no feed has named it`
    case 'incomplete':
      return `${id}: incomplete here, so it was never sent; see catalogd status`
    case 'matches':
      return `${id}: matches`
    case 'not-returned': {
      const among = `among ${countOf(verified.returned, 'product')} for ${shownValue(verified.prompt, 80)}`
      return `${id}: not returned ${among}; its availability is ${cell(verified.availability)}${waits(verified)}`
    }
    case 'differs': {
      const lines = verified.differences.map(
        ({ field, ours, theirs }) => `    ${cell(field, 60)}: ${shownValue(ours)} → ${shownValue(theirs)}`,
      )
      const fields = verified.differences.map(({ field }) => cell(field, 60)).join(', ')
      return [`${id}: differs in ${fields}${waits(verified)}`, ...lines].join('\n')
    }
    default:
      return verified satisfies never
  }
}

function waits({ pending }: { pending: boolean }): string {
  return pending ? ' (a newer state of it waits to be sent)' : ''
}
