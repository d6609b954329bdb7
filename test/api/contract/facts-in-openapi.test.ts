import { describe, expect, it } from 'vitest'
import { buildOpenApi } from '../../../src/api/contract/openapi.ts'
import type {
  CredentialsFact,
  EndpointFact,
  FactType,
  FieldFact,
  LimitFact,
  ParameterFact,
  Resource,
} from './facts/fact.ts'
import { facts, nameOf } from './facts/facts.ts'
import { openApiStructure, operationsOf } from './openapi-structure.ts'

type Json = Readonly<Record<string, unknown>>

const document = openApiStructure.parse(buildOpenApi({ version: '1' }))
const operations = operationsOf(document)

const components: Record<Resource, { read?: string; create?: string; update?: string }> = {
  rule: { create: 'RuleCreate', update: 'RuleUpdate', read: 'Rule' },
  view: { create: 'ModerationViewWrite', update: 'ModerationViewWrite', read: 'ModerationView' },
  user: { update: 'UserUpdate', read: 'User' },
  term: { create: 'TermCreate', update: 'TermUpdate', read: 'Term' },
  product: { create: 'Product' },
  variation: { create: 'Variation' },
  sku: { create: 'Sku' },
  'intent-request': { create: 'IntentRequest' },
  'intent-response': { read: 'IntentResponse' },
  recommendation: { read: 'Recommendation' },
  'recommended-sku': { read: 'RecommendedSku' },
}

/** JSON types that the fact's type must allow; those of a record that is read may be more. */
const jsonTypes: Record<FactType, readonly string[]> = {
  text: ['string'],
  url: ['string'],
  integer: ['integer'],
  number: ['number'],
  flag: ['integer'],
  boolean: ['boolean'],
  'boolean or text': ['boolean', 'string'],
  object: ['object'],
  map: ['object'],
  list: ['array'],
  texts: ['array'],
  urls: ['array'],
  objects: ['array'],
  'text or list': ['string', 'array'],
  timestamp: ['string', 'number'],
}

function componentOf(name: string): Json {
  return document.components.schemas[name] ?? {}
}

function followed(schema: Json): Json {
  const target = schema.$ref
  return typeof target === 'string' ? { ...componentOf(target.split('/').at(-1) ?? ''), ...schema } : schema
}

/** The schema and its alternatives. */
function branches(schema: Json): Json[] {
  const own = followed(schema)
  const inner = Array.isArray(own.anyOf) ? (own.anyOf as Json[]).flatMap(branches) : []
  return [own, ...inner]
}

function typesOf(schema: Json): Set<unknown> {
  return new Set(branches(schema).flatMap(({ type }) => (Array.isArray(type) ? type : [type])))
}

function found(schema: Json, word: string): unknown[] {
  return branches(schema).flatMap((one) => (one[word] === undefined ? [] : [one[word]]))
}

function propertyOf(component: string, field: string): Json | undefined {
  const properties = componentOf(component).properties as Record<string, Json> | undefined
  return properties === undefined || !Object.hasOwn(properties, field) ? undefined : properties[field]
}

function expectRestrictions(schema: Json, fact: FieldFact | ParameterFact) {
  for (const type of jsonTypes[fact.type]) expect([...typesOf(schema)]).toContain(type)
  if (fact.nullable) expect([...typesOf(schema)]).toContain('null')
  if (fact.default !== undefined) expect(found(schema, 'default')).toEqual([fact.default])
  if (fact.range?.min !== undefined) expect(found(schema, 'minimum')).toEqual([fact.range.min])
  if (fact.range?.max !== undefined) expect(found(schema, 'maximum')).toEqual([fact.range.max])
  if (fact.values !== undefined && fact.form === undefined)
    expect(found(schema, 'enum')).toEqual([fact.values])
}

function isField(fact: FieldFact) {
  const { create, update, read } = components[fact.resource]
  const required = (name: string) => (componentOf(name).required ?? []) as unknown[]
  for (const [component, isThere] of [
    [create, fact.create],
    [update, fact.update],
  ] as const) {
    if (component === undefined) continue
    const schema = propertyOf(component, fact.field)
    expect(schema !== undefined, `${component}.${fact.field}`).toBe(isThere === true)
    if (schema === undefined) continue
    expectRestrictions(schema, fact)
    expect(componentOf(component).additionalProperties).toBe(false)
    if (component === create) expect(required(component).includes(fact.field)).toBe(fact.required === true)
    else expect(required(component)).toEqual([])
    for (const type of typesOf(schema)) {
      const allowed = [
        ...jsonTypes[fact.type],
        undefined,
        fact.nullable ? 'null' : undefined,
        fact.type === 'boolean' ? 'integer' : undefined,
      ]
      expect(allowed, `${component}.${fact.field}`).toContain(type)
    }
  }
  if (typeof fact.required === 'object') {
    const { description } = componentOf(create ?? '')
    expect(description).toContain(
      `${fact.field} is required when type is ${fact.required.whenType.join(', ')}`,
    )
  }
  if (fact.read && read !== undefined) {
    const schema = propertyOf(read, fact.field)
    expect(schema, `${read}.${fact.field}`).toBeDefined()
    for (const type of jsonTypes[fact.type]) expect([...typesOf(schema ?? {})]).toContain(type)
  }
}

function operationOf(name: string) {
  const entry = operations.find(({ operation }) => operation.operationId === name)
  if (entry === undefined) throw new Error(`no operation ${name}`)
  return entry
}

function isParameter(fact: ParameterFact) {
  const declared = operationOf(fact.endpoint).operation.parameters ?? []
  const parameter = declared.find(({ name }) => name === fact.parameter)
  expect(parameter).toMatchObject({ in: fact.in, required: fact.required === true })
  expectRestrictions(parameter?.schema ?? {}, fact)
}

/** `[Rule ID]`, `:userId` and `<email>` are `{ruleId}`, `{userId}` and `{email}`. */
function shapeOf(path: string): string {
  return path.replace(/\[[^\]]+\]|:\w+|<\w+>|\{\w+\}/g, '{}')
}

function isEndpoint(fact: EndpointFact) {
  const { path, method, operation } = operationOf(fact.endpoint)
  expect([method, shapeOf(path)]).toEqual([fact.method, shapeOf(fact.path)])
  expect(document.paths[path]?.servers[0]?.url).toBe(`{${fact.base}}`)
  expect(operation.requestBody?.required ?? false).toBe(fact.body !== undefined)
  if (fact.body !== undefined) {
    const { create, update } = components[fact.body]
    const expected = fact.endpoint.startsWith('update') ? update : create
    expect(JSON.stringify(operation.requestBody)).toContain(`"#/components/schemas/${expected}"`)
  }
  expect(Object.keys(operation.responses).includes('404')).toBe(fact.base === 'base_url')
  if (fact.rateLimited) expect(operation.description).toContain('Rate limited')
}

function hasCredentials({ endpoints, mechanism, names }: CredentialsFact) {
  for (const name of endpoints) {
    const { security } = operationOf(name).operation
    expect(security).toHaveLength(1)
    const schemes = Object.keys(security[0] ?? {}).map(
      (scheme) => document.components.securitySchemes[scheme],
    )
    const described = JSON.stringify(schemes)
    if (mechanism === 'query') {
      expect(schemes).toMatchObject(names.map((one) => ({ type: 'apiKey', in: 'query', name: one })))
      continue
    }
    expect(schemes).toMatchObject([{ type: 'http', scheme: mechanism === 'bearer' ? 'bearer' : 'basic' }])
    if (mechanism !== 'bearer') expect(described).toContain('Empty user name')
    for (const kind of names) expect(described).toContain(kind)
  }
}

function hasLimit({ limit, appliesTo, unit, ...fact }: LimitFact) {
  for (const name of appliesTo) {
    const { operation } = operationOf(name)
    if (unit !== undefined) {
      expect(operation.description).toContain(`at most ${fact.max} ${unit}`)
      expect(Object.keys(operation.responses)).toContain('413')
      continue
    }
    if (fact.default === undefined) continue
    const parameter = operation.parameters?.find((one) => one.name === limit)?.schema
    const schema = parameter ?? propertyOf('IntentRequest', limit) ?? {}
    expect(found(schema, 'default')).toEqual([fact.default])
    if (fact.max !== undefined) expect(found(schema, 'maximum')).toEqual([fact.max])
    if (fact.min !== undefined) expect(found(schema, 'minimum')).toEqual([fact.min])
  }
}

describe('the OpenAPI document says', () => {
  it.each(facts.map((fact) => [nameOf(fact), fact] as const))('%s', (_, fact) => {
    if (fact.about === 'field') isField(fact)
    else if (fact.about === 'parameter') isParameter(fact)
    else if (fact.about === 'endpoint') isEndpoint(fact)
    else if (fact.about === 'credentials') hasCredentials(fact)
    else if (fact.about === 'limit') hasLimit(fact)
    else {
      const networks = typeof fact.networks === 'string' ? 'any network' : fact.networks.join(', ')
      expect(componentOf('TermCreate').description).toContain(`${fact.type}: ${networks}`)
    }
  })

  it('no field, parameter or operation that is not among the facts', () => {
    for (const [resource, { read, create, update }] of Object.entries(components)) {
      for (const component of [read, create, update]) {
        const properties = Object.keys((componentOf(component ?? '').properties ?? {}) as Json)
        const known: string[] = facts.flatMap((fact) =>
          fact.about === 'field' && fact.resource === resource ? [fact.field] : [],
        )
        // The fields of a rule that is read are not shown; it must have an id to be asked for.
        for (const name of properties)
          expect([...known, ...(component === 'Rule' ? ['id'] : [])], component).toContain(name)
      }
    }
    const named = facts.flatMap((fact) => (fact.about === 'endpoint' ? [fact.endpoint] : []))
    expect(operations.map(({ operation }) => operation.operationId).toSorted()).toEqual(named.toSorted())
    for (const { operation } of operations) {
      const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
      const known = facts.flatMap((fact) =>
        fact.about === 'parameter' && fact.endpoint === operation.operationId ? [fact.parameter] : [],
      )
      for (const { name } of inQuery) expect(known).toContain(name)
    }
  })
})
