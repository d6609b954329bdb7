import { fileRefusal } from './read-file.ts'

/** When an expanding file is taken for a bomb. */
export interface ExpansionLimits {
  /** Decompressed bytes per compressed byte … */
  ratioMax: number
  /** … once this much has come out. */
  fromBytes: number
}

/**
 * Real feeds compress 5 to 30 fold, verbose XML up to 100. Nothing compresses more than 1030 fold: with a limit near
 * that it would take gigabytes until a bomb is seen.
 */
const textLimits: ExpansionLimits = { ratioMax: 400, fromBytes: 64 * 2 ** 20 }

/** Counts what goes into a decompressor and what comes out; refuses a file that expands too much. */
export class ExpansionMeter {
  readonly #name: string
  readonly #limits: ExpansionLimits
  #read = 0
  #expanded = 0

  constructor(name: string, limits: ExpansionLimits = textLimits) {
    this.#name = name
    this.#limits = limits
  }

  /** So many compressed bytes have been read since the beginning. */
  read(bytes: number): void {
    this.#read = bytes
  }

  /** So many bytes more have come out. */
  expanded(bytes: number): void {
    this.#expanded += bytes
    this.check(this.#expanded, this.#read)
  }

  /** More has come out than of any feed, though it may not be enough yet to be sure. */
  get isSuspicious(): boolean {
    return this.#expanded > this.#limits.ratioMax * this.#read
  }

  check(expanded: number, read: number): void {
    const { fromBytes, ratioMax } = this.#limits
    if (expanded <= fromBytes || expanded <= ratioMax * read) return
    throw fileRefusal({
      name: this.#name,
      code: 'expands-too-much',
      found: `${read} compressed bytes become ${expanded} or more`,
      hint: 'No product data compresses that well: check where the file comes from, or drop it uncompressed',
    })
  }
}
