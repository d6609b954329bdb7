import { z } from 'zod'
import { formatDuration, parseDuration } from './duration.ts'

/** What an editor is told; zod cannot see inside our own checks. */
type Json = Readonly<Record<string, unknown>>

/**
 * A single value: accepted or not, with one sentence about what is expected. The value stays as it was written, so that
 * the checked configuration can be printed again; `build.ts` converts.
 */
function leaf<T>(accepts: (value: unknown) => boolean, expected: string, json: Json) {
  return z.custom<T>(accepts, expected).meta({ ...json })
}

/** Editors see the file before the environment is filled in. */
function orReference(json: Json): Json {
  return { anyOf: [json, { type: 'string', pattern: '\\$\\{' }] }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** YAML reads `0815` or `yes` as something else than text; the remedy is a pair of quotes. */
function textLeaf<T extends string | null>(
  accepts: (value: unknown) => boolean,
  expected: string,
  json: Json,
) {
  const isOtherScalar = (value: unknown) => typeof value === 'number' || typeof value === 'boolean'
  return z
    .custom<T>(accepts, {
      error: ({ input }) => (isOtherScalar(input) ? `${expected}; put it in quotes` : expected),
    })
    .meta(json)
}

/** A text that says something. */
export function text(expected: string) {
  return textOf((value) => value !== '', expected, { minLength: 1 })
}

/** A text that may be empty, as `${NAME:-}` is when the variable is not set, or left out behind its key. */
export function optionalText(expected: string) {
  return textLeaf<string | null>((value) => value === null || isText(value), expected, {
    type: ['string', 'null'],
  })
}

/** Where a secret stands in a file of its own. */
export function secretFile(secret: string) {
  return text(`a file that holds the ${secret}`)
    .optional()
    .describe(`File with the ${secret} in one line; read again at every use`)
}

export function textOf(accepts: (value: string) => boolean, expected: string, json: Json = {}) {
  return textLeaf<string>((value) => isText(value) && accepts(value), expected, { type: 'string', ...json })
}

export function oneOf<const Word extends string>(words: readonly Word[]) {
  return leaf<Word>((value) => words.some((word) => word === value), `one of ${words.join(', ')}`, {
    ...orReference({ enum: words }),
  })
}

/** A number, or its digits: a value from the environment is text. */
export function wholeNumber({ min, max }: { min: number; max: number }) {
  const accepts = (value: unknown) => {
    const number = isText(value) && /^\d{1,15}$/.test(value) ? Number(value) : value
    return typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max
  }
  return leaf<number | string>(accepts, `a whole number from ${min} to ${max}`, {
    ...orReference({ type: 'integer', minimum: min, maximum: max }),
  })
}

export function duration({ minMs, maxMs }: { minMs: number; maxMs?: number }) {
  const least = minMs === 0 ? '' : `, at least ${formatDuration(minMs)}`
  return leaf<string | number>(
    (value) => (parseDuration(value, maxMs) ?? -1) >= minMs,
    `a duration such as 500ms, 2s, 15m or 1h${least}`,
    orReference(durationJson),
  )
}

export function size({ min, max, because }: { min: number; max: number; because: string }) {
  const accepts = (value: unknown) => {
    const bytes = parseSize(value)
    return bytes !== undefined && bytes >= min && bytes <= max
  }
  return leaf<string | number>(accepts, `bytes from ${min} to ${max} (${because})`, orReference(sizeJson))
}

export function share() {
  return leaf<string | number>(
    (value) => parseShare(value) !== undefined,
    'a share such as 10% or 0.1',
    orReference(shareJson),
  )
}

export function flag() {
  return leaf<boolean | 'true' | 'false'>(
    (value) => typeof value === 'boolean' || value === 'true' || value === 'false',
    'true or false',
    orReference({ type: 'boolean' }),
  )
}

/** What a flag says; from the environment it comes as a text. */
export function isTrue(given: boolean | 'true' | 'false' | undefined): boolean {
  return given === true || given === 'true'
}

/** Any constant of JSON except null, which YAML makes of a forgotten value. */
export function constant(expected: string) {
  return leaf<unknown>((value) => value !== undefined && value !== null, expected, {})
}

/** A mapping with fixed keys. The issue for an unknown key lists the known ones (`explainIssues` reads them). */
export function mapping<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? known.join(' ') : `a mapping with ${known.join(', ')}`,
  })
}

/** A mapping whose keys the user chooses. */
export function mappingOf<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  key: Key,
  value: Value,
  expected: string,
) {
  return z.record(key, value, { error: expected })
}

const durationJson = {
  type: ['string', 'integer'],
  pattern: '^(0|\\d+(\\.\\d+)?(ms|s|m|h|d))$',
} as const

/** What a parser above answers for a value that the schema has accepted, so that it knows it. */
export function checked<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a checked value of the configuration cannot be converted')
  return value
}

const shareJson = {
  type: ['string', 'number'],
  minimum: 0,
  maximum: 1,
  pattern: '^\\d+(\\.\\d+)?%?$',
} as const

/** A share of a whole, 0..1. */
export type Share = number

/** `10%` or 0.1 → 0.1; undefined when it is neither, or more than all. */
export function parseShare(value: unknown): Share | undefined {
  const share = typeof value === 'string' ? parseText(value.trim()) : value
  return typeof share === 'number' && share >= 0 && share <= 1 ? share : undefined
}

function parseText(text: string): number | undefined {
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return percent === '%' ? Number(digits) / 100 : Number(digits)
}

const unitBytes = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
} as const
const sizeForm = /^(\d+(?:\.\d+)?) ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?$/

const sizeJson = {
  type: ['string', 'integer'],
  pattern: '^\\d+(\\.\\d+)? ?(B|kB|KB|MB|GB|KiB|MiB|GiB)?$',
} as const

/** Plain bytes, or `2MB` (2,000,000), `16MiB` … → whole bytes; undefined when it is none. */
export function parseSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const [, amount, unit = 'B'] = sizeForm.exec(value.trim()) ?? []
  if (amount === undefined) return undefined
  const bytes = Number(amount) * unitBytes[unit as keyof typeof unitBytes]
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
