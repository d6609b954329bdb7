import { isDeepStrictEqual } from 'node:util'
import type { Dialect } from '../../src/records/model.ts'
import { parseNdjson } from '../../src/records/parse-ndjson.ts'
import { openSplitter } from '../../src/records/slices.ts'
import { decodeCut, firstDifference, generateCuts, splitCut } from './chunks.ts'
import { decodeWhole, type Encoded, encode, generateEncoded } from './encoded.ts'
import { generateJson } from './generate-json.ts'
import type { Kind, Outcome } from './kind.ts'
import type { Random } from './random.ts'

interface JsonSettings {
  path: string
  cuts: readonly number[]
  encoded: Encoded | undefined
}

/** Records of a JSON document at a path against JSON.parse of the whole. */
export const jsonKind: Kind<JsonSettings> = {
  name: 'json',
  weight: 17,
  generate: (random) => {
    const settings = {
      path: random.pick(['', '', 'a', 'a.b', 'products', '__proto__', '*', 'a.b.*']),
      ...shared(random),
    }
    return { parts: generateJson.document(random, settings.path), settings }
  },
  run: ({ parts, settings }) => run(parts, settings, compareDocument),
}

/** Lines of JSON against JSON.parse of each. */
export const ndjsonKind: Kind<JsonSettings> = {
  name: 'ndjson',
  weight: 10,
  generate: (random) => ({
    parts: generateJson.lines(random),
    settings: { path: '', ...shared(random) },
  }),
  run: ({ parts, settings }) => run(parts, settings, compareLines),
}

function shared(random: Random): Omit<JsonSettings, 'path'> {
  return { cuts: generateCuts(random), encoded: random.chance(0.2) ? generateEncoded(random) : undefined }
}

type Compare = (text: Buffer, expected: string, settings: JsonSettings) => Outcome

function run(parts: readonly string[], settings: JsonSettings, compare: Compare) {
  const written = Buffer.from(parts.join(''))
  const { encoded, cuts } = settings
  if (encoded === undefined) return compare(written, written.toString('utf8'), settings)
  const bytes = encode(written.toString('utf8'), encoded)
  const expected = decodeWhole(bytes, encoded.encoding)
  return decodeCut(bytes, { encoding: encoded.encoding, cuts }).then((text) =>
    compare(text, expected, settings),
  )
}

function dialectOf(type: 'json' | 'ndjson', path: string): Dialect {
  const basis = {
    type: 'configured',
    encoding: 'configured',
    delimiter: 'detected',
    quote: 'detected',
  } as const
  const unused = { delimiter: ',', quote: undefined, lineEnd: '\n' } as const
  return { type, path, compression: 'none', encoding: 'utf-8', ...unused, basis }
}

/** What stands in the place of a record that is none. */
export const rejectedRecord = 'rejected'

function readFound(type: 'json' | 'ndjson', text: Buffer, { path, cuts }: JsonSettings) {
  const splitter = openSplitter('fuzz.json', dialectOf(type, path), { recordBytes: 1_000_000, before: 0 })
  const found: unknown[] = []
  const code = splitCut(splitter, { text, cuts }, (batch) => {
    for (const result of parseNdjson(batch, []))
      found.push('parsed' in result ? result.parsed.source : rejectedRecord)
  })
  return { found, code }
}

function compareDocument(text: Buffer, expectedText: string, settings: JsonSettings): Outcome {
  const { found, code } = readFound('json', text, settings)
  const expected = recordsAt(expectedText, settings.path)
  if (expected === undefined || code !== undefined) {
    const isAgreed =
      expected === undefined
        ? code !== undefined
        : code === 'ambiguous-path' && isRepeatedKey(expectedText, settings.path)
    return isAgreed
      ? 'refused'
      : { difference: code === undefined ? 'read, but JSON.parse refuses it' : `refused: ${code}` }
  }
  // Of records under the same key JSON.parse gives the last.
  if (settings.path.endsWith('*') && found.length > expected.length && hasRepeatedKey(expectedText))
    return 'read'
  const difference = firstDifference(found, expected, isDeepStrictEqual)
  return difference === undefined ? 'read' : { difference }
}

/** Undefined where the text is no JSON, or has nothing at the path that holds records. */
export function recordsAt(text: string, path: string): unknown[] | undefined {
  const whole = parsed(text)
  if (whole === undefined) return undefined
  let value = whole.value
  const isMap = /(^|\.)\*$/.test(path)
  const way = isMap ? path.slice(0, -2) : path
  for (const key of way === '' ? [] : way.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined
    value = (value as Record<string, unknown>)[key]
  }
  if (Array.isArray(value)) return isMap ? undefined : value.map(recordOf)
  return isMap && typeof value === 'object' && value !== null ? Object.values(value).map(recordOf) : undefined
}

function recordOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : rejectedRecord
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Whether a key of the path stands twice in the text, however it is escaped. */
export function isRepeatedKey(text: string, path: string): boolean {
  const keys = keysIn(text)
  return path.split('.').some((part) => keys.filter((key) => key === part).length > 1)
}

function hasRepeatedKey(text: string): boolean {
  const keys = keysIn(text)
  return new Set(keys).size < keys.length
}

function keysIn(text: string): unknown[] {
  return (text.match(/"(?:[^"\\]|\\.)*"(?=[ \t\r\n]*:)/g) ?? []).map((key) => JSON.parse(key))
}

function compareLines(text: Buffer, expectedText: string, settings: JsonSettings): Outcome {
  const { found, code } = readFound('ndjson', text, settings)
  if (code !== undefined) return { difference: `refused: ${code}` }
  const difference = firstDifference(found, recordsOfLines(expectedText), isDeepStrictEqual)
  return difference === undefined ? 'read' : { difference }
}

export function recordsOfLines(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => recordOf(parsed(line)?.value))
}
