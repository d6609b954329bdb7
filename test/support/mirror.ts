import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ProductId } from '../../src/lib/brand.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { Drained } from '../../src/mirror/loop-model.ts'
import type { DocumentDigest, MirrorChunk } from '../../src/mirror/model.ts'
import type { Mirror } from '../../src/mirror/reader.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'

/** A mirror in this thread, without Redis: what is unsent stays so until a test says otherwise. */
export class TestMirror extends MirrorReader implements Mirror, AsyncDisposable {
  readonly store: MirrorStore
  readonly #clock: Clock
  readonly #plain: DatabaseSync

  constructor(file: string, { clock, takesCopy = false }: { clock: Clock; takesCopy?: boolean }) {
    const store = MirrorStore.open({ file, isExpected: false, takesCopy })
    super(file)
    this.store = store
    this.#clock = clock
    this.#plain = new DatabaseSync(file, { readOnly: true })
  }

  async update(ids: readonly ProductId[], plan: Parameters<Mirror['update']>[1]): Promise<void> {
    this.#commit(plan(this.read(ids)))
    // As with a disk, nothing goes on at once.
    await new Promise(setImmediate)
  }

  /** Nothing is gathered here. */
  flush(): void {}

  async updateByKey(
    lookup: Parameters<Mirror['updateByKey']>[0],
    plan: Parameters<Mirror['updateByKey']>[1],
  ) {
    const found = this.lookUp(lookup)
    const ids = [...found.values()].flatMap((matches) => (matches.length === 1 ? matches : []))
    this.#commit(plan(this.read([...new Set(ids)]), found))
    await new Promise(setImmediate)
  }

  /** As if the endpoint had taken everything. */
  acknowledgeAll(): void {
    const rows = this.sql(
      `SELECT id, digest FROM standing JOIN products ON key = product WHERE lane IS NOT NULL`,
    )
    const acknowledged = rows.map(({ id, digest }) => {
      return { productId: id as ProductId, digest: Buffer.from(digest as Uint8Array), held: false }
    })
    this.drain({ acknowledged })
  }

  /** As if the endpoint had refused its document. */
  refuse(productId: ProductId): DocumentDigest {
    const { document = Buffer.of() } = this.read([productId]).get(productId) ?? {}
    const digest = digestDocument(document)
    const letter = { productId, reason: 'no image', status: 400, requestId: null, at: '2026-11-22T00:00:00Z' }
    this.drain({ dead: [{ letter, digest, held: false }] })
    return digest
  }

  /** As after all was offered, what is deferred, too. */
  drain(drained: Omit<Drained, 'positions'>): void {
    const nowMs = this.#clock.now()
    this.store.numberDue({ nowMs, deferredAfterMs: -nowMs, rowsMax: 1_000_000 })
    this.store.drain({ ...drained, positions: this.store.readIdentity().last }, nowMs)
  }

  sql(text: string): Record<string, unknown>[] {
    return this.#plain.prepare(text).all()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#plain.isOpen) this.#plain.close()
    this[Symbol.dispose]()
    this.store[Symbol.dispose]()
  }

  #commit(chunk: MirrorChunk | undefined): void {
    const chunks = chunk ? [chunk] : []
    this.store.commit(() => chunks.shift(), this.#clock.now())
  }
}

export async function openTestMirror(
  file: string,
  options: { clock: Clock; takesCopy?: boolean },
): Promise<TestMirror> {
  await mkdir(dirname(file), { recursive: true })
  return new TestMirror(file, options)
}
