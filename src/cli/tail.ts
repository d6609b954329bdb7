import type { Lane } from '../catalog/model.ts'
import type { FollowedCall } from '../operations/follow-calls.ts'
import type { CommandDefinition } from './context.ts'
import { wholeNumberOption } from './option-values.ts'
import { cell, countOf, shownValue } from './table.ts'

interface TailOptions {
  lane?: Lane
  product?: string
  last: number
  changes: number
}

const laneNames: readonly Lane[] = ['urgent', 'new', 'deferred']

export const tailCommand: CommandDefinition<TailOptions> = {
  usage: 'tail',
  summary: 'show calls as they are answered, with what changed in their products',
  details:
    'Those of all catalogs or of the one that --catalog names, until Ctrl+C. Reads the mirror, so Redis may be away.',
  examples: ['catalogd tail', 'catalogd tail --lane urgent', 'catalogd tail --product SKU-1 --json'],
  options: [
    { flags: '--lane <lane>', description: 'only calls with products of this lane', choices: laneNames },
    { flags: '--product <id>', description: 'only calls that carried the product' },
    {
      flags: '--last <n>',
      description: 'begin with this many earlier calls of each catalog',
      default: 10,
      parse: wholeNumberOption({ min: 0, max: 1_000 }),
    },
    {
      flags: '--changes <n>',
      description: 'show the last change of this many products of each call',
      default: 3,
      parse: wholeNumberOption({ min: 0, max: 1_000 }),
    },
  ],
  async run(context, { options }) {
    const { followCalls } = await import('../operations/follow-calls.ts')
    const { config } = await context.loadedConfig()
    const { clock, signal, columns } = context
    const following = {
      ...{ config, catalogs: await context.catalogs(), clock, signal },
      ...{ lane: options.lane, productId: options.product },
      ...{ earlier: options.last, productsMax: options.changes },
    }
    for await (const call of followCalls(following))
      context.printLine(call, (shown) => formatCall(shown, columns))
  },
}

function formatCall(call: FollowedCall, columns: number): string {
  const { endedAt, catalog, status, products, bytes, durationMs, lanes, outcome, description, changes } = call
  const from = Object.entries(lanes ?? {}).flatMap(([lane, count]) => (count > 0 ? [`${count} ${lane}`] : []))
  const answer = outcome === 'acknowledge' ? '' : `  ${outcome}: ${description ?? ''}`
  const size = `${(bytes / 1e6).toFixed(1)} MB`
  return [
    `${endedAt.slice(11, 23)}  ${catalog}  ${status ?? 'no answer'}  ${countOf(products, 'product')} (${from.join(', ')})  ${size}  ${durationMs} ms${answer}`,
    ...changes.map(({ productId, lane, fields }) => {
      const room = Math.max(8, Math.floor((columns - 40) / Math.max(1, fields.length) / 2))
      const shown = fields.map(({ field, before, after }) => {
        return `${field} ${shownValue(before, room)} → ${shownValue(after, room)}`
      })
      return `    ${cell(productId, 24)}  ${lane}  ${shown.join(', ')}`
    }),
  ].join('\n')
}
