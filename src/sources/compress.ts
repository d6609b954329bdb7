import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'

/** First bytes of gzip, zstd and zip. */
const compressedMagic = ['1f8b', '28b52ffd', '504b0304']
const blockBytes = 256 * 1024

export async function startsCompressed(path: string): Promise<boolean> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
  const start = buffer.subarray(0, bytesRead).toString('hex')
  return compressedMagic.some((magic) => start.startsWith(magic))
}

interface Reading {
  from: string
  /** Only so many bytes of the file count. */
  bytes: number
  signal: AbortSignal | undefined
}

interface Hashing extends Reading {
  /** Default: SHA-256. */
  algorithm?: 'md5' | 'sha256'
  onPart?: () => void
}

/** Hash of the content, in hexadecimal. */
export async function hashContent({ algorithm = 'sha256', onPart, ...reading }: Hashing): Promise<string> {
  const hash = createHash(algorithm)
  for await (const chunk of readContent(reading)) {
    reading.signal?.throwIfAborted()
    hash.update(chunk as Buffer)
    onPart?.()
  }
  return hash.digest('hex')
}

/** Writes the content compressed with zstd; returns the hash of the plain content. */
export async function compressContent(reading: Reading, to: string): Promise<string> {
  const hash = createHash('sha256')
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(undefined, chunk)
    },
  })
  const options = reading.signal ? { signal: reading.signal } : {}
  await pipeline(readContent(reading), tap, createZstdCompress(), createWriteStream(to), options)
  return hash.digest('hex')
}

function readContent({ from, bytes }: Reading): Readable {
  // `end` is inclusive, so no value of it means an empty file.
  return bytes === 0
    ? Readable.from([])
    : createReadStream(from, { end: bytes - 1, highWaterMark: blockBytes })
}
