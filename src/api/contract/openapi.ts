import { type ApiGroup, type Endpoint, type EndpointName, endpoints } from './endpoints.ts'
import { exampleBodies } from './examples.ts'
import { componentSchemas, type JsonSchema, jsonSchemaOf, schemaOrReference } from './json-schema.ts'
import {
  commonErrorResponses,
  errorSchemas,
  headers,
  rateLimitHeaders,
  refusedResponse,
  securitySchemes,
  stackErrorReferences,
  stackErrorResponses,
  upsertErrorResponses,
} from './openapi-parts.ts'

/** The three base addresses: `catalog` serves products and consents. */
export type BaseName = 'stack' | 'catalog' | 'intent'

export interface OpenApiOptions {
  /** Of the program that serves or describes the contract. */
  version: string
  /** Where the groups are served; without an address the reader fills it in. */
  servers?: Partial<Record<BaseName, string>>
}

const bases: Record<ApiGroup, BaseName> = {
  products: 'catalog',
  consent: 'catalog',
  intent: 'intent',
  stack: 'stack',
}

/** What the contract calls the base addresses. */
const placeholders: Record<BaseName, string> = { stack: 'base_url', catalog: 'api_url', intent: 'lim_url' }

const tagNames: Record<string, string> = {
  '/api/tilerules': 'Automation rules',
  '/api/moderationviews': 'Moderation views',
  '/api/users': 'Users',
  '/api/terms': 'Terms',
}

/** The whole contract as an OpenAPI 3.1 document, for viewers and generators. */
export function buildOpenApi({ version, servers = {} }: OpenApiOptions): Record<string, unknown> {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Catalog, consent, shopper-intent and content-aggregation APIs',
      version,
      description:
        'Where the service shows nothing of a field or an answer, any JSON is accepted and kept. Bodies are JSON.',
    },
    tags: ['Products', 'Consent', 'Shopper intent', ...Object.values(tagNames)].map((name) => ({ name })),
    paths: buildPaths(servers),
    components: {
      schemas: { ...componentSchemas(), ...errorSchemas },
      responses: stackErrorResponses,
      headers,
      securitySchemes,
    },
  }
}

function buildPaths(servers: Partial<Record<BaseName, string>>): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of Object.values<Endpoint>(endpoints)) {
    const base = bases[endpoint.group]
    const item = paths[endpoint.path] ?? { servers: [serverOf(base, servers[base])] }
    item[endpoint.method.toLowerCase()] = buildOperation(endpoint)
    paths[endpoint.path] = item
  }
  return paths
}

function serverOf(base: BaseName, url: string | undefined): object {
  if (url !== undefined) return { url }
  const variable = placeholders[base]
  const description = `Base address of the ${base} API`
  return {
    url: `{${variable}}`,
    variables: { [variable]: { default: `https://${base}.example`, description } },
  }
}

function buildOperation(endpoint: Endpoint): object {
  const description = notesOn(endpoint)
  const parameters = [...parametersIn('path', endpoint.params), ...parametersIn('query', endpoint.query)]
  return {
    operationId: endpoint.name,
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf(endpoint),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(endpoint.body === undefined ? {} : { requestBody: requestBodyOf(endpoint.body, endpoint.name) }),
    responses: responsesOf(endpoint),
  }
}

function tagOf({ group, path }: Endpoint): string {
  if (group === 'products') return 'Products'
  if (group === 'consent') return 'Consent'
  if (group === 'intent') return 'Shopper intent'
  const prefix = Object.keys(tagNames).find((start) => path.startsWith(start))
  return tagNames[prefix ?? ''] ?? 'Other'
}

const notes: Partial<Record<string, string>> = {
  upsertProducts:
    'A body has at most 2 MB; there is no other limit on the number of products. Send the whole catalog once, then every product that changed: prices and availabilities at once, the rest may wait.',
  setConsent:
    'No body. The e-mail address is percent-encoded in the path. Some services lack the leading /api of the path.',
  askIntent: 'For backend services: the caller decides when to ask and whether to ask again.',
  applyRule: 'Neither the body of the request nor that of the answer is described.',
  updateRule: 'The body is not described: any part of what a rule is created with.',
}

function notesOn(endpoint: Endpoint): string | undefined {
  const limit = endpoint.group === 'stack' ? 'Rate limited. Access scope: User.' : undefined
  const own = notes[endpoint.name]
  const both = [own, limit].filter((note) => note !== undefined)
  return both.length === 0 ? undefined : both.join(' ')
}

function parametersIn(place: 'path' | 'query', schema: Endpoint['query']): object[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...json } = jsonSchemaOf(field as NonNullable<Endpoint['body']>['schema'])
    return {
      name,
      in: place,
      required: place === 'path',
      ...(description === undefined ? {} : { description }),
      schema: json,
    }
  })
}

/** Schemes within one object hold together; an empty object stands for "none needed". */
function securityOf({ credentials }: Endpoint): object[] {
  const stack = { accessToken: [], stackName: [] }
  switch (credentials) {
    case 'products-token':
      return [{ productsToken: [] }]
    case 'email-token':
      return [{ emailToken: [] }]
    case 'intent-token':
      return [{ intentToken: [] }]
    case 'stack-required':
      return [stack]
    case 'stack':
      return [stack, {}]
    default:
      return credentials satisfies never
  }
}

function requestBodyOf({ schema, many }: NonNullable<Endpoint['body']>, name: string): object {
  const example = exampleBodies[name as EndpointName]
  const content = { schema: oneOrMany(schemaOrReference(schema), many), ...(example ? { example } : {}) }
  return { required: true, content: { 'application/json': content } }
}

function oneOrMany(schema: JsonSchema, many: true | undefined): JsonSchema {
  return many ? { type: 'array', items: schema } : schema
}

function responsesOf(endpoint: Endpoint): Record<string, unknown> {
  const { group, result } = endpoint
  if (group === 'stack') return { 200: stackSuccess(result), ...stackErrorReferences }
  const errors = group === 'products' ? upsertErrorResponses : { ...refusedResponse, ...commonErrorResponses }
  const schema = result === undefined ? {} : schemaOrReference(result.schema)
  return { 200: { description: 'Done', content: { 'application/json': { schema } } }, ...errors }
}

/** `{ data, errors }`; lists may say how many there are, in texts. */
function stackSuccess(result: Endpoint['result']): object {
  const data =
    result === undefined
      ? { description: 'Not described by the contract' }
      : oneOrMany(schemaOrReference(result.schema), result.many)
  const total = { type: 'string', pattern: '^\\d+$' }
  const count = { type: 'object', properties: { results_total: total, total } }
  const schema = {
    type: 'object',
    properties: {
      data,
      errors: { type: 'array', items: { $ref: '#/components/schemas/StackError' } },
      ...(result?.many ? { count } : {}),
    },
    required: ['data'],
  }
  return { description: 'Done', headers: rateLimitHeaders, content: { 'application/json': { schema } } }
}
