import { z } from 'zod'

/**
 * What a value of a field is, beyond its JSON type. Recorded as metadata of the schema, so that whoever receives other
 * encodings than JSON (form fields, query parameters) knows what to make of a text.
 */
export type WireKind = 'text' | 'integer' | 'boolean' | 'flag' | 'list' | 'object' | 'id' | 'timestamp'

declare module 'zod' {
  interface GlobalMeta {
    kind?: WireKind
  }
}

export const text = (description?: string) => z.string().meta(metaOf('text', description))

/** Text that says something. */
export const filledText = (description?: string) => z.string().min(1).meta(metaOf('text', description))

export const integer = (description?: string) => z.int().meta(metaOf('integer', description))

/** `true` or `false`; the contract also shows the numbers 1 and 0. */
export const boolean = (description?: string) =>
  z.union([z.boolean(), z.literal([0, 1])]).meta(metaOf('boolean', description))

/** The number 1 or 0. */
export const flag = (description?: string) => z.literal([0, 1]).meta(metaOf('flag', description))

export const oneOf = <const Values extends readonly string[]>(values: Values, description?: string) =>
  z.enum(values).meta(metaOf('text', description))

/** Several values in one text, comma-separated. */
export const commaSeparated = (description: string) =>
  z.string().meta(metaOf('text', `${description}; comma-separated`))

/** Elements are not described by the contract: any JSON value is kept. */
export const list = (description?: string) => z.array(z.json()).meta(metaOf('list', description))

/** Servers give ids as numbers or as texts of digits; read as a number where it is one. */
export const numericId = (description?: string) =>
  z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).meta(metaOf('id', description))

/** ISO 8601 or Unix seconds: the contract does not say, so it is kept as it comes. */
export const timestamp = (description?: string) =>
  z.union([z.string(), z.number()]).nullable().meta(metaOf('timestamp', description))

/** What the field's values are; undefined for a schema that was not made here. */
export function kindOf(schema: z.ZodType): WireKind | undefined {
  const bare = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema
  return schema.meta()?.kind ?? bare.meta()?.kind
}

function metaOf(kind: WireKind, description: string | undefined): { kind: WireKind; description?: string } {
  return description === undefined ? { kind } : { kind, description }
}
