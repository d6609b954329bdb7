import { z } from 'zod'
import { durationJson, formatDuration, parseDuration } from './duration.ts'
import { parseShare, shareJson } from './share.ts'
import { parseSize, sizeJson } from './size.ts'

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
