import type { CatalogWriter } from '../outbox/writer.ts'

/**
 * Whether consents may be claimed: only while everything accepted stands in Redis.
 *
 * closed → opened by the import, when every consent file that was accepted before its writer was opened is applied →
 * closed again by itself when that writer is lost. While open, each claim requires the position that the writer
 * committed last: it changes in the transaction that applies records, so a Redis that was wiped or rolled back behind
 * any of them refuses the claim.
 */
export class ConsentGate {
  #writer: CatalogWriter | undefined
  readonly #onOpen: () => void

  constructor(onOpen: () => void = () => {}) {
    this.#onOpen = onOpen
  }

  /** Everything that was accepted before `writer` was opened has been applied through it. */
  open(writer: CatalogWriter): void {
    this.#writer = writer
    this.#onOpen()
  }

  close(): void {
    this.#writer = undefined
  }

  /** What the key `writer` must show at least; undefined: closed. */
  get required(): { token: string; position: number } | undefined {
    return this.#writer?.committed
  }
}
