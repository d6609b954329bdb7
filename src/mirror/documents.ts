import type { Database } from '../lib/database.ts'
import type { DocumentDigest, ProductWrite } from './model.ts'

/** What products say now, where `p` is `products`: the page of an older document is not read. */
export const newest = {
  joins: `LEFT JOIN edited e ON e.product = p.key
      LEFT JOIN documents d ON d.product = p.key AND e.product IS NULL
      LEFT JOIN digests g ON g.product = p.key AND e.product IS NULL`,
  /** NULL: what is stored of the product is gone, which only damage can do. */
  product: 'coalesce(e.product, d.product)',
  document: 'iif(e.product IS NULL, d.document, e.document)',
  partial: 'iif(e.product IS NULL, d.partial, e.partial)',
  digest: 'iif(e.product IS NULL, g.digest, e.digest)',
  origins: 'iif(e.product IS NULL, g.origins, e.origins)',
  isUndelivered: 'EXISTS (SELECT 1 FROM sending s WHERE s.product = p.key AND s.acknowledged IS NULL)',
} as const

type Stored = { [K in 'document' | 'partial' | 'origins']?: ProductWrite[K] | null }

interface Written {
  digest: DocumentDigest | null | undefined
  isNew: boolean
}

/** Where more are edited than that, pages of `documents` that change have several of them: they go there at once. */
const editedMax = 32_768
/** So many may stay in `edited`: those that change often are not moved each time. */
const restingMax = 4_096
const movedMax = 512

/**
 * The newest documents. Those of products that stood there before are written side by side into `edited`, since a page of
 * `documents` has six: to change one product of a hundred would write six times the bytes. They are moved when the mirror
 * has nothing else to do. Its methods run inside a transaction.
 */
export class Documents {
  readonly #database: Database
  #edited = 0
  /** The product that was written last. */
  wasNew = true

  constructor(database: Database) {
    this.#database = database
    this.reload()
  }

  /** A moment of rest is to be used. */
  get hasMany(): boolean {
    return this.#edited > restingMax
  }

  write(
    key: number,
    { document = null, partial = null, origins = null }: Stored,
    { digest = null, isNew }: Written,
  ): void {
    this.wasNew = isNew
    if (isNew) {
      const insert = 'INSERT INTO documents (product, document, partial) VALUES (?, ?, ?)'
      this.#database.run(insert, key, document, partial)
      this.#database.run(
        'INSERT INTO digests (product, digest, origins) VALUES (?, ?, ?)',
        key,
        digest,
        origins,
      )
      return
    }
    const update = 'UPDATE edited SET digest = ?, origins = ?, document = ?, partial = ? WHERE product = ?'
    if (this.#edited > 0 && this.#database.run(update, digest, origins, document, partial, key).changes === 1)
      return
    if (this.#edited >= editedMax) {
      const both = 'UPDATE documents SET document = ?, partial = ? WHERE product = ?'
      this.#database.run(both, document, partial, key)
      this.#database.run('UPDATE digests SET digest = ?, origins = ? WHERE product = ?', digest, origins, key)
      return
    }
    const insert = 'INSERT INTO edited (product, digest, origins, document, partial) VALUES (?, ?, ?, ?, ?)'
    this.#database.run(insert, key, digest, origins, document, partial)
    this.#edited += 1
  }

  /** Of a product that stays as it is. */
  noteOrigins(key: number, origins: string): void {
    for (const table of ['edited', 'digests'])
      if (this.#database.run(`UPDATE ${table} SET origins = ? WHERE product = ?`, origins, key).changes === 1)
        return
  }

  /** A portion. */
  move(): void {
    const last = 'SELECT max(product) AS last FROM (SELECT product FROM edited ORDER BY product LIMIT ?)'
    const upTo = this.#database.get<{ last: number | null }>(last, movedMax)?.last
    if (upTo == null) return
    for (const [table, columns] of [
      ['documents', 'document, partial'],
      ['digests', 'digest, origins'],
    ]) {
      // An UPDATE that joins the two tables would read every row of the larger one up to that product.
      const sql = `REPLACE INTO ${table} (product, ${columns}) SELECT product, ${columns} FROM edited WHERE product <= ?`
      this.#database.run(sql, upTo)
    }
    this.#edited -= this.#database.run('DELETE FROM edited WHERE product <= ?', upTo).changes
  }

  /** Something may have been rolled back. */
  reload(): void {
    this.#edited = this.#database.get<{ count: number }>('SELECT count(*) AS count FROM edited')?.count ?? 0
  }
}
