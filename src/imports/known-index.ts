import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FeedName } from '../lib/brand.ts'
import { makeFolder, moveDurably, removeIfPresent } from '../lib/durable.ts'
import type { KnownIndex } from '../mirror/model.ts'
import type { Mirror } from '../mirror/reader.ts'
import { readEntries } from '../records/entries.ts'
import { openBytesHash, openTextHash } from '../records/id-table.ts'
import { bytesMin, ScanThreads } from '../records/scan/scan-threads.ts'
import type { FeedContext } from './context.ts'
import type { ImportRun } from './import-run.ts'
import { KnownRecords } from './known-records.ts'
import type { Reading } from './open-feed-file.ts'

/** Raised when an index says something else: none of before is read then. */
const format = 3

/** What the records of a full file are held against; or why none of a file of its kind are. */
export async function openKnownRecords(
  { context, accept }: ImportRun,
  { dialect, columns, tables }: Reading,
  threads: ScanThreads | undefined,
): Promise<KnownRecords | string> {
  const { feed, mirror } = context
  const reason = reasonOfAll(context) ?? (accept.resend ? 'every product is to be sent again' : undefined)
  if (reason !== undefined) return reason
  const hash = {
    ofRecord: await openBytesHash(JSON.stringify([format, dialect, columns, tables])),
    ofId: await openTextHash(),
  }
  const named = readKnown(mirror, feed.name)
  const isOwn = named !== undefined && (named.claim ?? accept.claim) === accept.claim
  await makeFolder(dirname(pathOf(context, '')))
  const entries = isOwn ? await readEntries(pathOf(context, named.id), hash.ofRecord) : undefined
  const changed = entries ? mirror.changedSince(feed.name) : []
  const because = !named
    ? 'no full file was imported by these rules before'
    : !isOwn
      ? 'the last full file was not imported to its end'
      : !entries
        ? 'the index of the last full file is gone or damaged, or that file was read in another way'
        : undefined
  const [firstPage] = mirror.pages()
  return new KnownRecords({
    hash,
    entries: entries ?? new Uint32Array(),
    changed,
    because,
    readsFirst: feed.asOf?.from === 'column',
    isFirst: firstPage === undefined,
    threads,
    pathOf: (name) => pathOf(context, name),
  })
}

/** For a file that may be scanned: whether it can be shows when they have long started. */
export function startThreads({ context, accept, bytes }: ImportRun): ScanThreads | undefined {
  const isScannable = accept.mode === 'full' && bytes >= bytesMin && !accept.resend && !context.feed.group
  return isScannable && readKnown(context.mirror, context.feed.name) ? new ScanThreads(bytes) : undefined
}

/** Why no record says all that it says in its bytes alone. */
function reasonOfAll({ feed }: FeedContext): string | undefined {
  if (feed.key !== undefined) return 'its products are found by a key'
  return feed.transform === undefined ? undefined : 'a transform makes its records'
}

/** From now on no other file may use the index: what a file has applied in part is in none. */
export async function beginKnownRecords({ context, accept }: ImportRun, known: KnownRecords | undefined) {
  const { feed, mirror, book } = context
  const { claim } = accept
  const named = readKnown(mirror, feed.name)
  if (!named) return
  const isOwn = (named.claim ?? claim) === claim
  const value = isOwn && known ? { ...named, claim } : undefined
  await book.update({ known: { feed: feed.name, value } })
}

/** Which index holds the records of the feed's last full file. */
export function readKnown(mirror: Pick<Mirror, 'known'>, feed: FeedName): KnownIndex | undefined {
  const text = mirror.known().get(feed)
  return text === undefined ? undefined : (JSON.parse(text) as KnownIndex)
}

/** All that the file says is applied, durably: the next full file is held against it. */
export async function saveKnownRecords(
  { context }: ImportRun,
  known: KnownRecords,
  options: { keepsAbsent: boolean },
): Promise<void> {
  const { feed, mirror, book, rulesDigest: rules } = context
  const index = known.next(options)
  const id = index ? randomUUID() : readKnown(mirror, feed.name)?.id
  if (id === undefined) return
  const path = pathOf(context, id)
  if (index) await moveDurably(index.finish(), path)
  await book.update({ known: { feed: feed.name, value: { id, rules } } })
  for (const name of await readdir(dirname(path))) {
    const other = join(dirname(path), name)
    if (other !== path && name.startsWith(prefixOf(context))) await removeIfPresent(other)
  }
}

function pathOf(context: Pick<FeedContext, 'reportsDir' | 'feed'>, id: string): string {
  return join(dirname(context.reportsDir), 'index', prefixOf(context) + id)
}

function prefixOf({ feed }: Pick<FeedContext, 'feed'>): string {
  return `${encodeURIComponent(feed.name)}~`
}
