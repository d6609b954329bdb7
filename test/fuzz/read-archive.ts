import { buffer } from 'node:stream/consumers'
import { crc32, inflateRawSync } from 'node:zlib'
import yauzl from 'yauzl'

/** The members of an archive by name, checked; undefined where it is damaged. What nobody reads may be. */
export async function readArchive(
  bytes: Buffer,
  isRead: (name: string) => boolean = () => true,
): Promise<Map<string, Buffer> | undefined> {
  try {
    const zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true })
    const members = new Map<string, Buffer>()
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue
      if (members.has(entry.fileName) || entry.isEncrypted()) return undefined
      if (!isRead(entry.fileName)) continue
      const raw = await buffer(await zip.openReadStreamPromise(entry, { decodeFileData: false }))
      const content = entry.compressionMethod === 0 ? raw : inflateRawSync(raw)
      if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) return undefined
      members.set(entry.fileName, content)
    }
    return members
  } catch {
    return undefined
  }
}
