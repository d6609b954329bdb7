import { z } from 'zod'
import { ownMetadata } from './fields.ts'
import {
  intentRequestSchema,
  intentResponseSchema,
  recommendationSchema,
  recommendedSkuSchema,
} from './intent.ts'
import { moderationViewSchema, moderationViewWriteSchema } from './moderation-view.ts'
import { productSchema, skuSchema, variationSchema } from './product.ts'
import {
  actionSchema,
  conditionSchema,
  ruleCreateSchema,
  ruleSchema,
  ruleUpdateSchema,
  triggerSchema,
} from './rule.ts'
import {
  networksByType,
  termCreateSchema,
  termSchema,
  termUpdateSchema,
  typesWithSourceUser,
} from './term.ts'
import { userSchema, userUpdateSchema } from './user.ts'

export type JsonSchema = Readonly<Record<string, unknown>>

const named = {
  RuleCreate: ruleCreateSchema,
  RuleUpdate: ruleUpdateSchema,
  Rule: ruleSchema,
  Trigger: triggerSchema,
  Condition: conditionSchema,
  Action: actionSchema,
  ModerationViewWrite: moderationViewWriteSchema,
  ModerationView: moderationViewSchema,
  UserUpdate: userUpdateSchema,
  User: userSchema,
  TermCreate: termCreateSchema,
  TermUpdate: termUpdateSchema,
  Term: termSchema,
  IntentRequest: intentRequestSchema,
  IntentResponse: intentResponseSchema,
  Recommendation: recommendationSchema,
  RecommendedSku: recommendedSkuSchema,
} as const satisfies Record<string, z.ZodType>

/** Their maps are guarded before they are read: what they accept is seen from the far side. */
const namedMaps = {
  Product: productSchema,
  Sku: skuSchema,
  Variation: variationSchema,
} as const satisfies Record<string, z.ZodType>

type SchemaName = keyof typeof named | keyof typeof namedMaps

const names = new Map<z.ZodType, SchemaName>(
  Object.entries({ ...named, ...namedMaps }).map(([name, schema]) => [schema, name as SchemaName]),
)

/** A reference into the components where the schema has a name there, else the schema itself. */
export function schemaOrReference(schema: z.ZodType): JsonSchema {
  const name = names.get(schema)
  return name === undefined ? jsonSchemaOf(schema) : { $ref: referenceTo(name) }
}

/** In the form that is sent. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { ...conversion, io: 'input' })
  return json
}

/** Every named schema of the contract as JSON Schema (draft 2020-12). */
export function componentSchemas(): Record<string, JsonSchema> {
  const components = { ...convertAll(named, 'input'), ...convertAll(namedMaps, 'output') }
  return {
    ...components,
    TermCreate: { ...components.TermCreate, description: describeTermRules() },
    Term: withWrittenFields(components),
  }
}

const conversion = {
  target: 'draft-2020-12',
  unrepresentable: 'any',
  override: ({ zodSchema, jsonSchema }) => tidy(zodSchema as unknown as z.ZodType, jsonSchema),
} as const satisfies z.core.ToJSONSchemaParams

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
}

function convertAll(
  schemas: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [name, schema] of Object.entries(schemas)) registry.add(schema, { id: name })
  const converted = z.toJSONSchema(registry, { ...conversion, io, uri: referenceTo })
  const entries = Object.entries(converted.schemas).map(([name, json]) => {
    const { $schema: _, $id: __, ...schema } = json
    return [name, schema] as const
  })
  return Object.fromEntries(entries)
}

/** Takes out what is of no use to others, and says "integer" where a whole number is meant. */
function tidy(schema: z.ZodType, json: z.core.JSONSchema.BaseSchema): void {
  const kind = schema.meta()?.kind
  for (const name of ownMetadata) delete json[name]
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
  if (json.type === 'number' && json.enum?.every(Number.isInteger)) json.type = 'integer'
  if (kind === 'id' && json.anyOf?.length === 2 && json.anyOf.every((one) => !('anyOf' in one))) {
    delete json.anyOf
    Object.assign(json, { type: ['integer', 'string'], pattern: '^\\d{1,15}$' })
  }
}

/** The rules that join fields, in words: few generators read conditional schemas. */
function describeTermRules(): string {
  const rows = Object.entries(networksByType).map(
    ([type, networks]) => `${type}: ${networks === 'any' ? 'any network' : networks.join(', ')}`,
  )
  return [
    `Networks that each type exists for: ${rows.join('; ')}.`,
    `source_user_id is required when type is ${typesWithSourceUser.join(', ')}.`,
    'minimum_followers exists only for twitter terms of type search or hashtag.',
  ].join(' ')
}

/** A term comes back with what was written; servers differ in the form of it, so the client checks none of that. */
function withWrittenFields(components: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const propertiesOf = (name: string) => components[name]?.properties as Record<string, unknown> | undefined
  return { ...components.Term, properties: { ...propertiesOf('TermCreate'), ...propertiesOf('Term') } }
}
