import type { DocumentDigest } from './model.ts'

/** Of documents, twice. They are read within a second while Redis keeps up, and from the disk where it does not. */
const halfBytes = 3_000_000

interface RecentDocument {
  document: Buffer
  digest: DocumentDigest
}

/**
 * The documents that were written last, so that the pump need not read them back. They are parts of larger buffers: so
 * they go in the order in which they came, read or not, half of them at a time; no buffer is held for one document alone.
 */
export class RecentDocuments {
  #newer = new Map<number, RecentDocument>()
  #older = new Map<number, RecentDocument>()
  #bytes = 0
  /** Whether the pump reads documents: not while those who deliver read them here themselves. */
  isRead = true

  add(key: number, recent: RecentDocument): void {
    if (this.#bytes > halfBytes) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#bytes = 0
    }
    this.#newer.set(key, recent)
    this.#bytes += recent.document.length
  }

  /** Only the one of this digest: whatever became of the transaction that wrote it. */
  find(key: number, digest: Uint8Array): Buffer | undefined {
    const recent = this.#newer.get(key) ?? this.#older.get(key)
    return recent?.digest.equals(digest) ? recent.document : undefined
  }

  clear(): void {
    this.#newer.clear()
    this.#older.clear()
    this.#bytes = 0
  }
}
