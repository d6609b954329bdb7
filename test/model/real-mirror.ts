import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { ProductId } from '../../src/lib/brand.ts'
import { copyDatabase } from '../../src/lib/database.ts'
import { StorageError } from '../../src/lib/errors.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { CallsDecision, MirrorChunk } from '../../src/mirror/model.ts'
import { MirrorReader } from '../../src/mirror/reader.ts'
import { MirrorStore } from '../../src/mirror/store.ts'
import { WrittenDocuments } from '../../src/mirror/written-documents.ts'
import type { RedisState } from '../../src/outbox/redis-state.ts'
import { write } from '../outbox/harness.ts'
import { editedDocument } from './mirror.ts'
import { type Document, digestOf, type Edit, lanes } from './state.ts'

/** What the importer knows of the mirror. */
interface Imported {
  documents: Map<string, Document>
  applied: number
}

interface Backup extends Imported {
  file: string
}

/** The real mirror in its file, what is imported into it, and its backups. */
export class RealMirror implements Disposable {
  readonly file: string
  readonly #owner: number
  /** Of documents, by their digests in hex. */
  readonly texts = new Map<string, string>()
  readonly #archive: Edit[] = []
  readonly #backups: Backup[] = []
  readonly #nowMs: () => number
  #imported: Imported = { documents: new Map(), applied: 0 }
  /** The manifest says it, whichever mirror there is. */
  #calls: CallsDecision | undefined
  #made = 0
  readonly #written = new WrittenDocuments()
  /** Undefined: the file was refused. */
  store: MirrorStore | undefined

  constructor({ file, owner, nowMs }: { file: string; owner: number; nowMs: () => number }) {
    this.file = file
    this.#owner = owner
    this.#nowMs = nowMs
    this.store = openStore({ file, isExpected: false })
  }

  get applied(): number {
    return this.#imported.applied
  }

  readDocuments(ids: readonly ProductId[]): ReturnType<MirrorReader['readDocuments']> {
    using reader = new MirrorReader(this.file)
    return reader.readDocuments(ids)
  }

  /** As who delivers beside the thread of the mirror: told of what is durable. */
  takeWritten(id: ProductId, digest: Buffer): Buffer | undefined {
    return this.#written.take(id, digest)
  }

  /** A file that was refused learns of it later: the manifest has it. */
  get toldWhenOpened(): CallsDecision | undefined {
    return this.store ? undefined : this.#calls
  }

  accept(edit: Edit): void {
    this.#archive.push(edit)
  }

  import(count: number): void {
    const { applied } = this.#imported
    for (const edit of this.#archive.slice(applied, applied + count)) this.#commitEdit(edit)
  }

  decide(calls: CallsDecision): void {
    this.#calls = calls
    this.commit({ writes: [], calls })
  }

  commit(chunk: MirrorChunk): void {
    let next: MirrorChunk | undefined = chunk
    this.store?.commit(() => {
      const given = next
      next = undefined
      return given
    }, this.#nowMs())
    this.#written.add(this.store?.takeBlocks() ?? [])
  }

  /** As after the end of the process. */
  reopen(): void {
    this[Symbol.dispose]()
    try {
      this.store = openStore({ file: this.file, isExpected: true })
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
    }
    this.#decideAgain()
  }

  backUp(): void {
    const file = `${this.file}.backup-${++this.#made}`
    copyDatabase(this.file, file)
    this.#backups.push({ file, ...copyOf(this.#imported) })
    if (this.#backups.length > 3) this.#backups.shift()
  }

  backupAt(which: number): Backup | undefined {
    return which < 0 ? this.#backups.at(which) : this.#backups[which % Math.max(1, this.#backups.length)]
  }

  /** Whether Redis, which belongs to the mirror, knows of more than the backup does. */
  isBehind({ guard, beat, positions }: RedisState, { file }: Backup): boolean {
    const { generation, startOver } = this.store?.readIdentity() ?? {}
    using old = new MirrorReader(file)
    const before = old.identity()
    const isStartingOver = startOver !== undefined || before.startOver !== undefined
    if (!guard?.isOpen || guard.generation !== generation || isStartingOver) return false
    return beat > before.beat + 1 || lanes.some((lane) => positions[lane] > before.last[lane])
  }

  putBack(backup: Backup, how: 'restored' | 'copied' | 'in place'): void {
    this.#imported = copyOf(backup)
    if (how === 'in place') {
      this[Symbol.dispose]()
      writeFileSync(this.file, readFileSync(backup.file))
      this.reopen()
    } else this.replace(backup.file)
  }

  /** Another file stands under the name of the mirror, also one with the same content. */
  replace(by = this.file): void {
    this[Symbol.dispose]()
    copyFileSync(by, `${this.file}.new`)
    for (const suffix of ['-wal', '-shm']) rmSync(this.file + suffix, { force: true })
    renameSync(`${this.file}.new`, this.file)
    this.reopen()
  }

  /** With all that belongs to it. */
  copyFrom(other: RealMirror): void {
    this.#archive.splice(0, Number.POSITIVE_INFINITY, ...other.#archive)
    this.#calls = other.#calls
    this.#imported = copyOf(other.#imported)
    for (const [digest, text] of other.texts) this.texts.set(digest, text)
    const file = `${this.file}.beside-${++this.#made}`
    copyDatabase(other.file, file)
    this.replace(file)
  }

  /** As `restore` and `adopt` do it. */
  startOver(change: Parameters<MirrorStore['beginStartOver']>[0]): void {
    this[Symbol.dispose]()
    this.store = openStore({ file: this.file, isExpected: true, takesCopy: true })
    this.store.beginStartOver(change)
    this.#decideAgain()
  }

  [Symbol.dispose](): void {
    this.store?.[Symbol.dispose]()
    this.store = undefined
  }

  #decideAgain(): void {
    if (this.#calls && this.store?.calls()?.at !== this.#calls.at) this.decide(this.#calls)
  }

  #commitEdit(edit: Edit): void {
    if (!this.store) return
    const { documents } = this.#imported
    const before = documents.get(edit.id)
    const document = editedDocument(before, edit, { owner: this.#owner, version: 0 })
    const text = digestOf(document)
    this.#imported.applied++
    documents.set(edit.id, document)
    this.texts.set(digestDocument(Buffer.from(text)).toString('hex'), text)
    if (before && text === digestOf(before)) return
    const lane = before === undefined ? 'new' : document.price === before.price ? 'deferred' : 'urgent'
    this.commit({ writes: [write(edit.id, text, lane)] })
  }
}

function copyOf({ documents, applied }: Imported): Imported {
  return { documents: new Map(documents), applied }
}

/** Whether a drain goes by ids or by keys, products get their places in the order that the model knows. */
function openStore(options: Parameters<typeof MirrorStore.open>[0]): MirrorStore {
  const store = MirrorStore.open(options)
  const drain = store.drain.bind(store)
  store.drain = ({ acknowledged = [], dropped = [], ...rest }, nowMs) =>
    drain({ ...rest, acknowledged: acknowledged.toSorted(byId), dropped: dropped.toSorted(byId) }, nowMs)
  return store
}

function byId(one: { productId: string }, other: { productId: string }): number {
  return one.productId < other.productId ? -1 : 1
}
