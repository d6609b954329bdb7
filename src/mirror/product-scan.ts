import type { ProductId } from '../lib/brand.ts'
import { Database } from '../lib/database.ts'
import { newest } from './documents.ts'
import { checkReadable } from './schema.ts'

/** `digest`: of the document; null: it is incomplete. `key` is the product's for as long as it is known. */
export interface ScannedProduct {
  key: number
  id: ProductId
  digest: Uint8Array | null
}

/** Reads which products there are and what their documents are, without the documents. Each read is a transaction. */
export class ProductScan implements Disposable {
  readonly #database: Database

  constructor(file: string) {
    this.#database = Database.open({ file, access: 'read' })
    try {
      checkReadable(this.#database)
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    }
  }

  /** Of higher keys, ascending. */
  page(after: number, productsMax: number): ScannedProduct[] {
    const sql = `SELECT p.key, p.id, ${newest.digest} AS digest FROM products p
      LEFT JOIN edited e ON e.product = p.key LEFT JOIN digests g ON g.product = p.key
      WHERE p.key > ? ORDER BY p.key LIMIT ?`
    return this.#database.all(sql, after, productsMax)
  }

  lastKey(): number {
    return this.#database.get<{ key: number | null }>('SELECT max(key) AS key FROM products')?.key ?? 0
  }

  /** In the order of their keys; those that are not known are left out. */
  ids(keys: readonly number[]): ProductId[] {
    const sql = 'SELECT p.id FROM json_each(?) t CROSS JOIN products p ON p.key = t.value'
    return this.#database.all<{ id: ProductId }>(sql, JSON.stringify(keys)).map(({ id }) => id)
  }

  /** Ids that begin so, in order. */
  idsFrom(prefix: string, idsMax: number): ProductId[] {
    const sql = 'SELECT id FROM products WHERE id >= ? AND id < ? ORDER BY id LIMIT ?'
    const given = prefix.toWellFormed()
    return this.#database.all<{ id: ProductId }>(sql, given, `${given}\u{10ffff}`, idsMax).map(({ id }) => id)
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]()
  }
}
