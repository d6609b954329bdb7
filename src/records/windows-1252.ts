/** Stands in the UTF-8 text for bytes that mean nothing in the file's encoding; never valid UTF-8 itself. */
export const undecodable = 0xff

const undefinedBytes = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d])

/** Per byte: how many bytes of UTF-8 it becomes, then up to three of them. */
function buildTable(): Uint8Array {
  const decoder = new TextDecoder('windows-1252')
  const table = new Uint8Array(256 * 4)
  for (let byte = 0; byte < 256; byte++) {
    const utf8 = undefinedBytes.has(byte)
      ? Buffer.of(undecodable)
      : Buffer.from(decoder.decode(Buffer.of(byte)), 'utf8')
    table.set([utf8.length, ...utf8], byte * 4)
  }
  return table
}

const utf8OfByte = buildTable()

/** UTF-8 of Windows-1252 bytes. The five bytes without a meaning become `undecodable`, which TextDecoder hides. */
export function decodeWindows1252(bytes: Buffer): Buffer {
  const text = Buffer.allocUnsafe(bytes.length * 3)
  let length = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number
    if (byte < 0x80) {
      text[length++] = byte
      continue
    }
    const entry = byte * 4
    const count = utf8OfByte[entry] as number
    for (let part = 1; part <= count; part++) text[length++] = utf8OfByte[entry + part] as number
  }
  return text.subarray(0, length)
}

const byteOfCharacter: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => byte)
    .filter((byte) => !undefinedBytes.has(byte))
    .map((byte) => [new TextDecoder('windows-1252').decode(Buffer.of(byte)), byte]),
)

/** Characters that Windows-1252 does not have become `?`. */
export function encodeWindows1252(text: string): Buffer {
  return Buffer.from(Array.from(text, (character) => byteOfCharacter.get(character) ?? 0x3f))
}
