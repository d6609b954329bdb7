import { closest, distance } from 'fastest-levenshtein'
import { z } from 'zod'
import { describeFound, formatPath, showName } from './describe.ts'
import { expectationOf } from './expectation.ts'
import { bareSchema, metadataOf } from './fields.ts'
import { findJsonFault, isObject, jsonDepthMax } from './json-value.ts'

/** `field` is the top-level field; `message` begins with the whole place and says what was found, expected, and to do. */
export interface ContractProblem {
  field: string
  message: string
}

export interface ProblemOptions {
  /** What the whole is called where no field is meant: `rule`, `query`. */
  whole?: string
  /** `tolerate`: fields that the contract does not have are no problem, on every level. */
  unknownFields?: 'refuse' | 'tolerate'
}

/**
 * What is wrong with a body, a query or the parameters of a path; empty when the contract accepts it. One line each,
 * fit to be shown: e-mail addresses and tokens are left out.
 */
export function contractProblems(
  schema: z.ZodType,
  value: unknown,
  options: ProblemOptions = {},
): ContractProblem[] {
  const { whole = 'body', unknownFields = 'refuse' } = options
  const checked = unknownFields === 'tolerate' ? withKnownFields(schema, value) : value
  const result = schema.safeParse(checked, { reportInput: true })
  if (result.success) return faultOf(schema, value, whole)
  return result.error.issues.flatMap((issue) =>
    innermost(issue).flatMap((inner) => describeIssue(schema, inner, whole)),
  )
}

/** Also what no field describes is kept, and so must be JSON that can be kept. */
function faultOf(schema: z.ZodType, value: unknown, whole: string): ContractProblem[] {
  const found = findJsonFault(value)
  if (found === undefined) return []
  const { path, input, fault } = found
  return describeIssue(schema, { code: 'custom', message: '', path, input, params: { fault } }, whole)
}

/**
 * Only one branch of a union is of the kind that was given (a list for a list, say): then its own problems say more
 * than "neither fits".
 */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const deeper = issue.errors.filter((errors) => errors.length > 0 && errors.every(isBelow))
  const [only] = deeper
  if (only === undefined || deeper.length > 1) return [issue]
  return only.flatMap((inner) =>
    innermost({ ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue),
  )
}

function isBelow(issue: z.core.$ZodIssue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys'
}

function describeIssue(schema: z.ZodType, issue: z.core.$ZodIssue, whole: string): ContractProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => describeUnknownField(schema, [...issue.path, key], whole))
  }
  const place = placeOf(issue.path, whole)
  return [{ field: topOf(issue.path, whole), message: `${place}: ${sentenceFor(schema, issue)}` }]
}

function sentenceFor(schema: z.ZodType, issue: z.core.$ZodIssue): string {
  const params = issue.code === 'custom' ? issue.params : undefined
  if (typeof params?.sentence === 'string') return params.sentence
  if (params?.fault === 'reserved' || params?.reserved === true) {
    return 'found a reserved name, expected an ordinary key; rename the key'
  }
  if (params?.fault === 'too-deep') {
    return `found more than ${jsonDepthMax} levels in each other, expected fewer; make it flatter`
  }
  const along = schemasAlong(schema, issue.path)
  const isSecret = along.some((one) => metadataOf(one).secret === true)
  const found = describeFound(issue.input, isSecret)
  const at = schemaAt(schema, issue.path)
  const { expected, remedy } =
    at === undefined ? { expected: 'a JSON value', remedy: 'give what JSON can carry' } : expectationOf(at)
  const isMissing = issue.input === undefined
  return `found ${found}, expected ${expected}; ${isMissing ? 'give it a value' : remedy}`
}

function describeUnknownField(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  whole: string,
): ContractProblem {
  const name = String(path.at(-1))
  const holder = schemasAlong(schema, path.slice(0, -1)).at(-1) ?? schema
  const why = metadataOf(holder).unwritable ?? {}
  const field = topOf(path, whole)
  const place = formatPath(path, whole)
  if (Object.hasOwn(why, name)) {
    return {
      field,
      message: `${place}: found a field that cannot be written here, expected none: ${why[name]}; leave it out`,
    }
  }
  const known = Object.keys(fieldsOf(holder) ?? {})
  return {
    field,
    message: `${place}: found a field that the contract does not have, ${expectKnown(name, known)}`,
  }
}

const namesShownMax = 12
const levelsShownMax = 16

/** What lies too deep has a place that nobody reads to its end. */
function placeOf(path: readonly PropertyKey[], whole: string): string {
  const shown = formatPath(path.slice(0, levelsShownMax), whole)
  return path.length > levelsShownMax ? `${shown}…` : shown
}

function expectKnown(name: string, known: readonly string[]): string {
  const meant = known.length === 0 ? undefined : closest(name, known)
  if (meant !== undefined && distance(name, meant) <= Math.max(2, meant.length / 4)) {
    return `expected ${meant}, if that is meant; correct the name or leave it out`
  }
  if (known.length <= namesShownMax) return `expected only ${known.join(', ')}; leave it out`
  return 'expected only fields of the contract; leave it out'
}

function topOf(path: readonly PropertyKey[], whole: string): string {
  // In a list the first key is a position; the field that is meant comes after it.
  const [first, second] = path
  const top = typeof first === 'number' && second !== undefined ? second : first
  return top === undefined ? whole : showName(String(top))
}

/** The same value without the fields that a closed object does not have; what is not described is kept as it is. */
function withKnownFields(schema: z.ZodType, value: unknown): unknown {
  if (Array.isArray(value)) {
    const [, element] = schemasAlong(schema, [0])
    return element === undefined ? value : value.map((one) => withKnownFields(element, one))
  }
  const fields = fieldsOf(schema)
  if (fields === undefined || !isObject(value)) return value
  const entries = Object.entries(value).flatMap(([name, one]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field !== undefined) return [[name, withKnownFields(field, one)] as const]
    return isClosed(schema) ? [] : [[name, one] as const]
  })
  return Object.fromEntries(entries)
}

/** The schemas that a path leads to, from the whole to the place itself; ends early where a place has none of its own. */
function schemasAlong(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType[] {
  const along = [schema]
  let at: z.ZodType | undefined = schema
  for (const key of path) {
    at = childOf(at, key)
    if (at === undefined) return along
    along.push(at)
  }
  return along
}

/** The schema of a place; undefined where the schema says nothing about it. */
export function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  const along = schemasAlong(schema, path)
  return along.length === path.length + 1 ? along.at(-1) : undefined
}

/** The fields of an object schema; undefined for any other. */
export function fieldsOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const bare = bareSchema(schema)
  return bare instanceof z.ZodObject ? (bare.shape as Readonly<Record<string, z.ZodType>>) : undefined
}

/** Whether an object schema refuses fields that it does not have. */
function isClosed(schema: z.ZodType): boolean {
  const bare = bareSchema(schema)
  return bare instanceof z.ZodObject && bare.def.catchall instanceof z.ZodNever
}

function childOf(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  const bare = bareSchema(schema)
  if (bare instanceof z.ZodObject) {
    const shape = bare.shape as Record<PropertyKey, z.ZodType>
    return Object.hasOwn(shape, key) ? shape[key] : undefined
  }
  if (bare instanceof z.ZodArray) return bare.element as z.ZodType
  if (bare instanceof z.ZodRecord) return bare.valueType as z.ZodType
  if (bare instanceof z.ZodPipe) return childOf(bare.out as z.ZodType, key)
  if (bare instanceof z.ZodUnion) {
    for (const option of bare.options) {
      const child = childOf(option as z.ZodType, key)
      if (child !== undefined) return child
    }
  }
  return undefined
}
