import type { ProductId } from '../lib/brand.ts'
import { NumberList } from '../lib/number-list.ts'
import { EntryList } from '../records/entries.ts'
import { EntryMatcher, numbersPerEntry } from '../records/entry-matcher.ts'
import type { GroupTable } from '../records/group-table.ts'
import type { BytesHash, HashedText, IdTable, IdTableBuilder, TextHash } from '../records/id-table.ts'
import type { KnownFilter } from '../records/judge-model.ts'
import type { RecordSlice } from '../records/model.ts'
import { PartitionedTable } from '../records/partitioned-table.ts'
import type { RecordPlaces } from '../records/record-places.ts'
import { type ScannedFile, type ScanOptions, scanFile } from '../records/scan/scan-file.ts'
import type { ScanThreads } from '../records/scan/scan-threads.ts'
import type { XmlScope } from '../records/xml-items.ts'
import type { Removals } from './context.ts'
import { GroupDigests } from './known-groups.ts'

/** Digests of records that were read and are not applied yet; forgetting one costs a comparison with the next file. */
const noted = 10_000
const none: HashedText = [0, 0]

/**
 * A feed's index has an entry for each product that its last full file named or left: with the digest of its record where
 * that was applied without an issue. A record that is known would change nothing: it is neither judged nor parsed, and
 * an entry whose product the file does not name is missing.
 *
 * It holds by construction. The mirror names the index in the transaction behind the file's last removal; it is void once
 * another full file has begun, or the rules have changed. Products that other files of the feed have changed since are
 * named in the mirror, in the transactions that changed them: their records are not known.
 */
export class KnownRecords implements KnownFilter {
  /** Why no record is known. */
  because: string | undefined
  /** The records that are not known, where threads have told them. */
  places: RecordPlaces | undefined
  readonly #hash: { ofRecord: BytesHash; ofId: TextHash }
  readonly #changed: readonly ProductId[]
  readonly #matcher: EntryMatcher
  readonly readsFirst: boolean
  readonly #isFirst: boolean
  readonly #threads: ScanThreads | undefined
  /** By record: 1 where it is known. */
  #known = new NumberList((length) => new Uint8Array(length))
  readonly #digests = new Map<number, HashedText>()
  readonly #scopes = new WeakMap<XmlScope, HashedText>()
  /** Where rows make products together: a record is all rows of a product. */
  #groups: GroupDigests | undefined
  /** The ids of the records that are not known. */
  #others: Pick<IdTableBuilder, 'hasHash' | 'mark'> | undefined
  #skipped = 0
  /** Of the records that are not known and were applied. */
  readonly #applied: EntryList
  /** Products of the feed whose record is neither known nor applied. */
  readonly #rest: Record<'named' | 'absent', EntryList>
  /** The ids of those, and of what was applied, that are not marked among the others. */
  readonly #placed = new PartitionedTable({ withValues: false })
  readonly #openList: (name: string) => EntryList
  #matchedIds: PartitionedTable | undefined

  constructor(options: {
    hash: { ofRecord: BytesHash; ofId: TextHash }
    entries: Uint32Array
    /** Products that were changed since. */
    changed: readonly ProductId[]
    because: string | undefined
    readsFirst: boolean
    /** The mirror held no product before: all products of the feed are in this file. */
    isFirst: boolean
    /** For a file that is long enough. */
    threads: ScanThreads | undefined
    /** For entries that are gathered under that name. */
    pathOf: (name: string) => string
  }) {
    const { hash, entries, changed, because, readsFirst, isFirst, threads, pathOf } = options
    this.#openList = (name) => new EntryList(pathOf(name), hash.ofRecord)
    this.#applied = this.#openList('applied')
    this.#rest = { named: this.#openList('named'), absent: this.#openList('absent') }
    this.#threads = threads
    this.readsFirst = readsFirst
    this.#isFirst = isFirst
    this.#hash = hash
    this.#changed = changed
    this.because = because
    const ids = new PartitionedTable({ withValues: false })
    for (const id of changed) {
      const [low, high] = hash.ofId(id)
      ids.of(high).put(low, high)
    }
    for (let at = 0; at < entries.length && changed.length > 0; at += numbersPerEntry) {
      const [low = 0, high = 0] = [entries[at + 2], entries[at + 3]]
      if (ids.of(high).has(low, high)) entries.fill(0, at, at + 2)
    }
    this.#matcher = new EntryMatcher(
      entries,
      new Uint8Array(new SharedArrayBuffer(entries.length / numbersPerEntry)),
    )
  }

  get skipped(): number {
    return this.#skipped
  }

  describe(): { records: number; because?: string } {
    const because =
      this.#skipped > 0 ? undefined : (this.because ?? 'none of them stood in the last full file')
    return { records: this.#skipped, ...(because === undefined ? {} : { because }) }
  }

  isKnown(slice: RecordSlice): boolean {
    if (this.#matcher.matched.length === 0 || (slice.record === 1 && this.readsFirst)) return false
    return this.#match(slice.record, this.#digestOf(slice))
  }

  noteRow(row: RecordSlice): void {
    this.#groups ??= new GroupDigests(this.#hash.ofRecord)
    this.#groups.add(row.record, this.#digestOf(row))
  }

  settleGroups(table: GroupTable): void {
    this.#others = table
    const read = this.readsFirst ? table.groupOf(1) : undefined
    for (const { group, digest } of this.#groups?.settle(table) ?? [])
      if (group !== read) this.#match(group, digest)
  }

  /** `record`: or the row that stands for a group. */
  #match(record: number, digest: HashedText): boolean {
    if (!this.#matcher.match(...digest)) return false
    this.#known.set(record, 1)
    this.#skipped += 1
    return true
  }

  async scan(scan: Omit<ScanOptions, 'seed' | 'matcher' | 'threads'>): Promise<ScannedFile | undefined> {
    const [threads, matcher] = [this.#threads, this.#matcher]
    if (matcher.matched.length === 0 || !threads) return undefined
    const scanned = await scanFile({ ...scan, threads, seed: this.#hash.ofRecord.seed, matcher })
    this.places = scanned?.places
    this.#skipped += scanned?.known ?? 0
    return scanned
  }

  settle(others: IdTableBuilder | undefined): IdTable | undefined {
    if (!others) return this.#giveUp('its last record may have been cut off')
    this.#others = others
    let named = 0
    for (const id of this.#ids(0)) if (others.hasHash(id)) named += 1
    if (named < others.size) {
      // Of several records with one id only the last one counts.
      for (const id of this.#ids(1))
        if (others.hasHash(id)) return this.#giveUp('records that are known share their ids with others')
    }
    return {
      size: others.size + this.#skipped,
      repeated: others.repeated,
      has: (id) => others.has(id) || this.#isMatched(this.#hash.ofId(id)),
      isLast: (id, record) => others.isLast(id, record),
    }
  }

  /** The records of a batch that are not known. */
  readonly select = (slices: readonly RecordSlice[]): readonly RecordSlice[] => {
    const groups = this.#groups
    const unknown =
      this.#skipped === 0 || this.places
        ? slices
        : slices.filter(({ record }) => !this.#known.has(groups?.groupOf(record) ?? record, 1))
    if (groups) return unknown
    if (this.#digests.size > noted) this.#digests.clear()
    for (const slice of unknown) this.#digests.set(slice.record, this.#digestOf(slice))
    return unknown
  }

  /** The record was applied; `isForGood`: without an issue, and nothing of it is still to come. */
  remember(record: number, id: string, isForGood: boolean): void {
    const digest = this.#groups ? this.#groups.ofProduct(record) : this.#digests.get(record)
    this.#digests.delete(record)
    const idHash = this.#hash.ofId(id)
    this.#applied.add((isForGood && digest) || none, idHash)
    this.#place(idHash)
  }

  /** What the file leaves, where it names all products of the feed: without a look at any of them. */
  unmissed(): Removals | undefined {
    if (this.#isFirst) return { missing: 0, of: this.#applied.length }
    const others = this.#others
    if (!others || this.because !== undefined) return undefined
    for (const id of this.#left()) if (!others.hasHash(id)) return undefined
    for (const id of this.#left()) this.#addRest(id, 'named')
    return { missing: 0, of: this.#skipped + this.#applied.length + this.#rest.named.length }
  }

  /** A product of the feed that the file names, or not. */
  addProduct(productId: ProductId, isAbsent: boolean): void {
    const id = this.#hash.ofId(productId)
    if (!this.#isMatched(id)) this.#addRest(id, isAbsent ? 'absent' : 'named')
  }

  /** The index of this file; undefined: that of the file before is the same. `keepsAbsent`: what is missing is not marked so. */
  next({ keepsAbsent }: { keepsAbsent: boolean }): EntryList | undefined {
    const rest = keepsAbsent ? [this.#rest.named, this.#rest.absent] : [this.#rest.named]
    const others = rest.reduce((sum, list) => sum + list.length, this.#applied.length)
    if (others === 0 && this.#skipped > 0 && this.#skipped === this.#matcher.matched.length) return undefined
    // Where nothing was known, what was applied is the beginning of the index as it is.
    const next = this.#skipped > 0 ? this.#merged() : this.#applied
    for (const list of rest) next.copy(list.numbers(), 0, list.length)
    return next
  }

  /** What was known and what was applied. */
  #merged(): EntryList {
    const { entries, matched } = this.#matcher
    const applied = this.#applied
    const next = this.#openList('next')
    const places = applied.places()
    const numbers = applied.numbers()
    const taken = new Uint8Array(applied.length)
    let copied = 0
    for (const entry of this.#entries(0)) {
      next.copy(entries, copied * numbersPerEntry, entry - copied)
      copied = entry + 1
      // A changed record keeps the place of the one before it, so that the next file finds it in order.
      const at = entry * numbersPerEntry
      const [low = 0, high = 0] = [entries[at + 2], entries[at + 3]]
      const place = places.of(high).get(low, high)
      if (place === undefined || taken[place] === 1) continue
      next.copy(numbers, place * numbersPerEntry)
      taken[place] = 1
    }
    next.copy(entries, copied * numbersPerEntry, matched.length - copied)
    for (let place = 0; place < taken.length; place++)
      if (taken[place] === 0) next.copy(numbers, place * numbersPerEntry)
    return next
  }

  /** Of its bytes, and of what an element inherits from those around it. */
  #digestOf({ bytes, scope }: RecordSlice): HashedText {
    const digest = this.#hash.ofRecord(bytes)
    if (!scope) return digest
    const around = this.#scopes.get(scope) ?? this.#hash.ofRecord(Buffer.from(JSON.stringify(scope)))
    this.#scopes.set(scope, around)
    return [(digest[0] ^ around[0]) >>> 0, (digest[1] ^ around[1]) >>> 0]
  }

  #giveUp(because: string): undefined {
    this.#skipped = 0
    this.because = because
    this.places = undefined
    this.#matcher.matched.fill(0)
    this.#known = new NumberList((length) => new Uint8Array(length))
  }

  #addRest(id: HashedText, list: 'named' | 'absent'): void {
    if (this.#place(id)) this.#rest[list].add(none, id)
  }

  /** False where it was placed before. */
  #place(id: HashedText): boolean {
    return this.#others?.mark(id) ?? this.#placed.of(id[1]).put(...id)
  }

  #isMatched([low, high]: HashedText): boolean {
    if (this.#skipped === 0) return false
    if (!this.#matchedIds) {
      this.#matchedIds = new PartitionedTable({ withValues: false })
      for (const [one, other] of this.#ids(1)) this.#matchedIds.of(other).put(one, other)
    }
    return this.#matchedIds.of(high).has(low, high)
  }

  /** What no record of the file matched. Never collected into a list: it may be all products of the feed. */
  *#left(): Generator<HashedText> {
    yield* this.#ids(0)
    for (const id of this.#changed) yield this.#hash.ofId(id)
  }

  /** Of the entries that are matched (1), or not (0). */
  *#ids(isMatched: 0 | 1): Generator<HashedText> {
    const { entries } = this.#matcher
    for (const entry of this.#entries(isMatched)) {
      const at = entry * numbersPerEntry + 2
      yield [entries[at] ?? 0, entries[at + 1] ?? 0]
    }
  }

  *#entries(isMatched: 0 | 1): Generator<number> {
    const { matched } = this.#matcher
    for (let entry = matched.indexOf(isMatched); entry !== -1; entry = matched.indexOf(isMatched, entry + 1))
      yield entry
  }
}
