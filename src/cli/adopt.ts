import type { Adoption } from '../operations/adopt.ts'
import { isWanted } from './confirm.ts'
import type { CommandDefinition } from './context.ts'
import { countOf } from './table.ts'
import { withCatalog } from './with-catalog.ts'

export const adoptCommand: CommandDefinition<{ yes: boolean }> = {
  usage: 'adopt',
  summary: 'accept a Redis, an endpoint or a copied state folder that a start refuses',
  details:
    'No daemon may run. Says first what would happen. The next start empties the keys of the catalog in Redis, and sends every product once.',
  examples: ['catalogd adopt', 'catalogd adopt --yes'],
  options: [{ flags: '--yes', description: 'do not ask', default: false }],
  needsConfigFile: true,
  async run(context, { options }) {
    const { adopt, planAdoption } = await import('../operations/adopt.ts')
    const { withoutDaemon } = await import('../operations/run-here.ts')
    await withCatalog(context, (operation) =>
      withoutDaemon(operation, async () => {
        const { file: _, former: __, ...plan } = await planAdoption(operation)
        const isNeeded = plan.reasons.length > 0
        if (!context.json) context.print(plan, formatPlan)
        const question = { text: 'Adopt it?', wants: 'word' } as const
        if (!(await isWanted(context, question, options.yes || !isNeeded))) return
        if (isNeeded) adopt(await planAdoption(operation))
        if (context.json || isNeeded)
          context.print({ ...plan, adopted: isNeeded }, () => 'Done: start catalogd.')
      }),
    )
  },
}

function formatPlan({ catalog, reasons, endpoint, products, replaces }: Adoption): string {
  if (reasons.length === 0)
    return `${catalog}: state folder, Redis and endpoint belong together; nothing to adopt.`
  const keys = replaces ? `The keys of ${replaces.folder} on ${replaces.host} in Redis are emptied. ` : ''
  return `${catalog}: ${reasons.join('; ')}.\n${keys}${countOf(products, 'product')} will be sent to ${endpoint}.`
}
