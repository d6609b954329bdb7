import type { Encoding } from '../../src/config/format-model.ts'
import { FileRefusedError } from '../../src/lib/errors.ts'
import { decodeChunks } from '../../src/records/decode.ts'
import type { RecordSlice, TextSplitter } from '../../src/records/model.ts'
import type { Random } from './random.ts'

/** Lengths of chunks, taken in turn. */
export function generateCuts(random: Random): number[] {
  if (random.chance(0.1)) return [1_000_000]
  const most = random.pick([1, 2, 5, 12, 40])
  return random.list(random.between(1, 5), () => random.between(1, most))
}

/** Each chunk in the same memory as the one before it, as files are read. */
export function* cut(bytes: Buffer, cuts: readonly number[]): Generator<Buffer> {
  const memory = Buffer.alloc(Math.min(bytes.length, Math.max(...cuts)))
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.min(cuts[turn % cuts.length] as number, bytes.length - at)
    bytes.copy(memory, 0, at, at + size)
    yield memory.subarray(0, size)
    at += size
  }
}

/** Bytes of a file as chunks of text. */
export async function decodeCut(
  bytes: Buffer,
  { encoding, cuts }: { encoding: Encoding; cuts: readonly number[] },
): Promise<Buffer> {
  async function* chunks() {
    yield* cut(bytes, cuts)
  }
  const texts: Buffer[] = []
  for await (const text of decodeChunks(chunks(), { encoding, name: 'fuzz' })) texts.push(Buffer.from(text))
  return Buffer.concat(texts)
}

/** Gives a text to a splitter chunk by chunk. Answers the code where the file is refused. */
export function splitCut(
  splitter: TextSplitter,
  { text, cuts }: { text: Buffer; cuts: readonly number[] },
  take: (batch: readonly RecordSlice[]) => void,
): string | undefined {
  try {
    for (const chunk of cut(text, cuts)) for (const batch of splitter.push(chunk)) take(batch)
    for (const batch of splitter.end()) take(batch)
    return undefined
  } catch (error) {
    if (error instanceof FileRefusedError) return error.code
    throw error
  }
}

/** Where two lists of records differ first. */
export function firstDifference(
  found: readonly unknown[],
  expected: readonly unknown[],
  equal: (one: unknown, other: unknown) => boolean,
): string | undefined {
  for (let index = 0; index < Math.max(found.length, expected.length); index++) {
    if (index < found.length && index < expected.length && equal(found[index], expected[index])) continue
    return `record ${index + 1}: found ${show(found[index])}, expected ${show(expected[index])}`
  }
  return undefined
}

function show(value: unknown): string {
  return value === undefined ? 'none' : (JSON.stringify(value) ?? String(value)).slice(0, 2000)
}
