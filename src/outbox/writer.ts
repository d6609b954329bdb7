import { randomUUID } from 'node:crypto'
import type { ProductId } from '../lib/brand.ts'
import { StorageError } from '../lib/errors.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { type FoundProducts, type KeyLookup, lookUpKeys } from './key-index.ts'
import type { CatalogKeys } from './keys.ts'
import type { LaneDelays, StoredProduct } from './model.ts'
import type { OutboxScripts } from './scripts.ts'
import { appendChunk, type WriterChunk } from './write-chunk.ts'

/** Another process writes, or Redis lost writes: unfinished imports start again at record one. */
class WriterLostError extends StorageError {}

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

  /** The same for products that are found by a key; those that exactly one product matches are read. */
  async updateByKey(
    lookup: KeyLookup,
    plan: (stored: ReadonlyMap<ProductId, StoredProduct>, found: FoundProducts) => WriterChunk | undefined,
  ): Promise<void> {
    const run = this.#tail.then(() => this.#updateByKey(lookup, plan))
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

  async #updateByKey(
    lookup: KeyLookup,
    plan: (stored: Map<ProductId, StoredProduct>, found: FoundProducts) => WriterChunk | undefined,
  ): Promise<void> {
    if (this.#lost) throw new WriterLostError('writer-lost', 'this writer has been replaced')
    try {
      // Watched before the index is read: the products that it names are those of the transaction.
      await this.#connection.watch(this.#keys.writer)
      const found = await lookUpKeys(this.#connection, this.#keys, lookup)
      const ids = new Set([...found.values()].flatMap((matches) => (matches.length === 1 ? matches : [])))
      await this.#update([...ids], (stored) => plan(stored, found))
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
    appendChunk(multi, chunk, { keys: this.#keys, scripts: this.#scripts, delays: this.#delays })
    this.#position += 1
    multi.set(this.#keys.writer, this.#mark())
    const answer = await multi.exec()
    if (!answer) throw new WriterLostError('writer-lost', 'another process writes the catalog')
    unwrap(answer)
    this.#committed = this.#position
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
