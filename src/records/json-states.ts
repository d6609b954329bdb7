/** What of JSON may come next. */
export const next = {
  value: 0,
  valueOrEnd: 1,
  keyOrEnd: 2,
  key: 3,
  colon: 4,
  commaOrEnd: 5,
  string: 6,
  escape: 7,
  hex: 8,
  literal: 9,
  minus: 10,
  zero: 11,
  whole: 12,
  point: 13,
  fraction: 14,
  exponent: 15,
  exponentSign: 16,
  exponentDigits: 17,
  nothing: 18,
} as const

export type Next = (typeof next)[keyof typeof next]

export const expectations: Readonly<Record<Next, string>> = {
  [next.value]: 'a value',
  [next.valueOrEnd]: 'a value or ]',
  [next.keyOrEnd]: 'a key in double quotes or }',
  [next.key]: 'a key in double quotes',
  [next.colon]: 'a colon',
  [next.commaOrEnd]: 'a comma or the end of the object or array',
  [next.string]: 'the characters of a text or a double quote (control characters must be escaped)',
  [next.escape]: 'one of "\\/bfnrtu behind the backslash',
  [next.hex]: 'four hexadecimal digits',
  [next.literal]: 'true, false or null',
  [next.minus]: 'a digit',
  [next.zero]: 'the end of the number',
  [next.whole]: 'a digit or the end of the number',
  [next.point]: 'a digit',
  [next.fraction]: 'a digit or the end of the number',
  [next.exponent]: 'a digit or a sign',
  [next.exponentSign]: 'a digit',
  [next.exponentDigits]: 'a digit or the end of the number',
  [next.nothing]: 'the end of the file',
}

/** Within a number; undefined when the byte is no part of it. */
export function followingState(state: Next, byte: number, digit: boolean): Next | undefined {
  switch (state) {
    case next.minus:
      return byte === 0x30 ? next.zero : digit ? next.whole : undefined
    case next.zero:
    case next.whole:
      if (digit) return state === next.whole ? next.whole : undefined
      return byte === 0x2e ? next.point : (byte | 0x20) === 0x65 ? next.exponent : undefined
    case next.point:
    case next.fraction:
      if (digit) return next.fraction
      return state === next.fraction && (byte | 0x20) === 0x65 ? next.exponent : undefined
    case next.exponent:
      return digit ? next.exponentDigits : byte === 0x2b || byte === 0x2d ? next.exponentSign : undefined
    default:
      return digit ? next.exponentDigits : undefined
  }
}

export function isEndOfNumber(state: Next): boolean {
  return (
    state === next.zero || state === next.whole || state === next.fraction || state === next.exponentDigits
  )
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
