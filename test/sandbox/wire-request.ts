import { type ApiGroup, type Endpoint, endpoints } from '../../src/api/contract/endpoints.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import type { FactRequest } from '../api/contract/facts/request.ts'
import { basic } from './harness.ts'

/** A request of a fact as it goes over the wire. */
export interface WireRequest {
  method: string
  path: string
  /** Without the credentials. */
  query: Readonly<Record<string, string>>
  /** Undefined: no body at all. */
  body: unknown
}

/** `id`: of the record that the path names, where the fact does not name one itself. */
export function toWireRequest(request: FactRequest, id: string | number = 1): WireRequest {
  const endpoint: Endpoint = endpoints[request.endpoint]
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(request.params?.[name] ?? id)),
  )
  const query = Object.entries(request.query ?? {}).map(([name, value]) => [name, String(value)] as const)
  return { method: endpoint.method, path, query: Object.fromEntries(query), body: request.body }
}

export interface WireCredentials {
  query: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
}

type Tokens = Pick<Sandbox, 'tokens' | 'stackName'>

/** What opens a group, or what looks like it and does not. */
export function credentialsFor(
  group: ApiGroup,
  { tokens, stackName }: Tokens,
  which: 'right' | 'none' | 'wrong' = 'right',
): WireCredentials {
  if (which === 'none') return { query: {}, headers: {} }
  const given = (token: string) => (which === 'right' ? token : `${token}-of-another`)
  switch (group) {
    case 'products':
      return { query: {}, headers: { authorization: basic(given(tokens.products)) } }
    case 'consent':
      return { query: {}, headers: { authorization: basic(given(tokens.email)) } }
    case 'intent':
      return { query: {}, headers: { authorization: `Bearer ${given(tokens.intent)}` } }
    case 'stack':
      return { query: { access_token: given(tokens.stack), stack: stackName }, headers: {} }
    default:
      return group satisfies never
  }
}

export function formatQuery(...parts: Readonly<Record<string, string>>[]): string {
  const query = new URLSearchParams(Object.assign({}, ...parts)).toString()
  return query === '' ? '' : `?${query}`
}
