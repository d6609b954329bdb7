/** Parts one after another, in memory of their own that can go to another thread. */
export interface JoinedBytes {
  bytes: Uint8Array<ArrayBuffer>
  /** Of each where it ends. */
  ends: Uint32Array<ArrayBuffer>
}

export function joinBytes(parts: readonly Uint8Array[]): JoinedBytes {
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0))
  const ends = new Uint32Array(parts.length)
  let end = 0
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as Uint8Array
    bytes.set(part, end)
    end += part.length
    ends[at] = end
  }
  return { bytes, ends }
}

/** A view of each. */
export function splitBytes({ bytes, ends }: JoinedBytes): Buffer[] {
  return Array.from(ends, (end, at) => {
    const from = at === 0 ? 0 : (ends[at - 1] as number)
    return Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from)
  })
}
