import type { Endpoint } from '../../api/contract/endpoints.ts'
import { type SandboxTokens, tokenProblem } from '../credentials.ts'
import { refused, type StackRefusal } from './stack-answer.ts'

export interface StackAccess {
  tokens: SandboxTokens
  stackName: string
  /** Asks for the credentials everywhere, as real servers do; the contract shows them for rules. */
  strictAuth: boolean
}

export interface StackCredentials {
  query: Readonly<Record<string, unknown>>
  /** `x-access-token`. */
  header: string | readonly string[] | undefined
}

/**
 * Why a request is not let in: 401 without the right token, 403 for a Stack that the token is not for. What is given
 * must be right also where it is not required.
 */
export function refuseAccess(
  { query, header }: StackCredentials,
  { tokens, stackName, strictAuth }: StackAccess,
  credentials: Endpoint['credentials'],
): StackRefusal | undefined {
  const isRequired = strictAuth || credentials === 'stack-required'
  const given = [query.access_token, header].filter((token) => token !== undefined)
  if (given.length === 0 && isRequired) {
    return unauthorized('send the access token as access_token in the query or as the header x-access-token')
  }
  for (const token of given) {
    const problem =
      typeof token === 'string' ? tokenProblem(token, 'stack', tokens) : 'send the access token once'
    if (problem !== undefined) return unauthorized(problem)
  }
  const { stack } = query
  if (stack === undefined && !isRequired) return undefined
  if (stack === stackName) return undefined
  const message =
    stack === undefined ? 'name the Stack as stack in the query' : 'the access token is not for this Stack'
  return refused(403, { subject: 'request', reason: 'wrong_stack' }, message)
}

function unauthorized(message: string): StackRefusal {
  return refused(401, { subject: 'request', reason: 'unauthorized' }, message)
}
