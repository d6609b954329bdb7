import xxhash from 'xxhash-wasm'

/** 64 bits in two halves. */
export type HashedText = readonly [low: number, high: number]

export type TextHash = (text: string) => HashedText

export async function openTextHash(): Promise<TextHash> {
  const { h64 } = await xxhash()
  const wide = new BigUint64Array(1)
  const halves = new Uint32Array(wide.buffer)
  return (text) => {
    wide[0] = h64(text)
    return [halves[0] as number, halves[1] as number]
  }
}
