import type { ClaimId } from './model.ts'

/**
 * Finds the sequence of a claim in 16–32 bytes an entry: a catalog may hold millions of files, and a Map of strings
 * would cost over a hundred bytes for each. Open addressing. Only hashes are kept, so the caller confirms a hit.
 */
export class ClaimTable {
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
