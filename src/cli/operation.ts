import type { OperationContext } from '../operations/run-here.ts'
import type { CommandContext } from './context.ts'

/** Runs `work` with Redis open and the one catalog chosen; everything is released afterwards. */
export async function withCatalog<T>(
  context: CommandContext,
  work: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  const { openStorage } = await import('../storage.ts')
  const { config } = await context.loadedConfig()
  const catalog = await context.catalog()
  const { clock, log, signal } = context
  await using storage = await openStorage({ config, clock, log, signal })
  return await work({ config, catalog, connections: storage.connections, clock, log, signal })
}
