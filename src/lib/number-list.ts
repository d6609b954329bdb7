type Numbers = Uint8Array | Uint32Array | Float64Array

const chunkLength = 2 ** 16

/** Numbers by index, in pieces that come into being when one of theirs is set: it grows without copying. */
export class NumberList {
  readonly #create: (length: number) => Numbers
  readonly #chunks: (Numbers | undefined)[] = []

  /** `create` says which numbers it holds: `(length) => new Uint8Array(length)`. */
  constructor(create: (length: number) => Numbers) {
    this.#create = create
  }

  /** 0 where nothing was set. */
  get(index: number): number {
    return this.#chunks[Math.floor(index / chunkLength)]?.[index % chunkLength] ?? 0
  }

  set(index: number, value: number): void {
    const place = Math.floor(index / chunkLength)
    this.#chunks[place] ??= this.#create(chunkLength)
    ;(this.#chunks[place] as Numbers)[index % chunkLength] = value
  }

  /** Sets the bits of `mask`. */
  mark(index: number, mask: number): void {
    this.set(index, this.get(index) | mask)
  }

  clear(index: number, mask: number): void {
    this.set(index, this.get(index) & ~mask)
  }

  has(index: number, mask: number): boolean {
    return (this.get(index) & mask) !== 0
  }
}
