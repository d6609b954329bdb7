import { createHash, randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { compressContent, hashContent } from '../../src/sources/compress.ts'
import { tempDir } from '../support/temp-dir.ts'

// Does not become smaller, so that the disk has to keep up.
const content = randomBytes(8_000_000)
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('compressing', () => {
  it('and hashing see only the bytes that count', async () => {
    await using dir = await tempDir('compress')
    await writeFile(dir.join('a'), content)
    for (const bytes of [0, 1, 300_000, content.length]) {
      const reading = { from: dir.join('a'), bytes, signal: undefined }
      const expected = content.subarray(0, bytes)
      expect(await hashContent(reading)).toBe(sha256(expected))
      expect(await compressContent(reading, dir.join('a.zst'))).toBe(sha256(expected))
      expect(zstdDecompressSync(await readFile(dir.join('a.zst'))).equals(expected)).toBe(true)
    }
  })

  it('ends when it is aborted, at whatever moment', async () => {
    await using dir = await tempDir('compress')
    await writeFile(dir.join('a'), content)
    const reading = { from: dir.join('a'), bytes: content.length }
    const outcomes: string[] = []
    for (let afterMs = 0; afterMs < 40; afterMs++) {
      const stop = new AbortController()
      const compressing = compressContent({ ...reading, signal: stop.signal }, dir.join('a.zst')).then(
        () => 'done',
        (error: Error) => error.name,
      )
      await delay(afterMs)
      stop.abort()
      outcomes.push(await compressing)
    }
    expect(outcomes[0]).toBe('AbortError')
    expect(outcomes.every((outcome) => outcome === 'AbortError' || outcome === 'done')).toBe(true)
  })

  it('fails when it cannot read or write', async () => {
    await using dir = await tempDir('compress')
    await writeFile(dir.join('a'), content)
    const reading = { from: dir.join('a'), bytes: content.length, signal: undefined }
    await expect(compressContent(reading, dir.join('none', 'a.zst'))).rejects.toMatchObject({
      code: 'ENOENT',
    })
    const absent = { ...reading, from: dir.join('none') }
    await expect(compressContent(absent, dir.join('a.zst'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
