import type { JsonSchema } from './json-schema.ts'

/** The components of the OpenAPI document that are not schemas of the contract. */

export const errorSchemas: Record<string, JsonSchema> = {
  StackError: {
    type: 'object',
    description: 'One reason for a refusal, as servers are seen to give it',
    properties: {
      message: { type: 'string' },
      code: { type: 'integer', description: 'The status' },
      error_code: { type: 'integer' },
      message_id: { type: 'string', examples: ['term:not_found'] },
    },
  },
  StackErrorAnswer: {
    type: 'object',
    properties: {
      data: { type: 'array', maxItems: 0 },
      errors: { type: 'array', items: { $ref: '#/components/schemas/StackError' } },
    },
    required: ['errors'],
  },
  UpsertErrorAnswer: {
    type: 'object',
    description: 'Names the products that were refused, each with its reason',
    properties: {
      type: { type: 'string', examples: ['has_errors'] },
      message: { type: 'string' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          properties: { product_id: { type: 'string' }, errors: { type: 'string' } },
        },
      },
    },
  },
  ErrorAnswer: {
    description: 'The contract does not show the body of an error: any JSON, or a text',
  },
}

export const headers = {
  'X-API-Remaining-Requests': {
    description: 'Requests that are left in the present window',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-API-Remaining-Requests-Reset': {
    description: 'Seconds until the window begins anew',
    schema: { type: 'integer', minimum: 0 },
  },
} as const

export const rateLimitHeaders = Object.fromEntries(
  Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

export const securitySchemes = {
  productsToken: {
    type: 'http',
    scheme: 'basic',
    description: 'Empty user name; the password is a token of kind API_PRODUCTS',
  },
  emailToken: {
    type: 'http',
    scheme: 'basic',
    description: 'Empty user name; the password is an Email token',
  },
  intentToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A token of kind API_LIM. It belongs to one merchant; in a multi-market set-up use the token of the master account. No such token: shopper intent is not enabled for the account',
  },
  accessToken: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description: 'Access scope: User',
  },
  stackName: { type: 'apiKey', in: 'query', name: 'stack', description: 'Name of the Stack' },
} as const

const stackStatuses = {
  400: 'Something in the request is refused; each reason names its field',
  401: 'The credentials are missing or wrong',
  403: 'Not allowed; with no requests remaining the same as 429',
  404: 'There is none of this id',
  409: 'In conflict with what exists',
  429: 'Too many requests: wait for the seconds that the headers name',
  500: 'The service failed',
  503: 'The service is not available',
} as const

/** Error responses of the Stack: every one has the envelope and the headers of the rate limit. */
export const stackErrorResponses = Object.fromEntries(
  Object.entries(stackStatuses).map(([status, description]) => [
    `Stack${status}`,
    {
      description,
      headers: rateLimitHeaders,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/StackErrorAnswer' } } },
    },
  ]),
)

export const stackErrorReferences = Object.fromEntries(
  Object.keys(stackStatuses).map((status) => [status, { $ref: `#/components/responses/Stack${status}` }]),
)

const anyError = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorAnswer' } } },
})

export const commonErrorResponses = {
  401: anyError('The token is missing, wrong, or of another kind'),
  429: anyError('Too many requests'),
  '5XX': anyError('The service failed or is not available'),
}

export const upsertErrorResponses = {
  // Servers are seen to label this JSON as plain text.
  400: {
    description: 'Some products are refused; those not named may be sent again',
    content: Object.fromEntries(
      ['application/json', 'text/plain'].map((type) => [
        type,
        { schema: { $ref: '#/components/schemas/UpsertErrorAnswer' } },
      ]),
    ),
  },
  ...commonErrorResponses,
  413: anyError('The body is larger than 2 MB'),
}

export const refusedResponse = { 400: anyError('Something in the request is refused') }
