import { constants, fstatSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { makeFolder, writeDurably } from '../lib/durable.ts'
import { SourceError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { privateFileMode } from '../lib/private-modes.ts'
import { syncFolder } from '../lib/system.ts'
import { ManifestIndex, type ManifestView, spanLengthMax } from './manifest-index.ts'
import { type NewLine, readManifestLines } from './manifest-reading.ts'
import type { ClaimId, ManifestLine } from './model.ts'

export const manifestFileName = 'manifest.ndjson'

interface Opening {
  /** `state/<catalog>`, created when it is not there. */
  dir: string
  clock: Clock
  log?: Log
  /**
   * Another process has written the manifest: it took over while this one was suspended, or wrote once more after this
   * one took over. What this process knows is no longer true, so it should end and start again.
   */
  onForeign?: (error: SourceError) => void
}

/**
 * Opens the manifest of a catalog for its one writer, the holder of the state lock. A last line that a crash tore is
 * moved aside; a bad line before the end throws a SourceError.
 */
export async function openManifest({ dir, clock, log, onForeign }: Opening): Promise<Manifest> {
  await makeFolder(dir)
  const path = join(dir, manifestFileName)
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, privateFileMode)
  try {
    const manifest = new Manifest({ file, path, ...(onForeign ? { onForeign } : {}) })
    const size = (await file.stat()).size
    const { end } = await manifest.read()
    if (size > end) {
      const aside = await moveTornAside({ file, path, end, size, clock })
      log?.warn({ path, aside, bytes: size - end }, 'moved aside what a cut-off write left in the manifest')
    }
    await file.sync()
    await syncFolder(dir)
    return manifest
  } catch (error) {
    await file.close()
    throw error
  }
}

interface Waiting {
  lines: readonly ManifestLine[]
  newLines: readonly NewLine[]
  resolve: (written: ManifestLine[]) => void
  reject: (error: unknown) => void
}

/** A line that counts, and where it stands. */
export type PlacedLine = Parameters<ManifestIndex['add']>

/**
 * The truth of a catalog: every accepted file and every decision, in order, with what became of them. Appends are
 * queued; those that wait together share one write and one sync. A line counts, and is seen, once it is on the disk.
 */
export class Manifest extends ManifestIndex implements AsyncDisposable {
  readonly #file: FileHandle
  readonly #path: string
  readonly #onForeign: ((error: SourceError) => void) | undefined
  readonly #queue: Waiting[] = []
  #writing: Promise<void> | undefined
  /** End of the last good line. */
  #size = 0
  /** A failed write may have left bytes behind it. */
  #dirty = false
  #onLine: ((...line: PlacedLine) => void) | undefined

  constructor({ file, path, onForeign }: { file: FileHandle; path: string } & Pick<Opening, 'onForeign'>) {
    super(file)
    this.#file = file
    this.#path = path
    this.#onForeign = onForeign
  }

  /** Reads what is on the disk; once, before the first append. */
  async read(): Promise<{ end: number }> {
    const { end } = await readManifestLines({ fd: this.#file.fd, path: this.#path }, this)
    this.#size = end
    return { end }
  }

  /** From now on a listener is told of each line; answers where those before end. */
  follow(onLine: (...line: PlacedLine) => void): { path: string; end: number } {
    this.#onLine = onLine
    return { path: this.#path, end: this.#size }
  }

  /**
   * Numbers the lines and makes them durable. Returns them without those that were there already (a claim or a
   * request has one line). Rejects with a SourceError when the disk refuses, and then none of them counts.
   */
  append(newLines: readonly NewLine[]): Promise<ManifestLine[]> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ newLines, lines: [], resolve, reject })
      this.#writing ??= this.#drain()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing
    await this.#file.close()
  }

  async #drain(): Promise<void> {
    // Appends of the same turn of the event loop join.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      const group = this.#number(this.#queue.splice(0))
      try {
        await this.#write(group.flatMap(({ lines }) => lines))
        for (const { lines, resolve } of group) resolve([...lines])
      } catch (cause) {
        const error = this.#failure(cause)
        for (const { reject } of group) reject(error)
      }
    }
    this.#writing = undefined
  }

  /** A line that cannot follow is its caller's bug: only that append is rejected. */
  #number(group: readonly Waiting[]): Waiting[] {
    const numbering = new Numbering(this)
    return group.flatMap((waiting) => {
      try {
        return [{ ...waiting, lines: numbering.number(waiting.newLines) }]
      } catch (error) {
        waiting.reject(error)
        return []
      }
    })
  }

  async #write(lines: readonly ManifestLine[]): Promise<void> {
    if (lines.length === 0) return
    const texts = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`))
    if (!this.#dirty) this.#requireAlone()
    try {
      if (this.#dirty) await this.#cutBack()
      this.#dirty = true
      writeWhole(this.#file.fd, Buffer.concat(texts), this.#size)
      await this.#file.datasync()
    } catch (error) {
      // When this fails too, the next append tries it again first.
      await this.#cutBack().catch(() => undefined)
      throw error
    }
    this.#dirty = false
    for (const [position, line] of lines.entries()) {
      const bytes = texts[position]?.length ?? 0
      const placed: PlacedLine = [line, this.#size, bytes - 1]
      this.add(...placed)
      this.#onLine?.(...placed)
      this.#size += bytes
    }
  }

  /** The manifest as it stands on the disk when another process has written it; else undefined. */
  async readForeign(): Promise<ManifestView | undefined> {
    if (this.#dirty || (await this.#file.stat()).size === this.#size) return undefined
    const view = new ManifestIndex(this.#file)
    await readManifestLines({ fd: this.#file.fd, path: this.#path }, view)
    return view
  }

  /** A process that was suspended may have lost the state lock without knowing it yet. */
  #requireAlone(): void {
    if (fstatSync(this.#file.fd).size === this.#size) return
    const error = new SourceError('manifest-foreign', `Another process has written ${this.#path}`, {
      hint: 'Start this process again: it stands by while the other one accepts and imports',
    })
    this.#onForeign?.(error)
    throw error
  }

  async #cutBack(): Promise<void> {
    await this.#file.truncate(this.#size)
    await this.#file.datasync()
    this.#dirty = false
  }

  #failure(cause: unknown): unknown {
    const code = systemErrorCode(cause)
    if (code === undefined || cause instanceof SourceError) return cause
    const isFull = code === 'ENOSPC' || code === 'EDQUOT'
    return new SourceError('manifest-write', `${this.#path} cannot be written (${code})`, {
      hint: isFull ? 'Free some space there' : 'Check the disk and the permissions of the state folder',
      cause,
    })
  }
}

/** Gives the lines of one write their sequences and leaves out what is known already. */
class Numbering {
  readonly #index: ManifestIndex
  readonly #claims = new Set<ClaimId>()
  readonly #requests = new Set<string>()
  #next: number

  constructor(index: ManifestIndex) {
    this.#index = index
    this.#next = index.nextSequence
  }

  number(newLines: readonly NewLine[]): ManifestLine[] {
    for (const line of newLines) this.#check(line)
    return newLines.flatMap((line) => (this.#isKnown(line) ? [] : [this.#complete(line)]))
  }

  #check(line: NewLine): void {
    const isBeforeIt =
      (line.kind !== 'outcome' || this.#index.file(line.of) !== undefined) &&
      (line.kind !== 'archive' || this.#index.fileOf(line.claim) !== undefined)
    if (!isBeforeIt) throw new Error('a line of the manifest speaks of a file that was not accepted')
    if (line.kind !== 'decision' && Buffer.byteLength(JSON.stringify(line)) > spanLengthMax - 64) {
      throw new Error('a line of the manifest is too long')
    }
  }

  #isKnown(line: NewLine): boolean {
    if (line.kind === 'accept') {
      return this.#claims.has(line.claim) || this.#index.fileOf(line.claim) !== undefined
    }
    return (
      line.kind === 'decision' && (this.#requests.has(line.request) || this.#index.hasRequest(line.request))
    )
  }

  #complete(line: NewLine): ManifestLine {
    if (line.kind === 'archive' || line.kind === 'outcome') return line
    if (line.kind === 'accept') this.#claims.add(line.claim)
    else this.#requests.add(line.request)
    const { kind, ...rest } = line
    return { kind, sequence: this.#next++, ...rest } as ManifestLine
  }
}

/** At once: an urgent file waits for it, and the way to another thread and back takes longer. Syncing is left to others. */
function writeWhole(file: number, bytes: Buffer, at: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written, bytes.length - written, at + written)
  }
}

interface Torn {
  file: FileHandle
  path: string
  end: number
  size: number
  clock: Clock
}

const tornBytesKept = 1024 * 1024

async function moveTornAside({ file, path, end, size, clock }: Torn): Promise<string> {
  const bytes = Buffer.alloc(Math.min(size - end, tornBytesKept))
  await file.read(bytes, 0, bytes.length, end)
  const aside = `${path}.torn-${new Date(clock.now()).toISOString().replace(/[-:.]/g, '')}`
  await writeDurably(aside, bytes, join(dirname(path), '.torn.tmp'))
  await file.truncate(end)
  return aside
}
