import { z } from 'zod'
import { configSchema } from './schema.ts'

const productFieldReference = '#/definitions/productField'

/**
 * JSON Schema of the configuration file, for editors. Draft 7, which all YAML editors know. With the names of the
 * product fields, editors complete and check them too.
 */
export function configJsonSchema(productFields: readonly string[]): Record<string, unknown> {
  const { '~standard': _, ...schema } = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-07',
    // Our own checks carry their JSON Schema as metadata; where one has none, any value is allowed.
    unrepresentable: 'any',
    override: ({ jsonSchema, path }) => {
      if (isFieldRules(path)) jsonSchema.propertyNames = { $ref: productFieldReference }
      if (isFieldNames(path)) jsonSchema.items = { $ref: productFieldReference }
    },
  })
  const definitions = { ...(schema.definitions as object), productField: { enum: productFields } }
  return { ...schema, definitions }
}

function isFieldRules(path: readonly (string | number)[]): boolean {
  return path.at(-2) === 'properties' && path.at(-1) === 'fields'
}

function isFieldNames(path: readonly (string | number)[]): boolean {
  return path.at(-2) === 'properties' && (path.at(-1) === 'owns' || path.at(-1) === 'urgent')
}

export function configJsonSchemaText(productFields: readonly string[]): string {
  return `${JSON.stringify(configJsonSchema(productFields), null, 2)}\n`
}
