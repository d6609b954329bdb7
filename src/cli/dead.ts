import { ConfigError, ExitCode } from '../lib/errors.ts'
import type { OperationContext } from '../operations/run-here.ts'
import type { CommandDefinition } from './command.ts'
import { withCatalog } from './operation.ts'
import { countOf, formatTable } from './table.ts'

interface SettleOptions {
  all: boolean
}

const all = { flags: '--all', description: 'every dead letter', default: false }

export const deadCommand: CommandDefinition = {
  usage: 'dead',
  summary: 'products that the endpoint refused: list, show, retry, drop',
  details: 'A newer document of the product revives a dead letter by itself.',
  examples: [
    'catalogd dead list',
    'catalogd dead show SKU-1',
    'catalogd dead retry --all',
    'catalogd dead drop SKU-1',
  ],
  commands: [
    {
      usage: 'list',
      summary: 'list them with the reasons, oldest first',
      examples: ['catalogd dead list'],
      async run(context) {
        const { listDeadLetters } = await import('../operations/dead-letters.ts')
        const letters = await withCatalog(context, listDeadLetters)
        const rows = letters.map(({ productId, status, at, reason }) => [
          productId,
          status ?? '',
          at,
          reason.slice(0, 100),
        ])
        context.print(letters, () =>
          rows.length === 0
            ? 'No product was refused.'
            : formatTable([['product', 'status', 'at', 'reason'], ...rows]),
        )
        return undefined
      },
    },
    {
      usage: 'show <id>',
      summary: 'show one with the document',
      examples: ['catalogd dead show SKU-1'],
      async run(context, { args: [id = ''] }) {
        const { showDeadLetter } = await import('../operations/dead-letters.ts')
        const letter = await withCatalog(context, (operation) => showDeadLetter(operation, id))
        context.print(letter, () => JSON.stringify(letter, undefined, 2))
        return undefined
      },
    },
    settleCommand('retry', { summary: 'send them again', done: 'will be sent again' }),
    settleCommand('drop', { summary: 'give them up until a newer document comes', done: 'given up' }),
  ],
}

function settleCommand(
  how: 'retry' | 'drop',
  { summary, done }: { summary: string; done: string },
): CommandDefinition<SettleOptions> {
  return {
    usage: `${how} [ids...]`,
    summary,
    examples: [`catalogd dead ${how} SKU-1`, `catalogd dead ${how} --all`],
    options: [all],
    async run(context, { args, options }) {
      if (args.length === 0 && !options.all) {
        throw new ConfigError('usage', 'dead letters are named by their product ids', {
          hint: 'Give ids, or --all',
        })
      }
      const { dropDeadLetters, retryDeadLetters } = await import('../operations/dead-letters.ts')
      const settle = (operation: OperationContext) =>
        how === 'retry' ? retryDeadLetters(operation, args) : dropDeadLetters(operation, args)
      const ids = await withCatalog(context, settle)
      const others = args.filter((id) => !ids.includes(id))
      context.print({ [how]: ids, notDead: others }, () => {
        const lines = [`${countOf(ids.length, 'product')} ${done}.`]
        if (others.length > 0) lines.push(`No dead letter: ${others.join(', ')}`)
        return lines.join('\n')
      })
      return others.length === 0 ? undefined : ExitCode.data
    },
  }
}
