import type { CatalogConfig } from '../config/model.ts'
import type { CatalogName } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'
import { readStatus, type Status } from '../operations/read-status.ts'
import type { OperationContext } from '../operations/run-here.ts'
import { freeBytes } from '../sources/space.ts'
import { type ActionRequest, act } from './act.ts'

export type ReadContext = Omit<OperationContext, 'catalog'>

/** `freeBytes`: of the disk of the state folder. */
export type ConsoleStatus = Status & { freeBytes: number }

/** Everything that the pages show of mirror, manifest and reports. It runs in the thread of the console. */
export function openReads(context: ReadContext) {
  const { config } = context
  const catalogs = [...config.catalogs.values()]
  return {
    async status(): Promise<ConsoleStatus> {
      const free = await freeBytes(config.stateDir).catch(() => 0)
      return { ...(await readStatus(context, catalogs)), freeBytes: free }
    },
    act(asked: ActionRequest): Promise<string> {
      return act({ ...context, catalog: catalogNamed(context, asked.catalog) }, asked)
    },
  }
}

export type Reads = ReturnType<typeof openReads>

function catalogNamed({ config }: ReadContext, name: string): CatalogConfig {
  const catalog = config.catalogs.get(name as CatalogName)
  if (catalog) return catalog
  throw new ConfigError('catalog-unknown', `there is no catalog ${name}`)
}
