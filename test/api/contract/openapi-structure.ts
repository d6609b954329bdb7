import { z } from 'zod'

/** The parts of OpenAPI 3.1 that the document uses, closed: a misspelt word or a field in the wrong place is refused. */

const reference = z.strictObject({ $ref: z.string().startsWith('#/components/') })
const jsonSchema = z.record(z.string(), z.unknown())

const server = z.strictObject({
  url: z.string(),
  description: z.string().optional(),
  variables: z
    .record(z.string(), z.strictObject({ default: z.string(), description: z.string().optional() }))
    .optional(),
})

const parameter = z.strictObject({
  name: z.string().min(1),
  in: z.enum(['path', 'query']),
  description: z.string().optional(),
  required: z.boolean(),
  schema: jsonSchema,
})

const content = z.record(
  z.string().regex(/^[a-z]+\/[a-z-]+$/),
  z.strictObject({ schema: jsonSchema, example: z.json().optional() }),
)
const header = z.strictObject({ description: z.string(), schema: jsonSchema })
const response = z.strictObject({
  description: z.string().min(1),
  headers: z.record(z.string(), z.union([reference, header])).optional(),
  content: content.optional(),
})

const operation = z.strictObject({
  operationId: z.string().regex(/^\w+$/),
  tags: z.array(z.string()),
  summary: z.string().min(1),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(parameter).optional(),
  requestBody: z.strictObject({ required: z.boolean(), content }).optional(),
  responses: z.record(z.string().regex(/^([1-5]\d\d|[1-5]XX)$/), z.union([reference, response])),
})

const pathItem = z.strictObject({
  servers: z.array(server),
  get: operation.optional(),
  post: operation.optional(),
  put: operation.optional(),
  delete: operation.optional(),
})

const securityScheme = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('http'),
    scheme: z.enum(['basic', 'bearer']),
    description: z.string(),
  }),
  z.strictObject({
    type: z.literal('apiKey'),
    in: z.literal('query'),
    name: z.string(),
    description: z.string(),
  }),
])

const componentName = z.string().regex(/^[\w.-]+$/)

export const openApiStructure = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.strictObject({ title: z.string(), version: z.string(), description: z.string() }),
  tags: z.array(z.strictObject({ name: z.string() })),
  paths: z.record(z.string().startsWith('/'), pathItem),
  components: z.strictObject({
    schemas: z.record(componentName, jsonSchema),
    responses: z.record(componentName, response),
    headers: z.record(componentName, header),
    securitySchemes: z.record(componentName, securityScheme),
  }),
})

export type OpenApi = z.infer<typeof openApiStructure>
export type Operation = z.infer<typeof operation>

/** Every operation with the path and method it is reached by. */
export function operationsOf(document: OpenApi): { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, { servers: _, ...methods }]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation === undefined ? [] : [{ path, method: method.toUpperCase(), operation }],
    ),
  )
}

/** The same schemas as a stand-alone JSON Schema whose root is one of them. */
export function standAlone(document: OpenApi, schema: Record<string, unknown>): z.core.JSONSchema.JSONSchema {
  const $defs = document.components.schemas
  const text = JSON.stringify({ ...schema, $defs }).replaceAll('#/components/schemas/', '#/$defs/')
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...JSON.parse(text) }
}
