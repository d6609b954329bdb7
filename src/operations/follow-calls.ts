import { decodeChange } from '../catalog/change-entry.ts'
import type { FieldChange, Lane } from '../catalog/model.ts'
import type { CatalogConfig, Config } from '../config/model.ts'
import type { ProductId } from '../lib/brand.ts'
import type { Clock } from '../lib/clock.ts'
import { holdsId, type StoredCall, unpackIds } from '../mirror/calls.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import { openMirror } from '../storage.ts'
import { type CallEntry, entryOf } from './list-calls.ts'

/** A call with what changed last, before it began, in some of its products. Times are ISO 8601. */
export interface FollowedCall extends CallEntry {
  catalog: string
  changes: { productId: string; at: string; lane: Lane; fields: FieldChange[] }[]
}

interface Following {
  config: Config
  catalogs: readonly CatalogConfig[]
  clock: Clock
  signal: AbortSignal
  /** Only calls with products of this lane; only those that carried this product. */
  lane: Lane | undefined
  productId: string | undefined
  /** So many earlier calls of each catalog come first. */
  earlier: number
  /** Of how many products of a call the change is told. */
  productsMax: number
}

const lookEveryMs = 500
/** Of one look: who is further behind goes on with the newest. */
const callsMax = 1_000

/** Calls as they are answered, until the signal is aborted. From the mirror: needs neither Redis nor a daemon. */
export async function* followCalls(following: Following): AsyncIterable<FollowedCall> {
  const { config, catalogs, clock, signal } = following
  const seen = new Map<string, number>()
  while (!signal.aborted) {
    for (const catalog of catalogs) {
      // Opened again each time: it may not be there yet, and be another one after a restore.
      using mirror = await openMirror(config, catalog)
      const [newest] = mirror.settledCalls()
      const before = seen.get(catalog.name)
      // Lower after a restore.
      const last = before === undefined ? undefined : Math.min(before, newest?.number ?? 0)
      const calls = newCalls(mirror, last, following)
      seen.set(catalog.name, calls.at(-1)?.number ?? newest?.number ?? 0)
      for (const call of calls.filter((one) => isMeant(one, following)))
        yield { catalog: catalog.name, ...entryOf(call), changes: changesOf(mirror, call, following) }
    }
    await clock.sleep(lookEveryMs, signal).catch(() => undefined)
  }
}

/** Oldest first. */
function newCalls(mirror: MirrorReader, last: number | undefined, { earlier }: Following): StoredCall[] {
  const calls: StoredCall[] = []
  const most = last === undefined ? earlier : callsMax
  for (const call of mirror.settledCalls()) {
    if (calls.length >= most || call.number <= (last ?? -1)) break
    calls.unshift(call)
  }
  return calls
}

function isMeant({ ids, lanes }: StoredCall, { lane, productId }: Following): boolean {
  if (lane !== undefined && !lanes?.[lane]) return false
  return productId === undefined || holdsId(ids, productId)
}

function changesOf(
  mirror: MirrorReader,
  { ids, beganMs }: StoredCall,
  { productId, productsMax, lane: asked }: Following,
): FollowedCall['changes'] {
  const products = productId === undefined ? unpackIds(ids).slice(0, productsMax) : [productId]
  return products.flatMap((id) => {
    const entries = mirror.story(id as ProductId)?.history.map(decodeChange)
    const change = entries?.find(({ atMs }) => atMs <= beganMs)
    if (!change || (asked !== undefined && change.lane !== asked)) return []
    const { atMs, lane, fields } = change
    return [{ productId: id, at: new Date(atMs).toISOString(), lane, fields }]
  })
}
