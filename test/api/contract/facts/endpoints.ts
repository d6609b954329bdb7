import type { EndpointName } from '../../../../src/api/contract/endpoints.ts'
import type { CredentialsFact, EndpointFact, LimitFact, ParameterFact, Resource } from './fact.ts'

type Method = EndpointFact['method']

const stack = (endpoint: EndpointName, method: Method, path: string, body?: Resource): EndpointFact => ({
  about: 'endpoint',
  endpoint,
  method,
  base: 'base_url',
  path,
  rateLimited: true,
  ...(body === undefined ? {} : { body }),
})

const rule = (endpoint: EndpointName, method: Method, path: string, body?: Resource): EndpointFact => ({
  ...stack(endpoint, method, path, body),
  credentialsInQuery: true,
})

export const endpointFacts: readonly EndpointFact[] = [
  rule('createRule', 'POST', '/api/tilerules/', 'rule'),
  rule('listRules', 'GET', '/api/tilerules/'),
  rule('getRule', 'GET', '/api/tilerules/[Rule ID]'),
  rule('updateRule', 'PUT', '/api/tilerules/[Rule ID]', 'rule'),
  rule('deleteRule', 'DELETE', '/api/tilerules/[Rule ID]'),
  rule('applyRule', 'PUT', '/api/tilerules/[Rule ID]/apply'),
  stack('listViews', 'GET', '/api/moderationviews'),
  stack('createView', 'POST', '/api/moderationviews', 'view'),
  stack('getView', 'GET', '/api/moderationviews/:moderationviewId'),
  stack('updateView', 'PUT', '/api/moderationviews/:moderationviewId', 'view'),
  stack('deleteView', 'DELETE', '/api/moderationviews/:moderationviewId'),
  stack('listUsers', 'GET', '/api/users'),
  stack('getUser', 'GET', '/api/users/:userId'),
  stack('updateUser', 'PUT', '/api/users/:userId', 'user'),
  stack('deleteUser', 'DELETE', '/api/users/:userId'),
  stack('listTerms', 'GET', '/api/terms'),
  stack('createTerm', 'POST', '/api/terms', 'term'),
  stack('getTerm', 'GET', '/api/terms/:termId'),
  stack('updateTerm', 'PUT', '/api/terms/:termId', 'term'),
  stack('deleteTerm', 'DELETE', '/api/terms/:termId'),
  {
    about: 'endpoint',
    endpoint: 'upsertProducts',
    method: 'POST',
    base: 'api_url',
    path: '/v1/products/upsert',
    body: 'product',
  },
  {
    about: 'endpoint',
    endpoint: 'setConsent',
    method: 'POST',
    base: 'api_url',
    path: '/api/v1/customers/consent/<email>/<consent_flag>',
  },
  {
    about: 'endpoint',
    endpoint: 'askIntent',
    method: 'POST',
    base: 'lim_url',
    path: '/api',
    body: 'intent-request',
  },
]

const inPath = (parameter: string, ...names: EndpointName[]): ParameterFact[] =>
  names.map((endpoint) => ({
    about: 'parameter',
    endpoint,
    parameter,
    in: 'path',
    type: 'integer',
    required: true,
  }))

const paging = (endpoint: EndpointName): ParameterFact[] => [
  {
    about: 'parameter',
    endpoint,
    parameter: 'page',
    in: 'query',
    type: 'integer',
    default: 1,
    range: { min: 1 },
  },
  {
    about: 'parameter',
    endpoint,
    parameter: 'limit',
    in: 'query',
    type: 'integer',
    default: 25,
    range: { min: 1, max: 100 },
  },
]

export const parameterFacts: readonly ParameterFact[] = [
  ...inPath('moderationviewId', 'getView', 'updateView', 'deleteView'),
  ...inPath('userId', 'getUser', 'updateUser', 'deleteUser'),
  ...inPath('termId', 'getTerm', 'updateTerm', 'deleteTerm'),
  ...paging('listUsers'),
  {
    about: 'parameter',
    endpoint: 'listUsers',
    parameter: 'order_by',
    in: 'query',
    type: 'text',
    values: ['id', 'name', 'email', 'surname', 'username', 'created'],
    default: 'id',
  },
  {
    about: 'parameter',
    endpoint: 'listUsers',
    parameter: 'order_by_direction',
    in: 'query',
    type: 'text',
    values: ['asc', 'desc'],
    default: 'asc',
  },
  ...paging('listTerms'),
]

const ruleEndpoints = endpointFacts.flatMap(({ endpoint, credentialsInQuery }) =>
  credentialsInQuery ? [endpoint] : [],
)

export const credentialsFacts: readonly CredentialsFact[] = [
  {
    about: 'credentials',
    interface: 'Content-aggregation API',
    endpoints: ruleEndpoints,
    mechanism: 'query',
    names: ['access_token', 'stack'],
  },
  {
    about: 'credentials',
    interface: 'Product upsert',
    endpoints: ['upsertProducts'],
    mechanism: 'basic, empty user',
    names: ['API_PRODUCTS'],
  },
  {
    about: 'credentials',
    interface: 'Marketing consent',
    endpoints: ['setConsent'],
    mechanism: 'basic, empty user',
    names: [],
  },
  {
    about: 'credentials',
    interface: 'Shopper intent',
    endpoints: ['askIntent'],
    mechanism: 'bearer',
    names: ['API_LIM'],
  },
]

export const limitFacts: readonly LimitFact[] = [
  { about: 'limit', limit: 'Payload size', appliesTo: ['upsertProducts'], max: 2, unit: 'MB' },
  { about: 'limit', limit: 'Items per upsert call', appliesTo: ['upsertProducts'] },
  { about: 'limit', limit: 'Update frequency', appliesTo: ['upsertProducts'] },
  { about: 'limit', limit: 'limit', appliesTo: ['listUsers', 'listTerms'], default: 25, max: 100 },
  { about: 'limit', limit: 'page', appliesTo: ['listUsers', 'listTerms'], default: 1 },
  { about: 'limit', limit: 'maxAgentRecommendations', appliesTo: ['askIntent'], default: 3, min: 1, max: 20 },
]
