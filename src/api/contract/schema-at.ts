import { z } from 'zod'
import { bareSchema } from './fields.ts'

/** The schemas that a path leads to, from the whole to the place itself; ends early where a place has none of its own. */
export function schemasAlong(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType[] {
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
export function isClosed(schema: z.ZodType): boolean {
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
