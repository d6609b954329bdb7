import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, endpoints } from '../../api/contract/endpoints.ts'
import type { GroupParts } from '../control/fault-hooks.ts'
import { type SandboxTokens, tokenProblem } from '../credentials.ts'
import { type ReceivedBody, receiveBytes, wholeBytes } from '../request-body.ts'
import { refuseOtherMethods, shownPath } from '../server.ts'
import { placeBelow } from './rule-path.ts'
import { refused, type StackAnswer, type StackRefusal, sendStackAnswer } from './stack-answer.ts'
import { parsePairs, readSentFields, type SentBody } from './stack-body.ts'
import type { StackOperation, StackParts } from './stack-call.ts'
import { fieldNames } from './stack-fields.ts'
import type { RateState, RateWindow } from './stack-rate.ts'
import { ruleOperations } from './stack-rules.ts'
import { termOperations } from './stack-terms.ts'
import { userOperations } from './stack-users.ts'
import { viewOperations } from './stack-views.ts'

export interface StackOptions extends GroupParts, StackParts, StackAccess {
  rate: RateWindow
}

const bodyBytesMax = 1_000_000

const operations = { ...ruleOperations, ...viewOperations, ...userOperations, ...termOperations } as const

/** What is known of a request before its body is read. */
type Head = Omit<SentBody, 'bytes'>

interface RouteConfig {
  endpoint?: Endpoint
}

/** The content-aggregation API: every operation of the contract, each over the table of its kind. */
export async function registerStack(scope: FastifyInstance, options: StackOptions): Promise<void> {
  const heads = new WeakMap<FastifyRequest, Head>()

  scope.addHook('onRequest', async (request, reply) => {
    const head = readHead(request)
    const refusal = refuseRate(reply, options.rate.take(options.now())) ?? refuseHead(request, head, options)
    if (refusal === undefined) {
      if (head !== undefined) heads.set(request, head)
      return
    }
    await sendStackAnswer(reply, refusal)
    return reply
  })
  receiveBytes(scope, bodyBytesMax)

  for (const [name, operation] of Object.entries(operations) as [keyof typeof operations, StackOperation][]) {
    const endpoint: Endpoint = endpoints[name]
    scope.route<{ Body: ReceivedBody | undefined; Params: Record<string, string> }>({
      method: endpoint.method,
      url: routeOf(endpoint.path),
      config: { endpoint } satisfies RouteConfig,
      handler: async (request, reply) => {
        const head = heads.get(request)
        if (head === undefined) throw new Error('a request has no head')
        const answer = await answerRequest({ options, endpoint, operation, head, request })
        if (options.latencyMs > 0) await options.sleep(options.latencyMs)
        return sendStackAnswer(reply, answer)
      },
    })
  }
  registerUnknown(scope)
}

function readHead({ url, headers }: FastifyRequest): Head | undefined {
  const start = url.indexOf('?')
  const query = start === -1 ? {} : parsePairs(url.slice(start + 1))
  if (query === undefined) return undefined
  const { 'content-type': contentType = '', 'content-encoding': contentEncoding = '' } = headers
  return { query, contentType, contentEncoding }
}

function refuseRate(
  reply: FastifyReply,
  { isSpent, remaining, resetSeconds }: RateState,
): StackRefusal | undefined {
  reply.header('x-api-remaining-requests', String(remaining))
  reply.header('x-api-remaining-requests-reset', String(resetSeconds))
  if (!isSpent) return undefined
  reply.header('retry-after', String(resetSeconds))
  const message = `the rate limit is spent; wait ${resetSeconds} s`
  return refused(429, { subject: 'request', reason: 'rate_limited' }, message)
}

function refuseHead(
  request: FastifyRequest,
  head: Head | undefined,
  options: StackOptions,
): StackRefusal | undefined {
  if (head === undefined) return invalidRequest('invalid_query', 'the query has too many fields or levels')
  const { endpoint } = request.routeOptions.config as RouteConfig
  const header = request.headers['x-access-token']
  const refusal = refuseAccess({ query: head.query, header }, options, endpoint?.credentials ?? 'stack')
  if (refusal !== undefined || endpoint === undefined || !options.strict) return refusal
  const known = ['access_token', 'stack', ...(endpoint.query === undefined ? [] : fieldNames(endpoint.query))]
  const unknown = Object.keys(head.query).filter((name) => !known.includes(name))
  if (unknown.length === 0) return undefined
  const messages = unknown.map(
    (name) => `${placeBelow('query', name)}: the contract does not have it; leave it out`,
  )
  return refused(400, { subject: 'request', reason: 'invalid_query' }, ...messages)
}

interface RequestToAnswer {
  options: StackOptions
  endpoint: Endpoint
  operation: StackOperation
  head: Head
  request: FastifyRequest<{ Body: ReceivedBody | undefined; Params: Record<string, string> }>
}

async function answerRequest(toAnswer: RequestToAnswer): Promise<StackAnswer> {
  const { options, endpoint, operation, head, request } = toAnswer
  const bytes = wholeBytes(request.body)
  if (bytes === undefined) {
    return invalidRequest('too_large', `the body is larger than ${bodyBytesMax} bytes`)
  }
  const { store, strict, now } = options
  const [id = ''] = Object.values(request.params)
  return operation({
    ...{ store, strict, now },
    endpoint,
    id,
    query: head.query,
    readFields: (names) => readSentFields({ ...head, bytes }, { strict, names }),
  })
}

/** What the contract does not have below the paths of this group is answered in the same envelope. */
function registerUnknown(scope: FastifyInstance): void {
  const known = new Map<string, string[]>()
  for (const name of Object.keys(operations) as (keyof typeof operations)[]) {
    const { method, path } = endpoints[name]
    known.set(routeOf(path), [...(known.get(routeOf(path)) ?? []), method])
  }
  for (const [url, taken] of known) {
    refuseOtherMethods(scope, { url, taken, refuse: refuseMethod })
  }
  for (const url of new Set([...known.keys()].map((one) => `${one.split('/', 3).join('/')}/*`))) {
    scope.all(url, async (request, reply) => {
      const message = `there is no ${request.method} ${shownPath(request.url)}`
      return sendStackAnswer(reply, refused(404, { subject: 'request', reason: 'not_found' }, message))
    })
  }
}

function refuseMethod(reply: FastifyReply, message: string): FastifyReply {
  const { method, routeOptions } = reply.request
  const isNewUser = method === 'POST' && routeOptions.url?.replace(/\/$/, '').endsWith('/api/users')
  const remedy = '; users are never created through the API but invited in the admin portal'
  const told = isNewUser ? message + remedy : message
  return sendStackAnswer(reply, refused(405, { subject: 'request', reason: 'method_not_allowed' }, told))
}

/** `{termId}` as fastify writes it; the trailing slash of rules is optional there. */
function routeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1').replace(/\/$/, '')
}

function invalidRequest(reason: string, message: string): StackRefusal {
  return refused(400, { subject: 'request', reason }, message)
}

interface StackAccess {
  tokens: SandboxTokens
  stackName: string
  /** Asks for the credentials everywhere, as real servers do; the contract shows them for rules. */
  strictAuth: boolean
}

interface StackCredentials {
  query: Readonly<Record<string, unknown>>
  /** `x-access-token`. */
  header: string | readonly string[] | undefined
}

/**
 * Why a request is not let in: 401 without the right token, 403 for a Stack that the token is not for. What is given
 * must be right also where it is not required.
 */
function refuseAccess(
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
