import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { consentPathDefault } from '../../api/contract/consent.ts'
import { isEmailAddress } from '../../api/contract/values.ts'
import { applyFaultsTo, type GroupParts } from '../control/fault-hooks.ts'
import { basicProblem } from '../credentials.ts'
import type { OverlapWatch } from '../overlaps.ts'
import { beginCall, type WatchedCall } from '../products/upsert-call.ts'
import { type ReceivedBody, receiveBytes } from '../request-body.ts'
import { type ConsentCall, type ConsentLog, type ConsentStore, consentKey } from './consent-store.ts'

export interface ConsentParts extends GroupParts {
  consents: ConsentStore
  consentCalls: ConsentLog
  consentOverlaps: OverlapWatch
}

/** A call as its path names it. */
interface NamedCall {
  watched: WatchedCall<ConsentCall>
  named: { email: string; consent: boolean } | undefined
}

const bodyBytesMax = 1_000_000
export const consentPaths = [consentPathDefault, consentPathDefault.replace(/^\/api/, '')]

/** `POST …/customers/consent/<email>/<flag>`, with and without the prefix `/api`. Addresses stand in no log line. */
export async function registerConsent(scope: FastifyInstance, parts: ConsentParts): Promise<void> {
  const underWay = new WeakMap<FastifyRequest, NamedCall>()

  scope.addHook('onRequest', async (request, reply) => {
    const watched = beginCall(request, reply, {
      calls: parts.consentCalls,
      overlaps: parts.consentOverlaps,
      now: parts.now,
    })
    underWay.set(request, { watched, named: undefined })
    const problem = basicProblem(request.headers.authorization, 'email', parts.tokens)
    if (problem === undefined) return
    parts.consentOverlaps.skip(watched.span)
    reply.header('www-authenticate', 'Basic realm="consent", charset="UTF-8"')
    return refuse(reply, 401, 'unauthorized', problem)
  })
  receiveBytes(scope, bodyBytesMax)

  scope.addHook<{ Body: ReceivedBody | undefined }>('preValidation', async (request, reply) => {
    const call = underWay.get(request)
    if (call === undefined) throw new Error('a call was not begun')
    const { record, span } = call.watched
    const parsed = parseConsentPath((request.params as { '*': string })['*'])
    const problem = 'message' in parsed ? parsed : bodyProblem(request.body, parts.strict)
    if (problem !== undefined || 'message' in parsed) {
      parts.consentOverlaps.skip(span)
      return refuse(reply, problem?.status ?? 400, 'invalid_request', problem?.message ?? '')
    }
    call.named = parsed
    record.email = parsed.email
    record.consent = parsed.consent
    await nextTurn()
    parts.consentOverlaps.settle(span)
    parts.consentOverlaps.enter(span, [consentKey(parsed.email)])
  })

  applyFaultsTo(scope, {
    ...parts,
    group: 'consent',
    subjectOf: (request) => {
      const named = underWay.get(request)?.named
      return named && { bytes: 0, ids: [consentKey(named.email)] }
    },
    refuse: (reply, { reason }) => refuse(reply, 400, 'invalid_request', reason),
    onFault: (request, name) => {
      const call = underWay.get(request)
      if (call !== undefined) call.watched.record.fault = name
    },
    onReset: (request) => {
      const call = underWay.get(request)
      if (call !== undefined) parts.consentCalls.end(call.watched.record, 'reset', parts.now())
    },
  })

  for (const path of consentPaths) {
    // A wildcard, because an address may hold an encoded slash.
    scope.post(`${path}/*`, async (request, reply) => {
      const named = underWay.get(request)?.named
      if (named === undefined) throw new Error('a call was not named')
      parts.consents.take(named, parts.now())
      return reply.type('application/json; charset=utf-8').send('{}')
    })
  }
}

interface Refusal {
  status: number
  message: string
}

/** The last segment is the flag, all before it the address: decoded already, so it may hold slashes. */
function parseConsentPath(path: string): { email: string; consent: boolean } | Refusal {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  const slash = trimmed.lastIndexOf('/')
  if (slash === -1) {
    return {
      status: 404,
      message: 'end the path with the address and the flag: …/consent/<email>/true or /false',
    }
  }
  const [email, flag] = [trimmed.slice(0, slash), trimmed.slice(slash + 1)]
  if (flag !== 'true' && flag !== 'false') {
    return {
      status: 400,
      message: 'consent: the last part of the path is the flag; write true or false, in lower case',
    }
  }
  if (!isEmailAddress(email)) {
    const again = /%40/i.test(email)
      ? 'it is percent-encoded twice; encode it once'
      : 'percent-encode it once'
    return { status: 400, message: `email: the part before the flag is no e-mail address; ${again}` }
  }
  return { email, consent: flag === 'true' }
}

/** The contract has no body: one is ignored, unless the sandbox is strict. */
function bodyProblem(body: ReceivedBody | undefined, strict: boolean): Refusal | undefined {
  const isEmpty = body === undefined || (body.kind === 'whole' && body.bytes.length === 0)
  return strict && !isEmpty
    ? { status: 400, message: 'a consent call has no body; send Content-Length: 0' }
    : undefined
}

function refuse(reply: FastifyReply, status: number, type: string, message: string): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify({ type, message }))
}
