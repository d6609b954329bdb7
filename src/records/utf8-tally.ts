import { isAscii, isUtf8 } from 'node:buffer'

/** At least so many bytes of a valid chunk are looked at: an under-count is enough to call a file UTF-8. */
const countedBytes = 64 * 2 ** 10

/**
 * Weighs over a whole file whether it is UTF-8 or Windows-1252: counts valid and invalid multi-byte sequences.
 * A sequence that lies across a chunk border is held back and counted with the next chunk.
 */
export class Utf8Tally {
  #valid = 0
  #invalid = 0
  #held: Buffer = Buffer.alloc(0)

  add(chunk: Buffer): void {
    const bytes = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk
    const complete = bytes.length - unfinishedBytes(bytes)
    // Copied: the chunk's memory is used again by its producer.
    this.#held = Buffer.from(bytes.subarray(complete))
    this.#count(bytes.subarray(0, complete))
  }

  end(): void {
    this.#count(this.#held)
    this.#held = Buffer.alloc(0)
  }

  get invalid(): number {
    return this.#invalid
  }

  get multiByte(): number {
    return this.#valid
  }

  /** Single-byte text makes valid sequences only by accident; UTF-8 text with some damage has far more valid ones. */
  get encoding(): 'utf-8' | 'windows-1252' {
    return this.#invalid > 0 && this.#valid * 10 <= this.#invalid ? 'windows-1252' : 'utf-8'
  }

  #count(bytes: Buffer): void {
    if (bytes.length === 0 || isAscii(bytes)) return
    if (!isUtf8(bytes)) {
      this.#countEach(bytes)
      return
    }
    this.#valid += 1
    const counted = Math.min(bytes.length, countedBytes)
    for (let at = 0; at < counted; at++) if ((bytes[at] as number) >= 0xc0) this.#valid += 1
  }

  #countEach(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const length = sequenceLength(bytes, at)
      if (length > 1) this.#valid += 1
      if (length === 0) this.#invalid += 1
      at += Math.max(1, length)
    }
  }
}

/** 0 when no valid sequence begins at `at`. */
export function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] as number
  if (lead < 0x80) return 1
  const length = expectedLength(lead)
  if (length === 0 || at + length > bytes.length) return 0
  return isUtf8(bytes.subarray(at, at + length)) ? length : 0
}

function expectedLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
}

/** How many bytes at the end begin a sequence that further bytes could complete. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0x80 && byte < 0xc0) continue
    return expectedLength(byte) > back ? back : 0
  }
  return 0
}
