import type { AcceptLine } from '../sources/model.ts'

/** Changes that are known longer than so many files are told without their file. */
const filesMax = 1_000

interface Applied {
  accept: Pick<AcceptLine, 'sequence' | 'acceptedAt'>
  fromMs: number
  /** Undefined: it is being applied. */
  toMs: number | undefined
}

/**
 * Which file brought what has been unsent since a given time: places in the mirror name the time alone. Of files that were
 * applied side by side the one that began last is named, since a small file passes a large one.
 */
export class FileTimes {
  /** In the order in which they began. */
  #files: Applied[] = []

  began(accept: Applied['accept'], nowMs: number): void {
    this.#files.push({ accept, fromMs: nowMs, toMs: undefined })
    if (this.#files.length > filesMax) this.#files = this.#files.slice(filesMax / 2)
  }

  ended({ sequence }: Pick<AcceptLine, 'sequence'>, nowMs: number): void {
    const file = this.#files.findLast(({ accept }) => accept.sequence === sequence)
    if (file) file.toMs = nowMs
  }

  fileOf(sinceMs: number): Applied['accept'] | undefined {
    const isBrought = ({ fromMs, toMs = sinceMs }: Applied) => fromMs <= sinceMs && sinceMs <= toMs
    return this.#files.findLast(isBrought)?.accept
  }
}
