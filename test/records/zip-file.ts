import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import yazl from 'yazl'

type Members = Readonly<Record<string, Buffer | string>>

/** A zip archive; members are deflated. `streamed`: sizes stand behind the data, in data descriptors. */
export async function zipOf(
  members: Members,
  { stored = false, zip64 = false, streamed = false } = {},
): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(members)) {
    const options = { compress: !stored, forceZip64Format: zip64, mtime: new Date(0) }
    if (streamed) zip.addReadStream(Readable.from([Buffer.from(content)]), name, options)
    else zip.addBuffer(Buffer.from(content), name, options)
  }
  zip.end({ forceZip64Format: zip64, comment: '' })
  return buffer(zip.outputStream)
}

/** Writes a 32-bit or 16-bit number into every header of one kind; `at` counts from the signature. */
export function patchHeaders(
  zip: Buffer,
  kind: 'central' | 'local',
  patch: { at: number; value: number; bytes: 2 | 4; member?: number },
): Buffer {
  const signature = Buffer.from(kind === 'central' ? 'PK\x01\x02' : 'PK\x03\x04', 'latin1')
  const patched = Buffer.from(zip)
  let member = 0
  for (let at = zip.indexOf(signature); at >= 0; at = zip.indexOf(signature, at + 4), member++) {
    if (patch.member !== undefined && patch.member !== member) continue
    if (patch.bytes === 2) patched.writeUInt16LE(patch.value, at + patch.at)
    else patched.writeUInt32LE(patch.value, at + patch.at)
  }
  return patched
}
