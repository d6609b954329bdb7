import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FeedName } from '../lib/brand.ts'
import { systemErrorCode } from '../lib/errors.ts'
import type { KnownIndex } from '../mirror/model.ts'
import type { Mirror } from '../mirror/reader.ts'
import {
  type BytesHash,
  type HashedText,
  openBytesHash,
  openTextHash,
  type TextHash,
} from '../records/id-table.ts'
import type { Judgement } from '../records/judge.ts'
import type { RecordSlice } from '../records/model.ts'
import { PartitionedTable } from '../records/partitioned-table.ts'
import { makeFolder, removeIfPresent, writeDurably } from '../sources/durable.ts'
import type { FeedContext } from './context.ts'
import type { ImportRun } from './import-run.ts'
import type { ProductFile } from './open-feed-file.ts'

/** Of a record its digest, and the digest of its product id, in two halves each. */
const numbersPerEntry = 4
/** Digests of records that were read and are not applied yet; forgetting one costs a comparison with the next file. */
const noted = 10_000

/**
 * The records of a feed's last full file that were applied without an issue (its index), and those of the file that is
 * read. A record that is known would change nothing: it is neither parsed nor compared.
 *
 * It holds by construction. The mirror names the index in the transaction behind the file's last record; it is void once
 * another full file has begun, or the rules have changed. Products that other files of the feed have changed since are
 * named in the mirror, in the transactions that changed them.
 */
export class KnownRecords {
  /** Records that were left out. */
  skipped = 0
  readonly #hash: { ofRecord: BytesHash; ofId: TextHash }
  readonly #ids: Judgement['ids']
  readonly #before: Uint32Array
  /** Where in `before` a record stands, by its digest. */
  readonly #places = new PartitionedTable({ withValues: true })
  readonly #digests = new Map<number, HashedText>()
  #next = new Uint32Array(1_024)
  #length = 0

  constructor(options: {
    hash: { ofRecord: BytesHash; ofId: TextHash }
    ids: Judgement['ids']
    before: Uint32Array
    /** Products that were changed since. */
    changed: Iterable<string>
  }) {
    this.#hash = options.hash
    this.#ids = options.ids
    this.#before = options.before
    const changed = new PartitionedTable({ withValues: false })
    for (const id of options.changed) {
      const [low, high] = this.#hash.ofId(id)
      changed.of(high).put(low, high)
    }
    for (let place = 0; place < this.#before.length; place += numbersPerEntry) {
      const [low, high, idLow, idHigh] = this.#entry(place)
      if (!changed.of(idHigh).has(idLow, idHigh)) this.#places.of(high).put(low, high, place)
    }
  }

  /** The records of a batch that are not known. */
  unknownOf(slices: readonly RecordSlice[]): RecordSlice[] {
    if (this.#digests.size > noted) this.#digests.clear()
    return slices.filter(({ bytes, record }) => {
      const digest = this.#hash.ofRecord(bytes)
      const place = this.#places.of(digest[1]).get(...digest)
      const [, , ...id] = place === undefined ? [] : this.#entry(place)
      // Of several records with one id only the last one counts.
      if (place !== undefined && !this.#ids.isRepeated(id as unknown as HashedText)) {
        this.#add(digest, id as unknown as HashedText)
        this.skipped += 1
        return false
      }
      this.#digests.set(record, digest)
      return true
    })
  }

  /** The record was applied, without an issue and for good. */
  remember(record: number, id: string): void {
    const digest = this.#digests.get(record)
    if (!digest) return
    this.#digests.delete(record)
    this.#add(digest, this.#hash.ofId(id))
  }

  /** All that is remembered, with a checksum behind it. */
  toBuffer(): Buffer {
    const checksum = this.#hash.ofRecord(bytesOf(this.#next.subarray(0, this.#length)))
    this.#grow()
    this.#next.set(checksum, this.#length)
    return bytesOf(this.#next.subarray(0, this.#length + checksum.length))
  }

  #entry(place: number): [number, number, number, number] {
    const [low = 0, high = 0, idLow = 0, idHigh = 0] = this.#before.subarray(place, place + numbersPerEntry)
    return [low, high, idLow, idHigh]
  }

  #add(digest: HashedText, id: HashedText): void {
    this.#grow()
    this.#next.set(digest, this.#length)
    this.#next.set(id, this.#length + 2)
    this.#length += numbersPerEntry
  }

  /** Makes room for one more. */
  #grow(): void {
    if (this.#length + numbersPerEntry <= this.#next.length) return
    const grown = new Uint32Array(this.#next.length * 2)
    grown.set(this.#next)
    this.#next = grown
  }
}

/**
 * What the records of a full file are held against; undefined where none can be known. From now on no other file may use
 * the index: what a file has applied in part is in none.
 */
export async function openKnownRecords(
  { context, accept }: ImportRun,
  { judgement, tables }: ProductFile,
): Promise<KnownRecords | undefined> {
  const { feed, mirror } = context
  const { dialect, columns, grouping, ids } = judgement
  const named = readKnown(mirror, feed.name)
  const isOwn = named !== undefined && (named.claim ?? accept.claim) === accept.claim
  // What a record says has to stand in its bytes alone.
  const isPlain = dialect.type !== 'xml' && !grouping && feed.key === undefined && !feed.transform
  const isMeant = isPlain && !accept.resend
  if (named) {
    const { claim } = accept
    const value = isOwn && isMeant ? { ...named, claim } : undefined
    await mirror.update([], () => ({ writes: [], known: { feed: feed.name, value } }))
  }
  if (!isMeant) return undefined
  const hash = {
    ofRecord: await openBytesHash(JSON.stringify([dialect, columns, tables])),
    ofId: await openTextHash(),
  }
  const before = isOwn ? await readIndex(pathOf(context, named.id), hash.ofRecord) : undefined
  const changed = before ? mirror.changedSince(feed.name) : []
  return new KnownRecords({ hash, ids, before: before ?? new Uint32Array(), changed })
}

/** Which index holds the records of the feed's last full file. */
export function readKnown(mirror: Pick<Mirror, 'known'>, feed: FeedName): KnownIndex | undefined {
  const text = mirror.known().get(feed)
  return text === undefined ? undefined : (JSON.parse(text) as KnownIndex)
}

/** Every record of the file is applied, durably: the next full file is held against them. */
export async function saveKnownRecords({ context }: ImportRun, known: KnownRecords): Promise<void> {
  const { feed, mirror, rulesDigest: rules } = context
  const id = randomUUID()
  const path = pathOf(context, id)
  await makeFolder(dirname(path))
  await writeDurably(path, known.toBuffer(), `${path}.tmp`)
  await mirror.update([], () => ({ writes: [], known: { feed: feed.name, value: { id, rules } } }))
  for (const name of await readdir(dirname(path))) {
    const other = join(dirname(path), name)
    if (other !== path && name.startsWith(prefixOf(context))) await removeIfPresent(other)
  }
}

/** Undefined where it is not there, or not as it was written: then no record is known. */
async function readIndex(path: string, hash: BytesHash): Promise<Uint32Array | undefined> {
  try {
    const bytes = await readFile(path)
    const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4))
    const entries = numbers.subarray(0, -2)
    const [low, high] = hash(bytesOf(entries))
    return low === numbers.at(-2) && high === numbers.at(-1) ? entries : undefined
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function pathOf(context: Pick<FeedContext, 'reportsDir' | 'feed'>, id: string): string {
  return join(dirname(context.reportsDir), 'index', prefixOf(context) + id)
}

function prefixOf({ feed }: Pick<FeedContext, 'feed'>): string {
  return `${encodeURIComponent(feed.name)}~`
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
