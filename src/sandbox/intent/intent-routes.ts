import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../lib/log.ts'
import { applyFaultsTo } from '../control/fault-hooks.ts'
import type { Faults } from '../control/faults.ts'
import { bearerProblem, type SandboxTokens } from '../credentials.ts'
import { bytesOf, compressionProblem, type ReceivedBody, receiveBytes } from '../request-body.ts'
import type { IntentAnswers } from './intent-answer.ts'
import { parseIntentRequest } from './intent-request.ts'

export interface IntentParts {
  intent: IntentAnswers
  faults: Faults
  tokens: SandboxTokens
  latencyMs: number
  strict: boolean
  sleep: (delayMs: number) => Promise<void>
  logger: Log | undefined
}

const bodyBytesMax = 1_000_000

/** `POST /api`: ranks the products that were upserted for what a shopper says. */
export async function registerIntent(scope: FastifyInstance, parts: IntentParts): Promise<void> {
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
    formatRefusal: (message) => formatProblems('invalid_request', [message]),
  })

  scope.post<{ Body: ReceivedBody | undefined }>('/api', async (request, reply) => {
    const body = request.body ?? { kind: 'whole', bytes: Buffer.alloc(0) }
    if (body.kind === 'too-large') {
      return refuse(reply, 413, 'payload_too_large', [`the body is larger than ${bodyBytesMax} bytes`])
    }
    const parsed = parseIntentRequest(body.bytes, contentTypes.get(request) ?? '', parts.strict)
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
