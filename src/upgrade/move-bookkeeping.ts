import { appliedStep, type Scope, stepsAfter } from '../imports/manifest-steps.ts'
import type { AcceptSequence, FeedName, ProductId } from '../lib/brand.ts'
import type { MirrorChunk } from '../mirror/model.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import { type OldStore, oldKey } from './old-keys.ts'

const pageEntries = 500
/** Between the value of a key and the product that has it. */
const keySeparator = '\0'

type Bookkeeping = Omit<MirrorChunk, 'writes'>

/** Everything but the products, which stand in the mirror already. */
export async function* readBookkeeping(store: OldStore, manifest: ManifestView): AsyncIterable<Bookkeeping> {
  yield* readFeeds(store)
  yield* readApplied(store, manifest)
  yield* readKeyIndexes(store)
  for await (const [id, digest] of entriesOf(store, 'dropped'))
    yield { dropDead: [{ productId: id.toString() as ProductId, digest }] }
  const paused = await store.connection.hget(oldKey(store, 'pause'), 'operator')
  if (paused === null) return
  const { since: at } = JSON.parse(paused) as { since: string }
  yield { calls: { decision: 'pause', at } }
}

async function* readFeeds(store: OldStore): AsyncIterable<Bookkeeping> {
  const { connection } = store
  for (const [key, value] of Object.entries(await connection.hgetall(oldKey(store, 'notices'))))
    yield { notices: [{ key, value }] }
  for (const [kind, name] of [
    ['fullAsOf', 'full-as-of'],
    ['progress', 'progress'],
    ['held', 'held'],
  ] as const) {
    for (const [feed, value] of Object.entries(await connection.hgetall(oldKey(store, name))))
      yield { [kind]: { feed: feed as FeedName, value } }
  }
  for (const feed of (await connection.hkeys(oldKey(store, 'held'))) as FeedName[]) {
    let cursor = '0'
    do {
      const key = oldKey(store, `held-ids:${feed}`)
      const [next, add] = await connection.sscan(key, cursor, 'COUNT', pageEntries)
      cursor = next
      yield { heldIds: { feed, add: add as ProductId[] } }
    } while (cursor !== '0')
  }
}

/** Version 1 knew the last sequence of a feed that was applied, and all of the feed before it was. */
async function* readApplied(store: OldStore, manifest: ManifestView): AsyncIterable<Bookkeeping> {
  const { connection } = store
  const book = { isApplied: () => false }
  for (const [scope, last] of Object.entries(await connection.hgetall(oldKey(store, 'applied')))) {
    for (const step of stepsAfter({ book, manifest, scope: scope as Scope, after: 0 })) {
      if (step.sequence > Number(last)) break
      yield { applied: appliedStep(scope as Scope, step) }
    }
  }
  for (const [name, count] of Object.entries(await connection.hgetall(oldKey(store, 'counts')))) {
    const [sequence, what = ''] = name.split(':')
    const claim = manifest.file(Number(sequence) as AcceptSequence)?.claim
    if (claim !== undefined) yield { counts: { claim, add: { [what]: Number(count) } } }
  }
}

async function* readKeyIndexes(store: OldStore): AsyncIterable<Bookkeeping> {
  const { connection } = store
  for (const field of await connection.smembers(oldKey(store, 'key-fields'))) {
    let cursor = '0'
    do {
      const key = oldKey(store, `key-index:${field}`)
      const [next, scored] = await connection.zscan(key, cursor, 'COUNT', pageEntries)
      cursor = next
      const members = scored.filter((_, place) => place % 2 === 0)
      yield { addKeys: members.map((member) => keyEntry(field, member)) }
    } while (cursor !== '0')
    yield { keyFields: { complete: [field] } }
  }
}

/** Values do not hold the separator, ids may. */
function keyEntry(field: string, member: string) {
  const end = member.indexOf(keySeparator)
  return { field, value: member.slice(0, end), productId: member.slice(end + 1) as ProductId }
}

async function* entriesOf(store: OldStore, name: 'dropped'): AsyncIterable<[field: Buffer, value: Buffer]> {
  let cursor = '0'
  do {
    const answer = await store.connection.hscanBuffer(oldKey(store, name), cursor, 'COUNT', pageEntries)
    const [next, flat] = answer as [Buffer, Buffer[]]
    cursor = next.toString()
    for (let place = 0; place + 1 < flat.length; place += 2)
      yield [flat[place] as Buffer, flat[place + 1] as Buffer]
  } while (cursor !== '0')
}
