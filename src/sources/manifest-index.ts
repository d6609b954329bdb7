import assert from 'node:assert/strict'
import { readSync } from 'node:fs'
import type { AcceptSequence, FeedName } from '../lib/brand.ts'
import { NumberList } from '../lib/number-list.ts'
import type { AcceptLine, ArchiveLine, ClaimId, DecisionLine, ManifestLine, OutcomeLine } from './model.ts'

/** The manifest as it is read, by its writer and by other processes. */
export interface ManifestView {
  readonly nextSequence: AcceptSequence
  /** Accepted files in accept order, of one feed or of all. */
  files(feed?: FeedName): Iterable<AcceptLine>
  file(sequence: AcceptSequence): AcceptLine | undefined
  fileOf(claim: ClaimId): AcceptLine | undefined
  outcome(sequence: AcceptSequence): OutcomeLine | undefined
  newest(feed: FeedName): AcceptLine | undefined
  /** Accepted files without an outcome, in accept order. */
  unfinished(feed?: FeedName): Iterable<AcceptLine>
  archived(claim: ClaimId): ArchiveLine | undefined
  decisions(): readonly DecisionLine[]
  /** Files with an outcome whose content is not archived yet, in accept order. */
  unarchived(): Iterable<AcceptSequence>
  /** Decisions and files after a sequence, in order. 0: all. `of`: of files, only those of a feed; `*`: none. */
  after(sequence: AcceptSequence | 0, of?: FeedName | '*'): Iterable<AcceptLine | DecisionLine>
}

/** No line of a file is as long; decisions may be. */
export const spanLengthMax = 4096

/**
 * Where each line of the manifest stands: about 60 bytes for a file, so that millions of files can be accepted.
 * Lines of files are read back from the disk when asked for; decisions are few and kept whole.
 */
export class ManifestIndex implements ManifestView {
  readonly #file: { readonly fd: number }
  readonly #accepts = new NumberList((length) => new Float64Array(length))
  readonly #archives = new NumberList((length) => new Float64Array(length))
  readonly #outcomes = new NumberList((length) => new Float64Array(length))
  /** 0: no file; else the position in `#feeds` + 1. */
  readonly #feedOf = new NumberList((length) => new Float64Array(length))
  readonly #feeds = new Map<FeedName, number>()
  readonly #claims = new ClaimTable()
  readonly #pushKeys = new ClaimTable()
  readonly #decisions = new Map<AcceptSequence, DecisionLine>()
  readonly #requests = new Set<string>()
  readonly #grownBytes = new Map<ClaimId, number>()
  #last = 0

  constructor(file: { readonly fd: number }) {
    this.#file = file
  }

  get nextSequence(): AcceptSequence {
    return (this.#last + 1) as AcceptSequence
  }

  /** Takes up a line that stands durably at that place of the file. Throws on a line that cannot follow the others. */
  add(line: ManifestLine, offset: number, length: number): void {
    if (line.kind === 'decision') {
      this.#addDecision(line)
      return
    }
    if (length >= spanLengthMax) throw new RangeError('the line is too long')
    const span = offset * spanLengthMax + length
    if (line.kind === 'accept') {
      this.#follow(line.sequence)
      this.#accepts.set(line.sequence, span)
      this.#feedOf.set(line.sequence, this.#feedNumber(line.feed))
      this.#claims.add(line.claim, line.sequence)
      if (line.pushKey !== undefined) this.#pushKeys.add(line.pushKey, line.sequence)
      if (line.grownFrom !== undefined) this.#grownBytes.set(line.grownFrom, line.bytes)
    } else if (line.kind === 'archive') {
      const sequence = this.#sequenceOf(line.claim)
      if (sequence === undefined) throw new RangeError(`no file was accepted as ${line.claim}`)
      this.#archives.set(sequence, span)
    } else {
      if (!this.#accepts.get(line.of)) throw new RangeError(`no file was accepted as number ${line.of}`)
      this.#outcomes.set(line.of, span)
    }
  }

  files(feed?: FeedName): Iterable<AcceptLine> {
    return this.#filesWhere(feed, () => true)
  }

  newest(feed: FeedName): AcceptLine | undefined {
    const wanted = this.#feeds.get(feed)
    if (wanted === undefined) return undefined
    let sequence = this.#last
    while (sequence > 0 && this.#feedOf.get(sequence) !== wanted) sequence--
    return this.file(sequence as AcceptSequence)
  }

  unfinished(feed?: FeedName): Iterable<AcceptLine> {
    return this.#filesWhere(feed, (sequence) => this.#outcomes.get(sequence) === 0)
  }

  file(sequence: AcceptSequence): AcceptLine | undefined {
    return this.#read(this.#accepts.get(sequence)) as AcceptLine | undefined
  }

  fileOf(claim: ClaimId): AcceptLine | undefined {
    const sequence = this.#sequenceOf(claim)
    return sequence === undefined ? undefined : this.file(sequence)
  }

  pushed(pushKey: string): AcceptLine | undefined {
    const isPush = (sequence: number) => this.file(sequence as AcceptSequence)?.pushKey === pushKey
    const sequence = this.#pushKeys.find(pushKey, isPush)
    return sequence === undefined ? undefined : this.file(sequence as AcceptSequence)
  }

  outcome(sequence: AcceptSequence): OutcomeLine | undefined {
    return this.#read(this.#outcomes.get(sequence)) as OutcomeLine | undefined
  }

  archived(claim: ClaimId): ArchiveLine | undefined {
    const sequence = this.#sequenceOf(claim)
    if (sequence === undefined) return undefined
    return this.#read(this.#archives.get(sequence)) as ArchiveLine | undefined
  }

  decisions(): readonly DecisionLine[] {
    return [...this.#decisions.values()]
  }

  hasRequest(request: string): boolean {
    return this.#requests.has(request)
  }

  /** How many bytes of a claimed file have been accepted, counting what was accepted after it had grown. */
  acceptedBytes(accept: AcceptLine): number {
    return this.#grownBytes.get(accept.claim) ?? accept.bytes
  }

  *unarchived(): Iterable<AcceptSequence> {
    for (let sequence = 1; sequence <= this.#last; sequence++) {
      if (this.#outcomes.get(sequence) && !this.#archives.get(sequence)) yield sequence as AcceptSequence
    }
  }

  /** Reads no line from the disk that is not asked for: it may pass over millions of files of others. */
  *after(sequence: AcceptSequence | 0, of?: FeedName | '*'): Iterable<AcceptLine | DecisionLine> {
    const wanted = of === undefined ? undefined : (this.#feeds.get(of as FeedName) ?? -1)
    for (let next = sequence + 1; next <= this.#last; next++) {
      const decision = this.#decisions.get(next as AcceptSequence)
      if (!decision && wanted !== undefined && this.#feedOf.get(next) !== wanted) continue
      const line = decision ?? this.file(next as AcceptSequence)
      if (line) yield line
    }
  }

  *#filesWhere(feed: FeedName | undefined, holds: (sequence: number) => boolean): Iterable<AcceptLine> {
    const wanted = feed === undefined ? undefined : (this.#feeds.get(feed) ?? -1)
    for (let sequence = 1; sequence <= this.#last; sequence++) {
      const number = this.#feedOf.get(sequence)
      if (number === 0 || (wanted !== undefined && number !== wanted) || !holds(sequence)) continue
      const line = this.file(sequence as AcceptSequence)
      if (line) yield line
    }
  }

  #addDecision(line: DecisionLine): void {
    this.#follow(line.sequence)
    this.#decisions.set(line.sequence, line)
    this.#requests.add(line.request)
  }

  #follow(sequence: AcceptSequence): void {
    if (sequence !== this.#last + 1) throw new RangeError(`number ${sequence} follows number ${this.#last}`)
    this.#last = sequence
  }

  #feedNumber(feed: FeedName): number {
    const number = this.#feeds.get(feed) ?? this.#feeds.size + 1
    this.#feeds.set(feed, number)
    return number
  }

  #sequenceOf(claim: ClaimId): AcceptSequence | undefined {
    const isClaim = (sequence: number) => this.file(sequence as AcceptSequence)?.claim === claim
    return this.#claims.find(claim, isClaim) as AcceptSequence | undefined
  }

  /** Parsed without the schema: the line was checked when it was taken up. */
  #read(span: number): ManifestLine | undefined {
    if (span === 0) return undefined
    const offset = Math.floor(span / spanLengthMax)
    const bytes = Buffer.allocUnsafe(span % spanLengthMax)
    const read = readSync(this.#file.fd, bytes, 0, bytes.length, offset)
    assert.equal(read, bytes.length, 'the manifest is shorter than it was')
    return JSON.parse(bytes.toString('utf8')) as ManifestLine
  }
}

/**
 * Finds the sequence of a claim in 16–32 bytes an entry: a catalog may hold millions of files, and a Map of strings
 * would cost over a hundred bytes for each. Open addressing. Only hashes are kept, so the caller confirms a hit.
 */
class ClaimTable {
  #hashes = new Uint32Array(1024)
  /** 0: free. */
  #sequences = new Uint32Array(1024)
  #count = 0

  add(claim: ClaimId, sequence: number): void {
    if (++this.#count * 2 > this.#sequences.length) this.#grow()
    this.#place(hash(claim), sequence)
  }

  /** `matches` answers whether a sequence has that claim. */
  find(claim: ClaimId, matches: (sequence: number) => boolean): number | undefined {
    const wanted = hash(claim)
    const mask = this.#sequences.length - 1
    for (let slot = wanted & mask; ; slot = (slot + 1) & mask) {
      const sequence = this.#sequences[slot]
      if (!sequence) return undefined
      if (this.#hashes[slot] === wanted && matches(sequence)) return sequence
    }
  }

  #place(hashed: number, sequence: number): void {
    const mask = this.#sequences.length - 1
    let slot = hashed & mask
    while (this.#sequences[slot]) slot = (slot + 1) & mask
    this.#hashes[slot] = hashed
    this.#sequences[slot] = sequence
  }

  #grow(): void {
    const hashes = this.#hashes
    const sequences = this.#sequences
    this.#hashes = new Uint32Array(hashes.length * 2)
    this.#sequences = new Uint32Array(hashes.length * 2)
    for (const [slot, sequence] of sequences.entries()) if (sequence) this.#place(hashes[slot] ?? 0, sequence)
  }
}

/** FNV-1a with a final mix, since claims differ in few characters. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  return (value ^ (value >>> 13)) >>> 0
}
