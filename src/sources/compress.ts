import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress } from 'node:zlib'
import { privateFileMode } from '../lib/private-modes.ts'

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

export async function hashContent({ algorithm = 'sha256', onPart, ...reading }: Hashing): Promise<string> {
  const hash = createHash(algorithm)
  await readParts(reading, (part) => {
    hash.update(part)
    onPart?.()
  })
  return hash.digest('hex')
}

/** Writes the content compressed with zstd; returns the hash of the plain content. */
export async function compressContent(reading: Reading, to: string): Promise<string> {
  const hash = createHash('sha256')
  const compress = createZstdCompress()
  const written = pipeline(
    compress,
    createWriteStream(to, { mode: privateFileMode }),
    reading.signal ? { signal: reading.signal } : {},
  )
  const read = readParts(reading, async (part) => {
    hash.update(part)
    // The part is read over once this is done. A stream that was destroyed does not always say so here.
    const taken = new Promise<void>((resolve, reject) => {
      compress.write(part, (error) => (error ? reject(error) : resolve()))
    })
    await Promise.race([taken, written])
  })
  read.then(
    () => compress.end(),
    (error: Error) => compress.destroy(error),
  )
  // Both, so that nothing writes any more when this is over.
  for (const outcome of await Promise.allSettled([written, read]))
    if (outcome.status === 'rejected') throw outcome.reason
  return hash.digest('hex')
}

/** Into one and the same memory: megabytes of parts would stay until the next garbage collection. */
async function readParts(
  { from, bytes, signal }: Reading,
  use: (part: Buffer) => void | Promise<void>,
): Promise<void> {
  await using file = await open(from, 'r')
  const memory = Buffer.allocUnsafeSlow(Math.min(blockBytes, bytes))
  for (let at = 0; at < bytes; ) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(memory, 0, Math.min(memory.length, bytes - at), at)
    if (bytesRead === 0) return
    await use(memory.subarray(0, bytesRead))
    at += bytesRead
  }
}
