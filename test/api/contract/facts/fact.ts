import type { EndpointName } from '../../../../src/api/contract/endpoints.ts'

/** What the contract says, as data: held against the contract itself, the OpenAPI document, the schemas, the sandbox. */
export type Fact = FieldFact | ParameterFact | TermTypeFact | EndpointFact | CredentialsFact | LimitFact

export type Resource =
  | 'rule'
  | 'view'
  | 'user'
  | 'term'
  | 'product'
  | 'variation'
  | 'sku'
  | 'intent-request'
  | 'intent-response'
  | 'recommendation'
  | 'recommended-sku'

export type FactType =
  | 'text'
  | 'url'
  | 'integer'
  | 'number'
  | 'flag'
  | 'boolean'
  | 'boolean or text'
  | 'object'
  | 'list'
  | 'texts'
  | 'urls'
  | 'objects'
  | 'map'
  | 'text or list'
  | 'timestamp'

/** Of a text: what it must look like. */
export type TextForm =
  | 'filled'
  | 'email'
  | 'time zone'
  | 'date-time'
  | 'date'
  | 'decimal'
  | 'integer'
  | 'categories'
  | 'groups'
  | 'country'
  | 'language'

interface Restrictions {
  type: FactType
  form?: TextForm
  nullable?: true
  /** The only ones. */
  values?: readonly (string | number)[]
  /** Named by the contract, which allows others. */
  seen?: readonly (string | number)[]
  /** Our own examples. */
  samples?: readonly unknown[]
  default?: string | number | boolean
  range?: { min?: number; max?: number }
}

/** A field of a resource. `read`, `create`, `update`: whether it occurs there. */
export interface FieldFact extends Restrictions {
  about: 'field'
  resource: Resource
  field: string
  read?: true
  create?: true
  update?: true
  /** On creation. `shopify`: of Shopify merchants. */
  required?: true | 'shopify' | { whenType: readonly string[] }
  /** It may not be there for others. */
  onlyFor?: { network: string; types: readonly string[] }
  /** What else the contract names in connection with it. */
  words?: readonly string[]
}

export interface ParameterFact extends Restrictions {
  about: 'parameter'
  endpoint: EndpointName
  parameter: string
  in: 'path' | 'query'
  required?: true
}

export interface TermTypeFact {
  about: 'term type'
  type: string
  networks: readonly string[] | 'not listed'
}

export interface EndpointFact {
  about: 'endpoint'
  endpoint: EndpointName
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  base: 'base_url' | 'api_url' | 'lim_url'
  /** As the contract writes it. */
  path: string
  credentialsInQuery?: true
  body?: Resource
  rateLimited?: true
}

export interface CredentialsFact {
  about: 'credentials'
  interface: string
  endpoints: readonly EndpointName[]
  mechanism: 'query' | 'basic, empty user' | 'bearer'
  names: readonly string[]
}

export interface LimitFact {
  about: 'limit'
  limit: string
  appliesTo: readonly EndpointName[]
  default?: number
  min?: number
  max?: number
  /** In bytes. */
  unit?: 'MB'
}
