import { existsSync } from 'node:fs'
import type { ProductId } from '../lib/brand.ts'
import { Database } from '../lib/database.ts'
import { isDiskFull, unlessFull } from '../lib/database-failure.ts'
import { type SettledCall, writeCalls } from './calls.ts'
import { Documents } from './documents.ts'
import { drain, forgetDead, readRow } from './drain.ts'
import { isImporting, readCalls, readFact } from './facts.ts'
import { History } from './history.ts'
import { beginGeneration, checkFile, readIdentity, writeFile, writeIdentity } from './identity.ts'
import { laneRank } from './lanes.ts'
import type { Drained, MirrorIdentity, Place } from './loop-model.ts'
import type { CallsDecision, MirrorChunk } from './model.ts'
import { NewCalls } from './new-calls.ts'
import { type Access, type DueOptions, Places, type ReadOptions } from './places.ts'
import { readDocuments } from './read-documents.ts'
import { checkTables, missingMirror, prepareTables } from './schema.ts'
import { writeChunk } from './write-chunk.ts'
import { Writer } from './writer.ts'
import type { WrittenBlock } from './written-documents.ts'

/** Pages of the log that make a checkpoint worth its two fsyncs. */
const checkpointPages = 2_000
/** Some hundred bytes each, and those of their ids. */
const callsWaitingMax = 200
const keptByDefault: KeptStories = { historyBytes: 1_000, callsBytes: 32_000_000 }

/** How much is kept for people who ask why a product is as it is. */
export interface KeptStories {
  /** Of the changes of one product; 0: none. */
  historyBytes: number
  /** Of all calls with the ids of their products; 0: none. */
  callsBytes: number
}

export interface StoreOptions {
  /** `state/<catalog>/catalog.db`. */
  file: string
  /** What stands in the state folder tells that there was a mirror: it is not made anew. */
  isExpected: boolean
  /** A restored or adopted copy becomes the mirror. */
  takesCopy?: boolean
  kept?: KeptStories
}

/**
 * The one writer of a catalog's mirror. Synchronous, without Redis and without a clock: times are ms since the epoch. Every
 * change is one durable transaction; after an error nothing of it is there, and the next may be tried.
 *
 * Open → disposed. Only one process has it open, which the lock of the state folder sees to.
 */
export class MirrorStore implements Disposable {
  readonly #database: Database
  /** Asked before what is remembered here is trusted. */
  readonly writer: Writer
  readonly #places: Places
  readonly #documents: Documents
  readonly #access: Access
  readonly newCalls: NewCalls
  /** Raised in Redis, and not durable yet. */
  #beat: number | undefined
  /** As it was read since the last change. */
  #identity: ReturnType<typeof readIdentity> | undefined
  readonly #callsBytes: number
  /** To be written with the next transaction that is about calls. */
  #calls: SettledCall[] = []
  /** Frames of the log when it was last looked at. */
  #tried = 0

  private constructor(database: Database, kept: KeptStories) {
    this.#database = database
    this.writer = new Writer(database)
    this.#callsBytes = kept.callsBytes
    this.#places = new Places(database)
    this.#documents = new Documents(database)
    this.#access = {
      ...{ database, places: this.#places, documents: this.#documents },
      history: new History(database, kept.historyBytes),
    }
    this.newCalls = new NewCalls(this.#access, (work) => this.#change(work))
  }

  static open({ file, isExpected, takesCopy = false, kept = keptByDefault }: StoreOptions): MirrorStore {
    const isThere = existsSync(file)
    if (!isThere && isExpected) throw missingMirror(file)
    const database = Database.open({ file, access: 'write' })
    try {
      prepareTables(database)
      const isNew = readFact(database, 'identity', 'file') === undefined
      if (isNew && isThere && isExpected) throw missingMirror(file)
      if (isNew || takesCopy) writeFile(database, isNew)
      checkFile(database)
      checkTables(database)
      return new MirrorStore(database, kept)
    } catch (error) {
      database[Symbol.dispose]()
      throw error
    }
  }

  /**
   * One transaction for all that `next` gives, until it gives nothing more. `isReadNext`: the pump reads the urgent places of it
   * at once. That is noted with them, where it has read all others: one transaction less until they are offered.
   */
  commit(next: () => MirrorChunk | undefined, nowMs: number, { isReadNext = false } = {}): void {
    this.#change(() => {
      const { numbers } = this.#places
      const wasRead = numbers.isOffered(laneRank.urgent, numbers.last.urgent)
      for (let chunk = next(); chunk; chunk = next()) writeChunk(this.#access, chunk, nowMs)
      if (isReadNext && wasRead) numbers.noteOffered('urgent', numbers.last.urgent)
    })
  }

  /** Of what was committed since the last time. */
  takeBlocks(): WrittenBlock[] {
    return this.#places.written.take()
  }

  /** Whether it is time to move the log into the file. */
  isLogLong(): boolean {
    const look = this.#database.get<{ log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)')
    const behind = look ? look.log - look.checkpointed : 0
    // A reader may keep the log from being moved: it is tried again when as much has come on top.
    if (
      behind < checkpointPages ||
      (look && look.log > this.#tried && look.log - this.#tried < checkpointPages)
    )
      return false
    this.#tried = look?.log ?? 0
    return true
  }

  /**
   * To be called while nothing else is to be done: it takes a while. A portion of the documents that were edited goes where
   * it belongs, and one of what changed.
   */
  rest(): void {
    this.#endCalls()
    if (this.#documents.hasMany) unlessFull(() => this.#change(() => this.#documents.move()))
    const { history } = this.#access
    if (history.hasAny) unlessFull(() => this.#change(() => history.move()))
    if (this.isLogLong()) this.endCheckpoint()
  }

  /** Moves what is left of the log. */
  endCheckpoint(): void {
    // What is committed stays in the log.
    unlessFull(() => this.#database.get('PRAGMA wal_checkpoint(PASSIVE)'))
  }

  readIdentity(): MirrorIdentity {
    const { last, offered } = this.#places.numbers
    this.#identity ??= readIdentity(this.#database)
    return { ...this.#identity, beat: this.#beat ?? this.#identity.beat, last, offered }
  }

  /** Raised in Redis. It is durable with the next change, which costs no fsync of its own. */
  noteBeat(beat: number): void {
    this.#beat = beat
  }

  /** To be called in each turn that changes Redis: the beat that was noted is durable, if by no other change. */
  keepBeat(): void {
    if (this.#beat !== undefined) this.#change(() => undefined)
  }

  /** Changes what is named; a value of undefined is forgotten. */
  remember(
    change: Partial<Omit<MirrorIdentity, 'mirrorId' | 'generation' | 'former' | 'last' | 'offered'>>,
  ): void {
    this.#change(() => writeIdentity(this.#database, change))
  }

  /** Deferred places that are due get the next numbers of their lane. */
  numberDue(options: DueOptions): void {
    if (this.#places.hasDue(options)) this.#change(() => this.#places.numberDue(options))
  }

  /**
   * Ordered by number; at least one where there is one. `offered` is durably raised to the last of them: what was read
   * takes a new number when it is edited.
   */
  readPlaces(options: ReadOptions): Place[] {
    const { numbers } = this.#places
    const isNoted = numbers.isOffered(laneRank[options.lane], numbers.last[options.lane])
    const read = () => this.#places.read(options)
    return isNoted ? read() : this.#change(read)
  }

  /** For echoes. */
  readDocuments(ids: readonly ProductId[]): ReturnType<typeof readDocuments> {
    return readDocuments(this.#database, ids)
  }

  /** Keys of the next unsent products behind that key, ascending. */
  readUnsent(after: number, rowsMax: number): ReadonlyMap<ProductId, number> {
    return this.#places.readRows(after, rowsMax)
  }

  isImporting(): boolean {
    return isImporting(this.#database)
  }

  /** Safe to repeat. */
  drain(drained: Drained, nowMs: number): void {
    this.#change(() => {
      drain(this.#access, drained, nowMs)
      this.#writeCalls()
    })
    this.#calls = []
  }

  /** Written with what is drained next; where nothing is, when the mirror rests, or when they are many. */
  noteCalls(calls: readonly SettledCall[]): void {
    if (this.#callsBytes > 0) this.#calls.push(...calls)
    if (this.#calls.length >= callsWaitingMax) this.#endCalls()
  }

  /** After a loss: all that was offered, and these ids, is doubtful and has a number. Ids that are not known are ignored. */
  doubt({ ids, offered, nowMs }: { ids: readonly ProductId[]; offered: boolean; nowMs: number }): void {
    this.#change(() => {
      // In the order of their keys: that in Redis is not the same every time.
      const rows = [...new Set(ids)].flatMap((id) => readRow(this.#database, id) ?? [])
      for (const row of rows.sort((one, other) => one.key - other.key)) {
        this.#places.doubt(row.key)
        forgetDead(this.#database, row.key)
        this.#places.ensure(row, laneRank.urgent, nowMs)
      }
      if (offered) this.#places.doubtOffered()
    })
  }

  /** A new generation; `former` are those that it may replace in Redis. `startOver` in the identity is set from now on. */
  beginStartOver(change: { endpoint?: string; former?: readonly string[] }): void {
    this.#change(() => beginGeneration(this.#database, change))
  }

  /**
   * The next `rowsMax` products are doubtful and have a number (lane `new` where they had none). Answers whether any is left;
   * `remember({ startOver: undefined })` ends it.
   */
  startOver({ nowMs, rowsMax }: { nowMs: number; rowsMax: number }): boolean {
    const after = readIdentity(this.#database).startOver
    if (after === undefined) return false
    return this.#change(() => {
      const last = this.#places.placeAll({ after, nowMs, rowsMax })
      if (last !== undefined) writeIdentity(this.#database, { startOver: last })
      return last !== undefined
    })
  }

  /** The operator's last decision about all calls. */
  calls(): CallsDecision | undefined {
    return readCalls(this.#database)
  }

  [Symbol.dispose](): void {
    try {
      this.#endCalls()
    } catch {
      // They are for people; what is wrong with the file was said before.
    }
    this.#database[Symbol.dispose]()
  }

  #endCalls(): void {
    if (this.#calls.length === 0) return
    try {
      this.#change(() => this.#writeCalls())
      this.#calls = []
    } catch (error) {
      if (!isDiskFull(error)) throw error
      this.#calls = this.#calls.slice(-callsWaitingMax + 1)
    }
  }

  #writeCalls(): void {
    if (this.#calls.length > 0) writeCalls(this.#database, this.#calls, this.#callsBytes)
  }

  #change<T>(work: () => T): T {
    this.#identity = undefined
    try {
      const result = this.#database.transaction(() => {
        this.writer.check()
        if (this.#beat !== undefined) writeIdentity(this.#database, { beat: this.#beat })
        const done = work()
        this.#places.numbers.save()
        return done
      })
      this.#beat = undefined
      return result
    } catch (error) {
      this.#places.reload()
      this.#documents.reload()
      this.#access.history.reload()
      throw error
    }
  }
}
