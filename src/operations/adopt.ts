import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../lib/errors.ts'
import { isCopy } from '../mirror/identity.ts'
import { MirrorReader } from '../mirror/reader.ts'
import { missingMirror } from '../mirror/schema.ts'
import { MirrorStore } from '../mirror/store.ts'
import { compare } from '../outbox/compare.ts'
import { endpointOf } from '../outbox/endpoint.ts'
import { catalogKeys } from '../outbox/keys.ts'
import { readRedisState } from '../outbox/redis-state.ts'
import { mirrorFileName, placeOf, stateDirOf } from '../storage.ts'
import type { OperationContext } from './run-here.ts'

/** What `adopt` would do. */
export interface Adoption {
  catalog: string
  /** Why the catalog is refused as it is; none: there is nothing to adopt. */
  reasons: string[]
  /** Where all products are sent. */
  endpoint: string
  products: number
  /** Whose keys in Redis are emptied; undefined: there are none. */
  replaces: { host: string; folder: string } | undefined
}

interface Planned extends Adoption {
  file: string
  former: string[]
}

/** Why a start would be refused. Only while no daemon runs: what it writes meanwhile would look like a contradiction. */
export async function startRefusals(context: OperationContext): Promise<string[]> {
  if (!existsSync(mirrorOf(context))) return []
  try {
    return (await planAdoption(context)).reasons
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    return [error.message]
  }
}

function mirrorOf({ config, catalog }: Pick<OperationContext, 'config' | 'catalog'>): string {
  return join(stateDirOf(config, catalog.name), mirrorFileName)
}

/** Compares state folder, Redis and endpoint as a start does. Changes nothing. */
export async function planAdoption({ config, catalog, connections }: OperationContext): Promise<Planned> {
  const file = mirrorOf({ config, catalog })
  if (!existsSync(file)) throw missingMirror(file)
  const endpoint = endpointOf(catalog.api)
  const keys = catalogKeys(catalog.name)
  // It watches keys, which no connection that others use may do.
  const connection = await connections.openWriter()
  const { guard, beat, positions } = await readRedisState({ connection, keys }).finally(() =>
    connection.disconnect(),
  )
  using mirror = new MirrorReader(file)
  const identity = mirror.identity()
  const place = placeOf(config, catalog.name)
  const seen = { ...{ catalog: catalog.name, endpoint, place, guard, beat, positions }, runId: '' }
  const compared = { ...seen, isStartingOver: identity.startOver !== undefined, cleanRuns: [] }
  const reasons = [
    isCopy(file) ? `${file} is a copy of the mirror that was written elsewhere` : undefined,
    refusalOf(() => compare({ ...compared, identity })),
    // What another endpoint hides.
    refusalOf(() => compare({ ...compared, identity: { ...identity, endpoint } })),
  ]
  return {
    catalog: catalog.name,
    reasons: [...new Set(reasons)].filter((reason) => reason !== undefined),
    endpoint,
    products: mirror.count().products,
    replaces: guard && { host: guard.host, folder: guard.folder },
    file,
    former: guard ? [guard.generation] : [],
  }
}

/** Durable when it returns; the next start empties the keys and sends every product once. */
export function adopt({ file, endpoint, former }: Planned): void {
  using store = MirrorStore.open({ file, isExpected: true, takesCopy: true })
  store.beginStartOver({ endpoint, former })
}

/** Keys of a newer version are for that version alone to settle. */
function refusalOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (!(error instanceof StorageError) || error.code === 'redis-other-version') throw error
    return error.message
  }
}
