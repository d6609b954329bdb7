import type { OperationContext } from '../operations/run-here.ts'
import type { CommandContext } from './context.ts'

/**
 * Runs `work` with Redis open and the one catalog chosen; everything is released afterwards. Where a daemon does the work,
 * Redis may be away: decisions are taken in, and carried out as far as it goes. Refused on a host that only delivers.
 */
export async function withCatalog<T>(
  context: CommandContext,
  work: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  const { openStorage } = await import('../storage.ts')
  const { findDaemon, refuseElsewhere } = await import('../operations/run-here.ts')
  const { config } = await context.loadedConfig()
  const catalog = await context.catalog()
  const { clock, log, signal } = context
  const mayBeDown = (await findDaemon({ config, clock })) !== undefined
  await using storage = await openStorage({ config, clock, log, signal, mayBeDown })
  const { connections } = storage
  const operation = { config, catalog, connections, clock, log, signal }
  return await connections.explained(async () => {
    await refuseElsewhere(operation)
    return await work(operation)
  })
}

/** Runs `work`, which reads what is on the disk, with the one catalog chosen: Redis may be away, and none is started. */
export async function withDisk<T>(
  context: CommandContext,
  work: (place: Pick<OperationContext, 'config' | 'catalog'>) => Promise<T>,
): Promise<T> {
  const { config } = await context.loadedConfig()
  return await work({ config, catalog: await context.catalog() })
}
