import { createWriteStream } from 'node:fs'
import { open, truncate, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, crc32, deflateRawSync, zstdCompressSync } from 'node:zlib'

// Files that are small on the disk, or quickly written, and would fill the memory of a reader without limits. What
// they expand to is never made: the same compressed block stands in them again and again.

const block = 2 ** 20

/** The text, over and over, in pieces of about a megabyte until so many bytes have come. */
export function* repeated(text: string | Buffer, bytes: number): Generator<Buffer> {
  const piece = Buffer.from(text)
  const unit = Buffer.concat(Array.from({ length: Math.ceil(block / piece.length) }, () => piece))
  for (let left = bytes; left > 0; left -= unit.length)
    yield left < unit.length ? unit.subarray(0, left) : unit
}

export async function writeText(path: string, ...parts: (string | Iterable<Buffer>)[]): Promise<void> {
  async function* all() {
    for (const part of parts) yield* typeof part === 'string' ? [Buffer.from(part)] : part
  }
  await pipeline(Readable.from(all()), createWriteStream(path))
}

/** Zeros that take no place on the disk. */
export async function writeSparse(path: string, head: string, bytes: number): Promise<void> {
  await using file = await open(path, 'w')
  await file.write(head)
  await truncate(path, bytes)
}

/** Deflated, without an end: byte-aligned, so that it can stand again and again. */
function openBlock(content: Buffer): Buffer {
  return deflateRawSync(content, { level: 9, finishFlush: constants.Z_FULL_FLUSH })
}

interface Deflated {
  /** What the directory of an archive says, where that is a lie. */
  saidBytes?: number
  /** The member whose data it shares. */
  sameAs?: string
  data: Buffer
  /** What it becomes. */
  bytes: number
  /** Right for what anybody reads to its end. */
  checksum: number
}

/** `head`, then `text` until about so many bytes have come. */
export function deflated(head: string, text: string | Buffer, bytes: number): Deflated {
  const unit = Buffer.concat([...repeated(text, Math.min(bytes, 2 ** 24))])
  const times = Math.ceil(bytes / unit.length)
  const again = openBlock(unit)
  const data = Buffer.concat([openBlock(Buffer.from(head)), ...Array.from({ length: times }, () => again)])
  let checksum = crc32(head)
  for (let at = 0; at < Math.min(times, 4); at++) checksum = crc32(unit, checksum)
  return { data: Buffer.concat([data, Buffer.of(3, 0)]), bytes: head.length + times * unit.length, checksum }
}

export async function writeGzip(path: string, { data }: Deflated): Promise<void> {
  // Nobody gets as far as its checksum.
  await writeFile(path, Buffer.concat([Buffer.from('1f8b0800000000000003', 'hex'), data, Buffer.alloc(8)]))
}

export async function writeZstd(path: string, text: Buffer, times: number): Promise<void> {
  const frame = zstdCompressSync(text)
  await writeFile(path, Buffer.concat(Array.from({ length: times }, () => frame)))
}

/** A zip archive of the 64-bit form. */
export async function writeZip(path: string, members: Readonly<Record<string, Deflated>>): Promise<void> {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  const offsets = new Map<string, number>()
  let offset = 0
  for (const [name, { data, bytes, checksum, saidBytes = bytes, sameAs }] of Object.entries(members)) {
    const start = offsets.get(sameAs ?? '') ?? offset
    offsets.set(name, start)
    if (start === offset) {
      const local = Buffer.alloc(30)
      local.write('PK\x03\x04', 'latin1')
      local.writeUInt16LE(8, 8)
      local.writeUInt16LE(name.length, 26)
      parts.push(local, Buffer.from(name), data)
      offset += local.length + name.length + data.length
    }
    const central = Buffer.alloc(46)
    central.write('PK\x01\x02', 'latin1')
    central.writeUInt16LE(8, 10)
    central.writeUInt32LE(checksum, 16)
    central.writeUInt32LE(data.length, 20)
    central.writeUInt32LE(0xffffffff, 24)
    central.writeUInt16LE(name.length, 28)
    central.writeUInt16LE(12, 30)
    central.writeUInt32LE(start, 42)
    const large = Buffer.alloc(12)
    large.writeUInt16LE(1, 0)
    large.writeUInt16LE(8, 2)
    large.writeBigUInt64LE(BigInt(saidBytes), 4)
    directory.push(central, Buffer.from(name), large)
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(directory.length / 3, 8)
  end.writeUInt16LE(directory.length / 3, 10)
  end.writeUInt32LE(Buffer.concat(directory).length, 12)
  end.writeUInt32LE(offset, 16)
  await writeFile(path, Buffer.concat([...parts, ...directory, end]))
}
