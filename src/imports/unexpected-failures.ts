import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { privateFileMode, privateFolderMode } from '../lib/private-modes.ts'
import type { AcceptLine, ClaimId } from '../sources/model.ts'

/** A file whose imports failed in a way that nobody expected. */
export interface UnexpectedFailure {
  times: number
  /** Of the last time. */
  reason: string
}

interface Run {
  failures: UnexpectedFailures
  claim: ClaimId
  isOver: boolean
}

/** Follows an import through all that it sets going, so that an error is known to be this file's and no other's. */
const running = new AsyncLocalStorage<Run>()
/** So often a file is tried: once may be chance, twice is the file. */
const timesMax = 2

/**
 * Remembers in `state/<catalog>` which files' imports threw what nobody expected, also when that ended the process. Only
 * an error is noted: a process that is killed, or asked to end, leaves no note, however often.
 *
 * tried → (it throws) noted, tried once more → (it throws again) noted: the file is refused, and the note goes.
 */
export class UnexpectedFailures {
  readonly #file: string
  readonly #byClaim: Map<ClaimId, UnexpectedFailure>
  readonly #claimByError = new WeakMap<object, ClaimId>()

  /** `dir`: `state/<catalog>`. Each kind of feeds has a file of its own, since each may be imported by another thread. */
  constructor(dir: string, fileName = 'unexpected-failures.json') {
    this.#file = join(dir, fileName)
    this.#byClaim = readNotes(this.#file)
  }

  /** The note of a file that is not tried any more. */
  givenUp({ claim }: Pick<AcceptLine, 'claim'>): UnexpectedFailure | undefined {
    const failure = this.#byClaim.get(claim)
    return failure && failure.times >= timesMax ? failure : undefined
  }

  /** Runs one import. What it throws before `signal` ends it is its own, see `noteThrown`. */
  async run<T>(
    { claim }: Pick<AcceptLine, 'claim'>,
    signal: AbortSignal,
    step: () => Promise<T>,
  ): Promise<T> {
    const run: Run = { failures: this, claim, isOver: false }
    try {
      return await running.run(run, step)
    } catch (error) {
      if (signal.aborted || typeof error !== 'object' || error === null) throw error
      this.#claimByError.set(error, claim)
      throw error
    } finally {
      run.isOver = true
    }
  }

  /** False: the error came from no import, or the file could not even be refused: that is a bug elsewhere. */
  noteThrown(error: unknown): boolean {
    const claim = typeof error === 'object' && error !== null ? this.#claimByError.get(error) : undefined
    if (claim === undefined || this.givenUp({ claim })) return false
    this.note(claim, error)
    return true
  }

  /** At once and durably: the process may be about to end. Where the disk refuses it, it counts in this process alone. */
  note(claim: ClaimId, error: unknown): void {
    const times = (this.#byClaim.get(claim)?.times ?? 0) + 1
    this.#byClaim.set(claim, { times, reason: String(error).slice(0, 500) })
    try {
      this.#write()
    } catch {
      // The error itself is what has to be told.
    }
  }

  /** The import has ended. */
  forget({ claim }: Pick<AcceptLine, 'claim'>): void {
    if (this.#byClaim.delete(claim)) this.#write()
  }

  #write(): void {
    mkdirSync(dirname(this.#file), { recursive: true, mode: privateFolderMode })
    const temporary = `${this.#file}.tmp`
    const file = openSync(temporary, 'w', privateFileMode)
    try {
      writeSync(file, `${JSON.stringify(Object.fromEntries(this.#byClaim), undefined, 2)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, this.#file)
  }
}

/** For an error that nobody caught: it ends the process, and belongs to the import that set going what threw it. */
export function noteUncaught(error: unknown): void {
  const run = running.getStore()
  if (run && !run.isOver) run.failures.note(run.claim, error)
}

function readNotes(file: string): Map<ClaimId, UnexpectedFailure> {
  try {
    return new Map(
      Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<ClaimId, UnexpectedFailure>),
    )
  } catch {
    // Not there, or not ours to understand: every file is tried as if for the first time.
    return new Map()
  }
}
