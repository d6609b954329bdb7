import type { FeedName, ProductId } from '../lib/brand.ts'
import { Database } from '../lib/database.ts'
import { readSettledCalls, type StoredCall } from './calls.ts'
import { countAll } from './count-all.ts'
import { bufferOf, checkedDocument, checkTexts, damaged } from './digest.ts'
import { newest } from './documents.ts'
import { readCalls, readFact, readFacts } from './facts.ts'
import { readIdentity } from './identity.ts'
import { LaneNumbers } from './lanes.ts'
import type { MirrorIdentity } from './loop-model.ts'
import type {
  CallsDecision,
  DeadLetter,
  DocumentDigest,
  FoundProducts,
  KeyLookup,
  MirrorChunk,
  MirrorCounts,
  RepairState,
  StepKey,
  StoredProduct,
} from './model.ts'
import { idList, readDocuments, readPlaces } from './read-documents.ts'
import { readNearIds, readStory, type StoredStory } from './read-story.ts'
import { checkReadable, prepareTables } from './schema.ts'

/** `stored` is null where what is stored of the product is gone, which only damage can do. */
type ReadRow = readonly [
  ...[at: number, meta: string, stored: number | null],
  ...[document: Uint8Array | null, partial: Uint8Array | null, digest: Uint8Array | null],
  ...[origins: string | null, isUndelivered: 0 | 1, key: number, missing: string | null],
]

type LetterRow = Record<'id' | 'letter', string>

/**
 * Reads what is committed, of a running daemon, too, on a connection of its own that cannot write. Each read is a
 * transaction. Synchronous, at most a few milliseconds; whoever reads many pages lets the event loop go on in between.
 */
export class MirrorReader implements Disposable {
  readonly #database: Database

  /** A file in which its writer is about to make the tables, or `undefined`, is a mirror that holds nothing. */
  constructor(file: string | undefined) {
    this.#database = file === undefined ? Database.inMemory() : Database.openMade(file)
    try {
      checkReadable(this.#database)
      if (this.#database.format === 0) prepareTables(this.#database)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** Has an entry for each id; all parts are undefined where the product is not known. */
  read(ids: readonly ProductId[]): Map<ProductId, StoredProduct> {
    const sql = `SELECT t.key, p.meta, ${newest.product}, ${newest.document}, ${newest.partial}, ${newest.digest},
        ${newest.origins}, ${newest.isUndelivered}, p.key, p.missing
      FROM json_each(?) t CROSS JOIN products p ON p.id = t.value ${newest.joins}`
    const products = new Map<ProductId, StoredProduct>()
    for (const id of ids) products.set(id, { document: undefined, partial: undefined, meta: undefined })
    for (const row of this.#database.rows<ReadRow>(sql, idList(ids)))
      products.set(ids[row[0]] as ProductId, this.#stored(row))
    return products
  }

  /** For calls: what was committed last, whether it was offered or not. */
  readDocuments(ids: readonly ProductId[]): ReturnType<typeof readDocuments> {
    return readDocuments(this.#database, ids)
  }

  /** Where unsent products wait, and since when; others are absent. */
  waitingSince(ids: readonly ProductId[]): ReturnType<typeof readPlaces> {
    return readPlaces(this.#database, ids)
  }

  lookUp({ field, values }: KeyLookup): FoundProducts {
    const sql = `SELECT p.id FROM key_index k JOIN products p ON p.key = k.product
      WHERE k.field = ? AND k.value = ? LIMIT 2`
    const find = () => new Map(values.map((value) => [value, this.#ids(sql, field, value)]))
    return this.#database.snapshot(find)
  }

  /** Fields whose index of products is complete. */
  keyFields(): string[] {
    return [...readFacts<string, number>(this.#database, 'key-field').keys()]
  }

  /** All known products, at most 500 a page; none twice. */
  *pages(): Iterable<readonly { productId: ProductId; meta: string }[]> {
    const sql = `SELECT key, id AS productId, meta FROM products WHERE key > ? ORDER BY key LIMIT 500`
    for (let after = 0; ; ) {
      const page = this.#database.all<{ key: number; productId: ProductId; meta: string }>(sql, after)
      const last = page.at(-1)
      if (!last) return
      for (const { productId, meta } of page) checkTexts([productId, meta], this.#database.file)
      after = last.key
      yield page
    }
  }

  /** Whether the newest document is not acknowledged; dead letters included. */
  isUnsent(id: ProductId): boolean {
    const sql = `SELECT lane IS NOT NULL OR (digest IS NOT NULL AND acknowledged IS NOT digest) AS unsent
      FROM products p JOIN standing s ON s.product = p.key WHERE p.id = ?`
    return this.#database.get<{ unsent: number }>(sql, id)?.unsent === 1
  }

  /** Undefined: no feed has ever named the product. */
  story(id: ProductId): StoredStory | undefined {
    return this.#database.snapshot(() => readStory(this.#database, id, this.identity().offered))
  }

  nearIds(id: string, idsMax: number): string[] {
    return readNearIds(this.#database, id, idsMax)
  }

  /** Newest first; read as far as it is asked for. */
  settledCalls(before = Number.MAX_SAFE_INTEGER): Iterable<StoredCall> {
    return readSettledCalls(this.#database, before)
  }

  /** When the next announced change holds, epoch ms. */
  nextSwitch(): number | undefined {
    return this.#database.get<{ at: number | null }>('SELECT min(at) AS at FROM switches')?.at ?? undefined
  }

  switchesDue(nowMs: number, productsMax: number): ProductId[] {
    const sql = `SELECT p.id FROM switches w JOIN products p ON p.key = w.product
      WHERE w.at <= ? ORDER BY w.at LIMIT ?`
    return this.#ids(sql, nowMs, productsMax)
  }

  /** JSON by feed. */
  held(): ReadonlyMap<FeedName, string> {
    return readFacts(this.#database, 'held')
  }

  heldIds(feed: FeedName, idsMax: number): ProductId[] {
    return this.#ids(
      'SELECT p.id FROM held_ids h JOIN products p ON p.key = h.product WHERE h.feed = ? LIMIT ?',
      feed,
      idsMax,
    )
  }

  fullAsOf(feed: FeedName): string | undefined {
    return readFact(this.#database, 'full-as-of', feed)
  }

  /** `KnownIndex` as JSON, by feed. */
  known(): ReadonlyMap<FeedName, string> {
    return readFacts(this.#database, 'known')
  }

  /** Products that other files of the feed changed since. */
  changedSince(feed: FeedName): ProductId[] {
    const sql = 'SELECT p.id FROM changed_since c JOIN products p ON p.key = c.product WHERE c.feed = ?'
    return this.#ids(sql, feed)
  }

  /** JSON by feed. */
  progress(): ReadonlyMap<FeedName, string> {
    return readFacts(this.#database, 'progress')
  }

  counts(claim: string): Readonly<Record<string, number>> {
    return Object.fromEntries(readFacts<string, number>(this.#database, `count:${claim}`))
  }

  /** What of a scope was applied, newest sequence first; read as far as it is asked for. */
  *applied(scope: FeedName | '*'): Iterable<{ sequence: number; key: StepKey }> {
    const sql = `SELECT sequence, key FROM imports
      WHERE scope = ? AND (sequence, key) < (?, ?) ORDER BY sequence DESC, key DESC LIMIT 100`
    for (
      let before: { sequence: number; key: StepKey } | undefined = { sequence: 2 ** 53, key: '' };
      before;
    ) {
      const { sequence, key } = before
      const page: { sequence: number; key: StepKey }[] = this.#database.all(sql, scope, sequence, key)
      yield* page
      before = page.at(-1)
    }
  }

  isApplied(key: StepKey): boolean {
    return this.#count('SELECT count(*) AS count FROM imports WHERE key = ?', key) === 1
  }

  /** JSON by key. */
  notices(): ReadonlyMap<string, string> {
    return readFacts(this.#database, 'notice')
  }

  calls(): CallsDecision | undefined {
    return readCalls(this.#database)
  }

  count(): MirrorCounts {
    return this.#database.snapshot(() => countAll(this.#database))
  }

  /** What the first incomplete products miss. */
  incomplete(productsMax: number): { productId: string; missing: string }[] {
    const sql = 'SELECT id AS productId, missing FROM products WHERE missing IS NOT NULL ORDER BY key LIMIT ?'
    return this.#database.all(sql, productsMax)
  }

  /** Oldest first. */
  deadLetters(): DeadLetter[] {
    const sql = 'SELECT id, letter FROM dead CROSS JOIN products ON key = product ORDER BY at, id'
    return this.#database.all<LetterRow>(sql).map(parseLetter)
  }

  deadLetter(id: ProductId): DeadLetter | undefined {
    const sql = 'SELECT p.id, d.letter FROM dead d JOIN products p ON p.key = d.product WHERE p.id = ?'
    const row = this.#database.get<LetterRow>(sql, id)
    return row && parseLetter(row)
  }

  /** Of the documents that were refused; undefined where a product is no dead letter. */
  deadDigests(ids: readonly ProductId[]): (DocumentDigest | undefined)[] {
    const sql = 'SELECT d.digest FROM dead d JOIN products p ON p.key = d.product WHERE p.id = ?'
    return ids.map((id) => {
      const row = this.#database.get<{ digest: Uint8Array }>(sql, id)
      return row && Buffer.from(row.digest)
    })
  }

  repair(): RepairState {
    const { lastLossMs, repairing, startOver } = this.identity()
    return { lastLossMs, repairing: repairing !== undefined || startOver !== undefined }
  }

  /** Since when no feed names them, epoch ms; others are left out. */
  absentSince(ids: readonly ProductId[]): ReadonlyMap<ProductId, number> {
    const sql = 'SELECT a.since FROM absent a JOIN products p ON p.key = a.product WHERE p.id = ?'
    const rows = ids.map((id) => [id, this.#database.get<{ since: number }>(sql, id)?.since] as const)
    return new Map(rows.flatMap(([id, since]) => (since === undefined ? [] : [[id, since]])))
  }

  /** Since when the file is the mirror, by an import, an upgrade or a restore; epoch ms. Not every file system keeps it. */
  madeAtMs(): number {
    return readFact(this.#database, 'identity', 'made') ?? 0
  }

  identity(): MirrorIdentity {
    const { last, offered } = new LaneNumbers(this.#database)
    return { ...readIdentity(this.#database), last, offered }
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]()
  }

  #stored(row: ReadRow): StoredProduct {
    const [, meta, stored, document, partial, digest, origins, isUndelivered, key, missing] = row
    if (stored === null || typeof meta !== 'string') throw damaged(this.#database.file)
    return {
      meta,
      document: checkedDocument(document, digest, this.#database.file),
      partial: partial ? bufferOf(partial, this.#database.file) : undefined,
      origins: origins ?? undefined,
      isUndelivered: isUndelivered === 1,
      row: { key, missing, digest },
    }
  }

  #ids(sql: string, ...values: (string | number)[]): ProductId[] {
    return this.#database.all<{ id: ProductId }>(sql, ...values).map(({ id }) => id)
  }

  #count(sql: string, ...values: (string | number)[]): number {
    return this.#database.get<{ count: number }>(sql, ...values)?.count ?? 0
  }
}

/** The mirror of one catalog in the process that imports it. */
export interface Mirror extends MirrorReader {
  /**
   * Reads the products, lets a plan decide what changes (undefined: nothing), and changes it durably in one transaction.
   * What one update reads of products, it alone changes. Safe to repeat. `gather`: it shares a transaction with those that
   * follow, and waits for a reader of its products or for `flush`; all others overtake it.
   */
  update(
    ids: readonly ProductId[],
    plan: (stored: ReadonlyMap<ProductId, StoredProduct>) => MirrorChunk | undefined,
    options?: { gather?: boolean },
  ): Promise<void>
  flush(): void
  /** The same for products that are found by a key; those that exactly one product matches are read. */
  updateByKey(
    lookup: KeyLookup,
    plan: (stored: ReadonlyMap<ProductId, StoredProduct>, found: FoundProducts) => MirrorChunk | undefined,
  ): Promise<void>
}

function parseLetter({ id, letter }: LetterRow): DeadLetter {
  return { productId: id, ...(JSON.parse(letter) as Omit<DeadLetter, 'productId'>) }
}
