import type { Random } from './random.ts'

const tokens = [
  '"',
  "'",
  ',',
  ';',
  '\t',
  '\n',
  '\r',
  '\r\n',
  '\0',
  '<',
  '>',
  '&',
  '{',
  '}',
  '[',
  ']',
  ':',
  '\\',
  '=',
  '|',
]
const longer = [
  '</item>',
  '<item>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '""',
  '"\n"',
  ',,,,',
  'null',
  '\ufeff',
  '\u00e9',
  '\ud83d\udcb6',
]

/** What happens to files on their way: bits flipped, bytes cut off, lost, repeated, inserted, and blocks swapped. */
export function mutateBytes(random: Random, original: Buffer): Buffer {
  let bytes = original
  for (let times = random.pick([1, 1, 1, 2, 3, 8]); times > 0 && bytes.length > 0; times--) {
    bytes = mutateOnce(random, bytes)
  }
  return bytes
}

function mutateOnce(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length)
  switch (random.below(8)) {
    case 0: {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] as number) ^ (1 << random.below(8))
      return flipped
    }
    case 1:
      return bytes.subarray(0, at)
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + lengthOf(random))])
    case 3: {
      const block = bytes.subarray(at, at + lengthOf(random))
      const times = random.chance(0.9) ? 1 : random.between(2, 40)
      return Buffer.concat([
        bytes.subarray(0, at),
        ...Array.from({ length: times }, () => block),
        bytes.subarray(at),
      ])
    }
    case 4:
      return insert(bytes, at, Buffer.from(random.list(random.between(1, 8), () => random.below(256))))
    case 5:
      return insert(bytes, at, Buffer.from(random.pick(random.chance(0.7) ? tokens : longer)))
    case 6: {
      const written = Buffer.from(bytes)
      written.write(random.pick(tokens), at)
      return written
    }
    default:
      return swapBlocks(random, bytes, at)
  }
}

function lengthOf(random: Random): number {
  return random.between(1, random.pick([1, 4, 30, 300, 3000]))
}

function insert(bytes: Buffer, at: number, more: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
}

function swapBlocks(random: Random, bytes: Buffer, at: number): Buffer {
  const length = lengthOf(random)
  const [first, second] = [at, random.below(bytes.length)].sort((one, other) => one - other) as [
    number,
    number,
  ]
  const middle = Math.min(second, first + length)
  const end = Math.min(bytes.length, second + length)
  return Buffer.concat([
    bytes.subarray(0, first),
    bytes.subarray(second, end),
    bytes.subarray(middle, second),
    bytes.subarray(first, middle),
    bytes.subarray(end),
  ])
}
