import type { CatalogConfig } from '../config/model.ts'
import type { OverriddenField } from '../imports/record-fates.ts'
import type { FeedName } from '../lib/brand.ts'
import { describeError, ifPresent } from '../lib/errors.ts'
import type { MirrorReader } from '../mirror/reader.ts'
import type { OutboxOverview } from '../outbox/overview.ts'
import { describeLeftAlone, type LeftAlone } from '../sources/entry-roles.ts'
import { fullError, readSpace, spareBytes } from '../sources/space.ts'
import type { OperationContext } from './run-here.ts'

/** A trouble for the operator to know; `at`: since when it is known; null: nobody wrote that down. */
export interface Notice {
  key: string
  text: string
  at: string | null
}

/** Of a `FeedStatus`. */
interface LookedAtFeed {
  feed: string
  waitingFiles: number
  dropped: number
  leftAlone: LeftAlone | null
  lastFile: LastFile | null
}

interface LastFile {
  sequence: number
  name: string
  acceptedAt: string
  overridden: { records: number; fields: OverriddenField[] } | null
}

interface Looked {
  mirror: MirrorReader
  overview: OutboxOverview
  consents: OutboxOverview | null
  feeds: readonly LookedAtFeed[]
  /** Redis answers. */
  isUp: boolean
  /** No daemon runs. */
  isStopped: boolean
}

/** What the daemon reports, and what is seen at once by who looks: the daemon looks every half minute, or does not run. */
export async function readNotices(context: OperationContext, looked: Looked): Promise<Notice[]> {
  const { config, catalog } = context
  const { mirror, feeds, isUp, isStopped } = looked
  const notices = new Map<string, Notice>()
  for (const [key, json] of mirror.notices()) notices.set(key, { key, ...JSON.parse(json) })
  const show = (key: string, text: string | undefined, since: string | null = null) => {
    if (text === undefined) notices.delete(key)
    else if (notices.get(key)?.text !== text)
      notices.set(key, { key, text, at: notices.get(key)?.at ?? since })
  }
  // The daemon's own notice is written into the mirror, on the disk that is full, and says not how much is free by now.
  // A host that only delivers may have no state folder.
  const space = await ifPresent(readSpace(config.stateDir))
  if (space && space.freeBytes < spareBytes)
    show('disk', describeError(fullError(config.stateDir, { neededBytes: spareBytes, space })))
  for (const { feed, leftAlone, lastFile } of feeds) {
    const dropDir = catalog.feeds.get(feed as FeedName)?.dropDir
    if (leftAlone && dropDir) show(`ignored:${feed}`, describeLeftAlone(dropDir, leftAlone))
    if (!lastFile) continue
    show(`overridden:${feed}`, await describeOverridden(catalog, feed, lastFile), lastFile.acceptedAt)
  }
  if (!isStopped) return [...notices.values()]
  show('daemon', describeWaiting(looked))
  if (mirror.identity().startOver !== undefined)
    show('start-over', 'every product is sent once more when catalogd starts')
  const { startRefusals } = await import('./adopt.ts')
  // Several of one key.
  const refusals = (isUp ? await startRefusals(context) : []).map((reason) => {
    return {
      key: 'start',
      text: `catalogd start is refused: ${reason}; see catalogd restore and catalogd adopt`,
      at: null,
    }
  })
  return [...notices.values(), ...refusals]
}

/** What nobody does while no daemon runs; undefined: nothing is left to do, as after `load`. */
function describeWaiting({ overview, consents, feeds }: Looked): string | undefined {
  const sum = (count: (feed: LookedAtFeed) => number) => feeds.reduce((all, feed) => all + count(feed), 0)
  const waiting = [
    counted(overview.pending - overview.dead, 'product'),
    counted(overview.echoes.waiting, 'repeated send'),
    counted(consents ? consents.pending - consents.dead : 0, 'consent'),
    counted(
      sum(({ waitingFiles }) => waitingFiles),
      'accepted file',
    ),
    counted(
      sum(({ dropped }) => dropped),
      'file',
      ' in the drop folder',
    ),
  ].flat()
  if (waiting.length === 0) return undefined
  return `no daemon runs, and this waits for one: ${waiting.join(', ')}. Start it: catalogd start, or by its supervisor`
}

function counted(count: number, what: string, where = ''): string[] {
  return count > 0 ? [`${count} ${what}${count === 1 ? '' : 's'}${where}`] : []
}

/** Of a file of which nothing is used. Undefined where that is not so, or is what `owns` says. */
async function describeOverridden(
  catalog: CatalogConfig,
  feed: string,
  { sequence, name, overridden }: LastFile,
): Promise<string | undefined> {
  if (overridden === null) return undefined
  const { rankFields } = await import('../catalog/ranks.ts')
  const { overlaps } = rankFields(catalog.feeds)
  const isWriter = (field: string, of: string) =>
    overlaps.some((overlap) => overlap.field === field && overlap.feeds[0] === of)
  const moved = overridden.fields.flatMap(({ field }) => (isWriter(field, feed) ? [field] : []))
  if (moved.length > 0)
    return `Nothing that ${name} (import ${sequence}) says was used when it came. By now feed ${feed} writes ${moved.join(', ')}, and its next file counts: load this one again (catalogd imports ${sequence} says where it is kept)`
  // By another configuration, the next file fares otherwise; and who owns a field was meant to write it.
  const undecided = overridden.fields.filter(({ field, by }) =>
    overlaps.some((overlap) => overlap.field === field && overlap.feeds[0] === by && !overlap.isOwned),
  )
  const [first] = undecided
  if (first === undefined) return undefined
  const fields = undecided.map(({ field, by }) => `${field} by feed ${by}`).join(', ')
  return `Nothing that ${name} (import ${sequence}) says is used: all its ${overridden.records} records are overridden, ${fields}, which stands first in the configuration. catalogd why <product_id> shows both values. Say which feed writes ${first.field}: owns: [${first.field}] in feed ${feed}, or in feed ${first.by}; then catalogd reload, and load the last file of that feed again`
}
