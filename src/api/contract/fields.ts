import { z } from 'zod'
import { jsonValue } from './json-value.ts'
import type { ValueKind } from './kinds.ts'

/**
 * What a value of a field is, beyond its JSON type. Recorded as metadata of the schema, so that whoever receives other
 * encodings than JSON (form fields, query parameters) knows what to make of a text.
 */
export type WireKind =
  | 'text'
  | 'comma-separated'
  | 'integer'
  | 'boolean'
  | 'flag'
  | 'list'
  | 'object'
  | 'id'
  | 'timestamp'

declare module 'zod' {
  interface GlobalMeta {
    kind?: WireKind
    /** Of a field of a product: what a cell must become to fit it. */
    fieldKind?: ValueKind
    /** For messages: what is accepted, where the schema alone does not say it ("an e-mail address"). */
    expected?: string
    /** For messages: what to do about a value that is not accepted. */
    remedy?: string
    /** Never shown in messages. */
    secret?: true
    /** Of an object: fields that exist but cannot be written here, and why. */
    unwritable?: Readonly<Record<string, string>>
  }
}

/** Metadata that is of no use outside this program. */
export const ownMetadata = ['kind', 'fieldKind', 'expected', 'remedy', 'secret', 'unwritable'] as const

export const text = (description?: string) => z.string().meta(metaOf('text', description))

/** Text that says something. */
export const filledText = (description?: string) => z.string().min(1).meta(metaOf('text', description))

export const integer = (description?: string) => z.int().meta(metaOf('integer', description))

/** `true` or `false`; the contract also shows the numbers 1 and 0. */
export const boolean = (description?: string) =>
  z
    .union([z.boolean(), z.literal([0, 1])])
    .meta({ ...metaOf('boolean', description), expected: 'true, false, 1 or 0' })

/** `true` or `false` and nothing else. */
export const plainBoolean = (description?: string) => z.boolean().meta(metaOf('boolean', description))

/** The number 1 or 0. */
export const flag = (description?: string) => z.literal([0, 1]).meta(metaOf('flag', description))

export const oneOf = <const Values extends readonly string[]>(values: Values, description?: string) =>
  z.enum(values).meta(metaOf('text', description))

/** Several values in one text, comma-separated. */
export const commaSeparated = (description: string) =>
  z.string().meta({
    ...metaOf('comma-separated', `${description}; comma-separated`),
    expected: 'a text of comma-separated values',
  })

/** Elements are not described by the contract: any JSON value is kept. */
export const list = (description?: string) => z.array(jsonValue).meta(metaOf('list', description))

/** Servers give ids as numbers or as texts of digits: read as a number, if it is one that stays exact. */
export const numericId = (description?: string) =>
  z
    .union([
      z.int(),
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
    ])
    .meta({ ...metaOf('id', description), expected: 'an id: a whole number' })

/** ISO 8601 or Unix seconds: the contract does not say, so it is kept as it comes. */
export const timestamp = (description?: string) =>
  z
    .union([z.string(), z.number()])
    .nullable()
    .meta({ ...metaOf('timestamp', description), expected: 'a date-time or Unix seconds' })

/** What the field's values are; undefined for a schema that was not made here. */
export function kindOf(schema: z.ZodType): WireKind | undefined {
  return metadataOf(schema).kind
}

/** The metadata of a field, also where it stands below `optional`, `nullable` or a default; outer entries win. */
export function metadataOf(schema: z.ZodType): z.GlobalMeta {
  const inner = wrappedBy(schema)
  return { ...(inner === undefined ? {} : metadataOf(inner)), ...schema.meta() }
}

/** Without `optional`, `nullable`, `default` and the like. */
export function bareSchema(schema: z.ZodType): z.ZodType {
  const inner = wrappedBy(schema)
  return inner === undefined ? schema : bareSchema(inner)
}

function wrappedBy(schema: z.ZodType): z.ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  ) {
    return schema.unwrap() as z.ZodType
  }
  return undefined
}

function metaOf(kind: WireKind, description: string | undefined): { kind: WireKind; description?: string } {
  return description === undefined ? { kind } : { kind, description }
}
