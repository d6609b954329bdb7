import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type CheckedIntentRequest,
  intentRequestSchema,
  recommendationsDefault,
} from '../../api/contract/intent.ts'
import { isObject } from '../../api/contract/json-value.ts'
import { contractProblems } from '../../api/contract/problems.ts'
import { inWireForm } from '../../api/contract/wire-form.ts'
import { applyFaultsTo, type GroupParts } from '../control/fault-hooks.ts'
import { bearerProblem } from '../credentials.ts'
import {
  bytesOf,
  compressionProblem,
  parseJsonBody,
  type ReceivedBody,
  receiveBytes,
  wholeBytes,
} from '../request-body.ts'
import type { IntentAnswers } from './intent-answer.ts'

const bodyBytesMax = 1_000_000

/** `POST /api`: ranks the products that were upserted for what a shopper says. */
export async function registerIntent(
  scope: FastifyInstance,
  parts: GroupParts & { intent: IntentAnswers },
): Promise<void> {
  const contentTypes = new WeakMap<FastifyRequest, string>()

  scope.addHook('onRequest', async (request, reply) => {
    // Before the type is made one for all bodies.
    contentTypes.set(request, request.headers['content-type'] ?? '')
    const problem = bearerProblem(request.headers.authorization, parts.tokens)
    const compressed = compressionProblem(request.headers['content-encoding'])
    if (problem === undefined && compressed !== undefined) {
      return refuse(reply, 415, 'unsupported_media_type', [compressed])
    }
    if (problem === undefined) return
    reply.header('www-authenticate', 'Bearer realm="intent"')
    return refuse(reply, 401, 'unauthorized', [problem])
  })
  receiveBytes(scope, bodyBytesMax)
  applyFaultsTo(scope, {
    ...parts,
    group: 'intent',
    subjectOf: ({ body }) => ({ bytes: bytesOf(body as ReceivedBody | undefined), ids: [] }),
    refuse: (reply, { reason }) => refuse(reply, 400, 'invalid_request', [reason]),
  })

  scope.post<{ Body: ReceivedBody | undefined }>('/api', async (request, reply) => {
    const bytes = wholeBytes(request.body)
    if (bytes === undefined) {
      return refuse(reply, 413, 'payload_too_large', [`the body is larger than ${bodyBytesMax} bytes`])
    }
    const parsed = parseIntentRequest(bytes, contentTypes.get(request) ?? '', parts.strict)
    if (parsed.kind === 'refused') return refuse(reply, 400, 'invalid_request', parsed.problems)
    const answer = await parts.intent.answer(parsed.request)
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer))
  })
}

function refuse(
  reply: FastifyReply,
  status: number,
  type: string,
  problems: readonly string[],
): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(formatProblems(type, problems))
}

function formatProblems(type: string, problems: readonly string[]): string {
  return JSON.stringify({
    type,
    message: problems.join('; '),
    errors: problems.map((message) => ({ message })),
  })
}

type ParsedIntent =
  | { kind: 'request'; request: CheckedIntentRequest & { maxAgentRecommendations: number } }
  | { kind: 'refused'; problems: readonly string[] }

const textFields = ['prompt', 'customerId', 'partnerId', 'chatId'] as const

/**
 * The request in a body, as the contract wants it. Lenient: form bodies, numbers and truth values as texts, numbers as
 * ids, unknown fields, and an empty optional field are taken too.
 */
function parseIntentRequest(body: Buffer, contentType: string, strict: boolean): ParsedIntent {
  const sent = parseBody(body, contentType, strict)
  if ('problem' in sent) return { kind: 'refused', problems: [sent.problem] }
  const value = strict ? sent.value : inWireForm(intentRequestSchema, sent.value)
  const problems = contractProblems(intentRequestSchema, value, {
    whole: 'body',
    unknownFields: strict ? 'refuse' : 'tolerate',
  })
  if (problems.length > 0) return { kind: 'refused', problems: problems.map(({ message }) => message) }
  const request = intentRequestSchema.parse(strict ? value : knownFields(value))
  const blank = textFields.find((field) => request[field].trim() === '')
  if (blank !== undefined) {
    return { kind: 'refused', problems: [`${blank}: found only blanks, expected a text; give it a value`] }
  }
  const maxAgentRecommendations = request.maxAgentRecommendations ?? recommendationsDefault
  return { kind: 'request', request: { ...request, maxAgentRecommendations } }
}

function knownFields(value: unknown): unknown {
  const names = Object.keys(intentRequestSchema.shape)
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => names.includes(name)))
}

function parseBody(
  body: Buffer,
  contentType: string,
  strict: boolean,
): { value: unknown } | { problem: string } {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded' && !strict && body.length > 0 && isUtf8(body)) {
    return { value: Object.fromEntries(new URLSearchParams(body.toString('utf8').replace(/^\ufeff/, ''))) }
  }
  const parsed = parseJsonBody(body, 'the request as JSON')
  if (strict && type !== 'application/json') return { problem: 'send Content-Type: application/json' }
  if (parsed.kind === 'unreadable') return { problem: parsed.message }
  if (isObject(parsed.value)) return { value: parsed.value }
  return { problem: 'the body is no JSON object; send the fields of one request' }
}
