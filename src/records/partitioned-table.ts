const partitionBits = 6

/**
 * Hash tables that share the hashes by their uppermost bits and grow one at a time: growing takes a few milliseconds,
 * not half a second at ten million entries, and never holds all entries twice. Each comes into being when it is asked
 * for: a file of one record needs one.
 */
export class PartitionedTable {
  readonly #options: { withValues: boolean }
  readonly #tables: (HashTable | undefined)[] = new Array(2 ** partitionBits).fill(undefined)

  constructor(options: { withValues: boolean }) {
    this.#options = options
  }

  get size(): number {
    return this.#tables.reduce((size, table) => size + (table?.size ?? 0), 0)
  }

  of(high: number): HashTable {
    const place = high >>> (32 - partitionBits)
    this.#tables[place] ??= new HashTable(this.#options)
    return this.#tables[place]
  }
}

const emptyLow = 0
const emptyHigh = 0
/** Slots that may be taken before the table grows: linear probing slows down beyond. */
const fillMax = 0.8

/**
 * 64-bit hashes in open addressing over typed arrays: 8 bytes a slot, 12 with a number beside each. Grows by doubling;
 * old and new arrays exist together only while it does.
 */
export class HashTable {
  #low: Uint32Array
  #high: Uint32Array
  #values: Uint32Array | undefined
  /** A bit for each slot. */
  #marks: Uint8Array | undefined
  #mask: number
  #size = 0

  constructor({ withValues }: { withValues: boolean }) {
    const capacity = 256
    this.#low = new Uint32Array(capacity)
    this.#high = new Uint32Array(capacity)
    this.#values = withValues ? new Uint32Array(capacity) : undefined
    this.#mask = capacity - 1
  }

  get size(): number {
    return this.#size
  }

  has(low: number, high: number): boolean {
    return this.#isTaken(this.#find(low, high))
  }

  /** The number beside the hash; undefined when it is not there. */
  get(low: number, high: number): number | undefined {
    const slot = this.#find(low, high)
    return this.#isTaken(slot) ? this.#values?.[slot] : undefined
  }

  /** False when the hash was there already; its number is replaced in any case. */
  put(low: number, high: number, value = 0): boolean {
    if (this.#size >= (this.#mask + 1) * fillMax) this.#grow()
    const slot = this.#find(low, high)
    const added = !this.#isTaken(slot)
    this.#set(slot, low, high, value)
    if (added) this.#size += 1
    return added
  }

  /** Whether it is marked only now; undefined when it is not there. */
  mark(low: number, high: number): boolean | undefined {
    const slot = this.#find(low, high)
    return this.#isTaken(slot) ? this.#markSlot(slot) : undefined
  }

  #markSlot(slot: number): boolean {
    this.#marks ??= new Uint8Array((this.#mask + 1) / 8)
    const [marks, bit] = [this.#marks[slot >>> 3] as number, 1 << (slot & 7)]
    this.#marks[slot >>> 3] = marks | bit
    return (marks & bit) === 0
  }

  #isTaken(slot: number): boolean {
    return this.#low[slot] !== emptyLow || this.#high[slot] !== emptyHigh
  }

  #set(slot: number, low: number, high: number, value: number): void {
    this.#low[slot] = low === emptyLow && high === emptyHigh ? 1 : low
    this.#high[slot] = high
    if (this.#values) this.#values[slot] = value
  }

  /** The slot of the hash, or the free one where it belongs. The hash that means "free" shares the slot of 1. */
  #find(low: number, high: number): number {
    const wanted = low === emptyLow && high === emptyHigh ? 1 : low
    let slot = wanted & this.#mask
    while (this.#isTaken(slot) && (this.#low[slot] !== wanted || this.#high[slot] !== high)) {
      slot = (slot + 1) & this.#mask
    }
    return slot
  }

  #grow(): void {
    const [low, high, values, marks] = [this.#low, this.#high, this.#values, this.#marks]
    const capacity = low.length * 2
    this.#low = new Uint32Array(capacity)
    this.#high = new Uint32Array(capacity)
    this.#values = values ? new Uint32Array(capacity) : undefined
    this.#marks = undefined
    this.#mask = capacity - 1
    for (let slot = 0; slot < low.length; slot++) {
      const [oldLow, oldHigh] = [low[slot] as number, high[slot] as number]
      if (oldLow === emptyLow && oldHigh === emptyHigh) continue
      const place = this.#find(oldLow, oldHigh)
      this.#set(place, oldLow, oldHigh, values?.[slot] ?? 0)
      if (marks && ((marks[slot >>> 3] as number) >>> (slot & 7)) & 1) this.#markSlot(place)
    }
  }
}
