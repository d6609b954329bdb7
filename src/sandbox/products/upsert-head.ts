import type { FastifyRequest } from 'fastify'
import { basicProblem, type SandboxTokens } from '../credentials.ts'
import { compressionProblem } from '../request-body.ts'

interface HeadRules {
  tokens: SandboxTokens
  strict: boolean
}

interface HeadRefusal {
  status: number
  headers: Record<string, string>
  type: string
  message: string
}

/** What is refused before the body is read. */
export function refuseHead(request: FastifyRequest, { tokens, strict }: HeadRules): HeadRefusal | undefined {
  const { authorization, 'content-type': contentType = '', 'content-encoding': encoding } = request.headers
  const problem = basicProblem(authorization, 'products', tokens)
  if (problem !== undefined) {
    return {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="products", charset="UTF-8"' },
      type: 'unauthorized',
      message: problem,
    }
  }
  const compressed = compressionProblem(encoding)
  if (compressed !== undefined) {
    return { status: 415, headers: {}, type: 'unsupported_media_type', message: compressed }
  }
  if (strict && !/^application\/json\s*(;|$)/i.test(contentType)) {
    return {
      status: 415,
      headers: {},
      type: 'unsupported_media_type',
      message: 'send Content-Type: application/json',
    }
  }
  return undefined
}
