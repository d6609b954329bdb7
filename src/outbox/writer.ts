import { randomUUID } from 'node:crypto'
import type { FeedName, ProductId } from '../lib/brand.ts'
import { StorageError } from '../lib/errors.ts'
import type { RedisBatch, RedisConnection } from '../redis/connection.ts'
import type { CatalogKeys } from './keys.ts'
import type { LaneDelays, ProductWrite, StoredProduct } from './model.ts'
import { type OutboxScripts, offerArguments } from './scripts.ts'

/** Everything that one transaction changes. */
export interface WriterChunk {
  writes: readonly ProductWrite[]
  /** Products to be sent once more, changed or not. */
  echoes?: readonly ProductId[]
  /** Added to the counters of an unfinished import. */
  counts?: { sequence: number; add: Readonly<Record<string, number>> }
  /** HASH fields to set (string) or remove (undefined). */
  held?: { feed: FeedName; value: string | undefined }
  heldIds?: { feed: FeedName; add?: readonly ProductId[]; remove?: readonly ProductId[]; clear?: boolean }
  progress?: { feed: FeedName; value: string | undefined }
  /** `*` is the catalog itself. */
  applied?: { scope: FeedName | '*'; sequence: number }
  /** The manifest changed: sequences counted in another one mean nothing. */
  origin?: string
  /** Products that turned out to wait for nothing. */
  forgetSwitches?: readonly ProductId[]
  /** Removes the counters of a finished import. */
  forgetCounts?: { sequence: number; names: readonly string[] }
}

/** Another process writes, or Redis lost writes: unfinished imports start again at record one. */
export class WriterLostError extends StorageError {}

interface WriterOptions {
  connection: RedisConnection
  keys: CatalogKeys
  scripts: OutboxScripts
  delays: LaneDelays
}

/**
 * The one process that changes a catalog's documents and offers them to the outbox.
 *
 * States: open → lost. Every transaction watches the key `writer` and requires the value that this writer wrote last:
 * an unexpected one means lost writes or another writer, and ends this one. The connection never reconnects by itself,
 * so a watch can never be lost silently; after any error the writer is lost and a new one is opened.
 */
export class CatalogWriter implements AsyncDisposable {
  readonly #connection: RedisConnection
  readonly #keys: CatalogKeys
  readonly #scripts: OutboxScripts
  readonly #delays: LaneDelays
  readonly #token = randomUUID()
  #position = 0
  #committed = 0
  #lost = false
  /** Updates run one after another: what one reads, it alone writes. */
  #tail: Promise<unknown> = Promise.resolve()

  private constructor(options: WriterOptions) {
    this.#connection = options.connection
    this.#keys = options.keys
    this.#scripts = options.scripts
    this.#delays = options.delays
  }

  /** Takes over from whoever wrote before: their next transaction fails. The connection is the writer's from now on. */
  static async open(options: WriterOptions): Promise<CatalogWriter> {
    const writer = new CatalogWriter(options)
    try {
      await writer.#takeOver()
      return writer
    } catch (error) {
      options.connection.disconnect()
      throw error
    }
  }

  /**
   * Reads the products, lets `plan` decide what changes (undefined: nothing), and changes it in one transaction. Safe to
   * repeat.
   */
  async update(
    ids: readonly ProductId[],
    plan: (stored: ReadonlyMap<ProductId, StoredProduct>) => WriterChunk | undefined,
  ): Promise<void> {
    const run = this.#tail.then(() => this.#update(ids, plan))
    this.#tail = run.catch(() => undefined)
    await run
  }

  /** Fails as an update would when Redis lost writes, another process writes, or the connection broke. Changes nothing. */
  async verify(): Promise<void> {
    await this.update([], () => undefined)
  }

  /** What Redis confirmed last of this writer; undefined once it is lost or closed. */
  get committed(): { token: string; position: number } | undefined {
    return this.#lost ? undefined : { token: this.#token, position: this.#committed }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tail
    this.#lost = true
    this.#connection.disconnect()
  }

  async #takeOver(): Promise<void> {
    const { writer: key } = this.#keys
    await this.#connection.watch(key)
    const before = await this.#connection.get(key)
    this.#position = Number(before?.split(':')[1] ?? 0) + 1
    const answer = await this.#connection.multi().set(key, this.#mark()).exec()
    if (!answer)
      throw new WriterLostError('writer-lost', 'another process took over writing at the same moment')
    this.#committed = this.#position
  }

  async #update(
    ids: readonly ProductId[],
    plan: (stored: Map<ProductId, StoredProduct>) => WriterChunk | undefined,
  ): Promise<void> {
    if (this.#lost) throw new WriterLostError('writer-lost', 'this writer has been replaced')
    try {
      const stored = await this.#read(ids)
      const chunk = plan(stored)
      if (chunk) await this.#commit(chunk)
    } catch (error) {
      this.#lost = true
      throw error
    }
  }

  async #read(ids: readonly ProductId[]): Promise<Map<ProductId, StoredProduct>> {
    const { writer, documents, partials, meta } = this.#keys
    const pipeline = this.#connection.pipeline().watch(writer).get(writer)
    if (ids.length > 0) {
      pipeline.hmgetBuffer(documents, ...ids)
      pipeline.hmgetBuffer(partials, ...ids)
      pipeline.hmget(meta, ...ids)
    }
    const [, mark, documentRows, partialRows, metaRows] = unwrap(await pipeline.exec())
    if (mark !== this.#mark()) {
      throw new WriterLostError(
        'writer-lost',
        'Redis lost writes of this process, or another process writes the catalog',
      )
    }
    const stored = new Map<ProductId, StoredProduct>()
    ids.forEach((id, index) => {
      stored.set(id, {
        document: (documentRows as (Buffer | null)[])[index] ?? undefined,
        partial: (partialRows as (Buffer | null)[])[index] ?? undefined,
        meta: (metaRows as (string | null)[])[index] ?? undefined,
      })
    })
    return stored
  }

  async #commit(chunk: WriterChunk): Promise<void> {
    const multi = this.#connection.multi()
    this.#addProducts(multi, chunk)
    this.#addBookkeeping(multi, chunk)
    this.#position += 1
    multi.set(this.#keys.writer, this.#mark())
    const answer = await multi.exec()
    if (!answer) throw new WriterLostError('writer-lost', 'another process writes the catalog')
    unwrap(answer)
    this.#committed = this.#position
  }

  #addProducts(multi: RedisBatch, chunk: WriterChunk): void {
    const { documents, partials, meta, incomplete } = this.#keys
    const set: Record<'documents' | 'partials' | 'meta' | 'incomplete', (string | Buffer)[]> = {
      documents: [],
      partials: [],
      meta: [],
      incomplete: [],
    }
    const gone: Record<'documents' | 'partials' | 'incomplete', string[]> = {
      documents: [],
      partials: [],
      incomplete: [],
    }
    for (const write of chunk.writes) {
      set.meta.push(write.productId, write.meta)
      for (const part of ['documents', 'partials', 'incomplete'] as const) {
        const value = { documents: write.document, partials: write.partial, incomplete: write.incomplete }[
          part
        ]
        if (value === undefined) gone[part].push(write.productId)
        else set[part].push(write.productId, value)
      }
    }
    const names = { documents, partials, meta, incomplete }
    for (const part of ['documents', 'partials', 'meta', 'incomplete'] as const) {
      if (set[part].length > 0) multi.hset(names[part], ...set[part])
    }
    for (const part of ['documents', 'partials', 'incomplete'] as const) {
      if (gone[part].length > 0) multi.hdel(names[part], ...gone[part])
    }
    this.#addSwitches(multi, chunk)
    const offers = chunk.writes.filter((write) => write.offer !== undefined)
    if (offers.length > 0) this.#scripts.append(multi, 'offer', offerArguments(offers, this.#delays))
    if (chunk.echoes && chunk.echoes.length > 0) this.#scripts.append(multi, 'echo', chunk.echoes)
  }

  #addSwitches(multi: RedisBatch, { writes, forgetSwitches = [] }: WriterChunk): void {
    const { switches } = this.#keys
    const [due, gone]: [(string | number)[], ProductId[]] = [[], [...forgetSwitches]]
    for (const { productId, switchAt } of writes) {
      if (typeof switchAt === 'number') due.push(switchAt, productId)
      else if (switchAt === 'none') gone.push(productId)
    }
    if (due.length > 0) multi.zadd(switches, ...due)
    if (gone.length > 0) multi.zrem(switches, ...gone)
  }

  #addBookkeeping(multi: RedisBatch, chunk: WriterChunk): void {
    const { counts, held, progress, applied, origin } = this.#keys
    if (chunk.origin !== undefined) multi.del(applied, counts, held, progress).set(origin, chunk.origin)
    const { sequence, add } = chunk.counts ?? { sequence: 0, add: {} }
    for (const [name, by] of Object.entries(add)) {
      if (by !== 0) multi.hincrby(counts, `${sequence}:${name}`, by)
    }
    for (const [key, change] of [
      [held, chunk.held],
      [progress, chunk.progress],
    ] as const) {
      if (change?.value !== undefined) multi.hset(key, change.feed, change.value)
      else if (change) multi.hdel(key, change.feed)
    }
    if (chunk.heldIds) this.#addHeldIds(multi, chunk.heldIds)
    if (chunk.forgetCounts) {
      const { sequence: of, names } = chunk.forgetCounts
      if (names.length > 0) multi.hdel(counts, ...names.map((name) => `${of}:${name}`))
    }
    if (chunk.applied) multi.hset(applied, chunk.applied.scope, String(chunk.applied.sequence))
  }

  #addHeldIds(multi: RedisBatch, change: NonNullable<WriterChunk['heldIds']>): void {
    const key = this.#keys.heldIds(change.feed)
    if (change.clear) multi.del(key)
    if (change.add && change.add.length > 0) multi.sadd(key, ...change.add)
    if (change.remove && change.remove.length > 0) multi.srem(key, ...change.remove)
  }

  #mark(): string {
    return `${this.#token}:${this.#position}`
  }
}

/** The values of a pipeline's answer; throws the first error among them. */
function unwrap(answer: [error: Error | null, value: unknown][] | null): unknown[] {
  return (answer ?? []).map(([error, value]) => {
    if (error) throw error
    return value
  })
}
