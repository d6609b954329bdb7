import type { Random } from './random.ts'

/** JSON in parts that are tokens, with white space and with what makes it no JSON. */
export const generateJson = { document, lines }

const texts = [
  '"A1"',
  '""',
  '"Gr\\u00f6\\u00dfe"',
  '"Größe 💶"',
  '"a\\"b"',
  '"\\\\"',
  '"[1,2"',
  '"}{"',
  '"\\/\\b\\f\\n\\r\\t"',
  '"\\ud83d\\ude00"',
  '"\\ud83d"',
  '"価格"',
  '"\u007f\u2028\ufeff"',
]
const scalars = [
  ...['0', '-0', '1', '12.50', '-3e+5', '1E2', '0.1e-7', '123456789012345678901', '1e999'],
  ...['true', 'false', 'null', ...texts],
]
const keys = [
  '"a"',
  '"b"',
  '"id"',
  '"price"',
  '""',
  '"a.b"',
  '"__proto__"',
  '"\\u0061"',
  '"constructor"',
  '"ü"',
]
const broken = [
  ...['{', '}', '[', ']', ',', ':', '"', '\\', '01', '1.', '.5', '-', '+1', '1e', 'tru', 'nul', 'NaN', "'a'"],
  ...[
    '"\n"',
    '"\\x"',
    '-01',
    '00',
    '1.e1',
    '1e+',
    '-.5',
    '"\\u123"',
    'truee',
    'nulll',
    '"\\',
    '"\\u12g4"',
    '"\t"',
    '\ufeff',
    '\u00a0',
    '//',
    '\0',
    'x',
    '1 2',
    '\\u0061',
    '"\\',
  ],
]
const spaces = ['', '', '', '', ' ', '\n', '\r\n', '\t', '  ', '\r']

function document(random: Random, path: string): string[] {
  const parts: string[] = []
  const isMap = /(^|\.)\*$/.test(path)
  const way = isMap ? path.slice(0, -2) : path
  const keysOnPath = way === '' ? [] : way.split('.').map((key) => JSON.stringify(key))
  const depth = random.chance(0.93) ? keysOnPath.length : random.below(keysOnPath.length + 1)
  for (const key of keysOnPath.slice(0, depth)) {
    parts.push('{')
    if (random.chance(0.4)) member(random, parts, { key: random.pick(keys), more: true })
    parts.push(
      space(random),
      random.chance(0.97) ? key : random.pick(keys),
      space(random),
      ':',
      space(random),
    )
  }
  const hasArray = random.chance(0.95)
  if (hasArray) records(random, parts, random.chance(0.95) === isMap ? ['{', '}'] : ['[', ']'])
  else value(random, parts, 2)
  for (let open = depth; open > 0; open--) {
    if (random.chance(0.4)) {
      parts.push(',')
      member(random, parts, { key: random.pick(keys), more: false })
    }
    parts.push(space(random), '}')
  }
  parts.push(space(random))
  return spoil(random, parts, 0.35)
}

function lines(random: Random): string[] {
  const parts: string[] = []
  for (let line = random.below(7); line > 0; line--) {
    const made: string[] = []
    if (random.chance(0.9)) object(random, made, 2)
    else value(random, made, 1)
    parts.push(...spoil(random, made, 0.15).map((part) => part.replaceAll('\n', ' ')))
    if (line > 1 || random.chance(0.7)) parts.push(random.pick(['\n', '\n', '\n', '\r\n', '\n\n', '\n \r\n']))
  }
  return parts
}

function spoil(random: Random, parts: string[], share: number): string[] {
  if (!random.chance(share) || parts.length === 0) return parts
  const spoilt = [...parts]
  for (let times = random.between(1, 2); times > 0; times--) {
    const at = random.below(spoilt.length)
    const what = random.below(5)
    if (what === 0) spoilt.splice(at, 1)
    else if (what === 1) spoilt.splice(at, 0, random.pick(broken))
    else if (what === 2) spoilt.splice(at, 0, spoilt[random.below(spoilt.length)] ?? '')
    else if (what === 3) spoilt.length = at
    else {
      const value = spoilt.findIndex((part, index) => index >= at && /^["\d-]|^[a-z]/.test(part))
      if (value >= 0) spoilt[value] = random.pick(broken)
    }
  }
  return spoilt
}

function space(random: Random): string {
  return random.pick(spaces)
}

function value(random: Random, parts: string[], levels: number): void {
  const what = levels === 0 ? 1 : random.next()
  if (what < 0.25) object(random, parts, levels - 1)
  else if (what < 0.45) array(random, parts, { count: random.below(4), levels: levels - 1 })
  else parts.push(random.pick(scalars))
}

function member(random: Random, parts: string[], { key, more }: { key: string; more: boolean }): void {
  parts.push(space(random), key, space(random), ':', space(random))
  value(random, parts, 2)
  if (more) parts.push(',')
}

function object(random: Random, parts: string[], levels: number): void {
  parts.push('{')
  for (let count = random.below(5), at = 0; at < count; at++) {
    if (at > 0) parts.push(',')
    parts.push(space(random), random.pick(keys), space(random), ':', space(random))
    value(random, parts, levels)
    parts.push(space(random))
  }
  parts.push('}')
}

/** Keys differ, and are no numbers, which JSON.parse puts first. */
function records(random: Random, parts: string[], [begin, end]: readonly [string, string]): void {
  parts.push(begin, space(random))
  for (let at = 0, count = random.below(6); at < count; at++) {
    if (at > 0) parts.push(',', space(random))
    if (begin === '{') parts.push(`"k${at}"`, space(random), ':', space(random))
    if (random.chance(0.85)) object(random, parts, 2)
    else value(random, parts, 2)
    parts.push(space(random))
  }
  parts.push(end)
}

function array(random: Random, parts: string[], { count, levels }: { count: number; levels: number }): void {
  parts.push('[', space(random))
  for (let at = 0; at < count; at++) {
    if (at > 0) parts.push(',', space(random))
    value(random, parts, levels)
    parts.push(space(random))
  }
  parts.push(']')
}
