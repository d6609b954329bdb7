/** Ids and values in turns, packed by a script with cmsgpack; `marks`: one byte for each id. */
export interface PackedList {
  packed: Buffer
  marks: Buffer
}

export interface PackedField {
  id: string
  /** Of the product in the mirror, where it is known. */
  key?: number | undefined
  value: Buffer
  mark: number
  /** Where id and value stand, so that they can be packed again. */
  packed: Buffer
  start: number
  end: number
}

export const emptyList: PackedList = { packed: Buffer.of(0x90), marks: Buffer.alloc(0) }

const array32 = 0xdd
const headBytes = 5

/**
 * Reads MessagePack: an array of strings, each with its length in front. Values are not copied. Libraries decode strings as
 * text, which a digest is not.
 */
export function unpackFields({ packed, marks }: PackedList): PackedField[] {
  let at = packed[0] === array32 ? headBytes : packed[0] === 0xdc ? 3 : 1
  const end = () => {
    const head = packed[at++] ?? 0
    if (head >> 5 === 0b101) return at + (head & 0x1f)
    const lengthBytes = head === 0xd9 ? 1 : head === 0xda ? 2 : 4
    at += lengthBytes
    return at + packed.readUIntBE(at - lengthBytes, lengthBytes)
  }
  const fields: PackedField[] = []
  for (const mark of marks) {
    const start = at
    const idEnd = end()
    const id = packed.toString('utf8', at, idEnd)
    at = idEnd
    const valueEnd = end()
    fields.push({ id, value: packed.subarray(at, valueEnd), mark, packed, start, end: valueEnd })
    at = valueEnd
  }
  return fields
}

/** Fields that were read, from any lists, in the order given. */
export function packFields(fields: readonly PackedField[]): PackedList {
  const bytes = fields.reduce((sum, { start, end }) => sum + end - start, headBytes)
  const packed = Buffer.allocUnsafe(bytes)
  packed[0] = array32
  packed.writeUInt32BE(2 * fields.length, 1)
  let at = headBytes
  for (const { packed: from, start, end } of fields) at += from.copy(packed, at, start, end)
  return { packed, marks: Buffer.from(fields.map(({ mark }) => mark)) }
}
