import { orderDirections, userOrders } from '../api/contract/paging.ts'
import type { ListQuery } from '../operations/stack-records.ts'
import type { StackKind } from '../stack/model.ts'
import type { CommandDefinition, OptionDefinition } from './command.ts'
import { oneOfOption, wholeNumberOption } from './option-values.ts'
import { withStack } from './stack-session.ts'
import { formatRecords } from './stack-tables.ts'
import { countOf } from './table.ts'

interface ListOptions {
  page?: number
  limit?: number
  orderBy?: (typeof userOrders)[number]
  direction?: (typeof orderDirections)[number]
}

const pageOptions: readonly OptionDefinition[] = [
  {
    flags: '--page <n>',
    description: 'only this page, counted from 1 (default: all)',
    parse: wholeNumberOption({ min: 1, max: 1_000_000 }),
  },
  {
    flags: '--limit <n>',
    description: 'only one page of so many, 1 to 100 (default of a page: 25)',
    parse: wholeNumberOption({ min: 1, max: 100 }),
  },
]

const orderOptions: readonly OptionDefinition[] = [
  {
    flags: '--order-by <field>',
    description: `${userOrders.join(', ')} (default: id)`,
    parse: oneOfOption(userOrders),
  },
  {
    flags: '--direction <direction>',
    description: 'asc or desc (default: asc)',
    parse: oneOfOption(orderDirections),
  },
]

/** Users and terms come in pages, users in an order; rules and views come whole. */
export function listCommand(kind: StackKind, word: string): CommandDefinition<ListOptions> {
  const hasPages = kind === 'users' || kind === 'terms'
  return {
    usage: 'list',
    summary: `list ${hasPages ? `all ${word}s, or one page of them` : `all ${word}s`}`,
    examples: [
      `catalogd stack ${kind} list`,
      ...(hasPages ? [`catalogd stack ${kind} list --page 2 --limit 100`] : []),
      ...(kind === 'users' ? ['catalogd stack users list --order-by email --direction desc'] : []),
    ],
    options: [...(hasPages ? pageOptions : []), ...(kind === 'users' ? orderOptions : [])],
    async run(context, { options: { page, limit, orderBy, direction } }) {
      const { listRecords } = await import('../operations/stack-records.ts')
      const query: ListQuery = { page, limit, orderBy, orderByDirection: direction }
      const records = await withStack(context, (client) =>
        listRecords(client, { kind, query, signal: context.signal }),
      )
      context.print(records, () =>
        records.length === 0
          ? `No ${word}${page === undefined ? '' : ' on this page'}.`
          : `${formatRecords(kind, records)}\n${countOf(records.length, word)}`,
      )
      return undefined
    },
  }
}
