import { ExitCode } from '../lib/errors.ts'
import type { CommandDefinition } from './context.ts'
import { formatStory } from './story-format.ts'

export const whyCommand: CommandDefinition = {
  usage: 'why <product_id>',
  summary: 'tell why a product is as it is: where each field comes from, what changed, what was sent',
  details:
    'Reads the mirror on this host, so it answers while the endpoint, the feeds or Redis are away. Exit code 1 when the product is not known.',
  examples: ['catalogd why SKU-4711', 'catalogd why SKU-4711 --json'],
  async run(context, { args: [productId = ''] }) {
    const { explainProduct } = await import('../operations/explain-product.ts')
    const { config } = await context.loadedConfig()
    const catalog = await context.catalog()
    const { clock, log, signal } = context
    const story = await explainProduct({ config, catalog, clock, log, signal }, productId)
    const { columns } = context
    context.print(story, (shown) => formatStory(shown, { nowMs: clock.now(), columns }))
    return story.kind === 'known' ? ExitCode.done : ExitCode.data
  },
}
