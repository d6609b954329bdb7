import { Database } from '../../lib/database.ts'

/** What stands in the index of one product. `version` tells whether its document is another one. */
export interface IndexedProduct {
  key: number
  version: number
}

export interface NamedProduct extends IndexedProduct {
  name: string
}

/** Numbers of the mirror tell that something has changed since: those when the scan began, and when the last one had. */
export interface ScanProgress {
  /** The last key that was looked at. */
  after: number
  begun: string
  complete: string
}

interface ScanStep {
  put: readonly NamedProduct[]
  /** Keys. */
  remove: readonly number[]
  progress: ScanProgress
}

const formatVersion = 1
const tables = `
  CREATE VIRTUAL TABLE names USING fts5(
    name, content = '', contentless_delete = 1, detail = 'none', prefix = '1 2 3',
    tokenize = 'unicode61 remove_diacritics 2');
  CREATE TABLE seen (product INTEGER PRIMARY KEY, version INTEGER NOT NULL);
  CREATE TABLE facts (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  PRAGMA user_version = ${formatVersion};
`

/**
 * The words in the names of products, in a database of its own beside the mirror: the mirror's writer has nothing to do
 * with it. It can be made again from the mirror at any time.
 */
export class WordIndex implements Disposable {
  readonly #database: Database

  constructor(file: string, access: 'read' | 'write') {
    this.#database = Database.open({ file, access })
    if (access === 'read') return
    // What a loss of power takes away is found missing by the next scan.
    this.#database.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000')
    if (this.#database.format !== formatVersion) this.#database.transaction(() => this.#database.exec(tables))
  }

  /** Whether there is one yet. */
  get isMade(): boolean {
    return this.#database.format === formatVersion
  }

  get progress(): ScanProgress {
    const sql = "SELECT value FROM facts WHERE name = 'progress'"
    const text = this.#database.get<{ value: string }>(sql)?.value
    return text === undefined ? { after: 0, begun: '', complete: '' } : JSON.parse(text)
  }

  /** Of keys in between, the upper one included. */
  seen(after: number, until: number): IndexedProduct[] {
    const sql = 'SELECT product AS key, version FROM seen WHERE product > ? AND product <= ?'
    return this.#database.all(sql, after, until)
  }

  /** One step of the scan. */
  write({ put, remove, progress }: ScanStep): void {
    this.#database.transaction(() => {
      for (const key of [...remove, ...put.map((product) => product.key)]) {
        if (this.#database.run('DELETE FROM seen WHERE product = ?', key).changes > 0)
          this.#database.run('DELETE FROM names WHERE rowid = ?', key)
      }
      for (const { key, version, name } of put) {
        this.#database.run('INSERT INTO names (rowid, name) VALUES (?, ?)', key, name)
        this.#database.run('INSERT INTO seen (product, version) VALUES (?, ?)', key, version)
      }
      const sql = "INSERT OR REPLACE INTO facts (name, value) VALUES ('progress', ?)"
      this.#database.run(sql, JSON.stringify(progress))
    })
  }

  /** Keys of products whose names have all of the words, or words that begin so. */
  find(text: string, keysMax: number): number[] {
    const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
    if (words.length === 0) return []
    const sql = 'SELECT rowid AS key FROM names WHERE names MATCH ? LIMIT ?'
    const find = (end: string) => {
      const match = words.map((word) => `"${word}"${end}`).join(' ')
      return this.#database.all<{ key: number }>(sql, match, keysMax).map(({ key }) => key)
    }
    // Whole words are read as far as it takes, beginnings of words all: tens of milliseconds at a million products.
    const whole = find('')
    return whole.length < keysMax ? find('*') : whole
  }

  [Symbol.dispose](): void {
    this.#database[Symbol.dispose]()
  }
}
