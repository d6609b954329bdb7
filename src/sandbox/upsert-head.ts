import type { FastifyRequest } from 'fastify'

interface HeadRules {
  productsToken: string
  strict: boolean
}

interface HeadRefusal {
  status: number
  headers: Record<string, string>
  type: string
  message: string
}

/** What is refused before the body is read. */
export function refuseHead(
  request: FastifyRequest,
  { productsToken, strict }: HeadRules,
): HeadRefusal | undefined {
  const { authorization, 'content-type': contentType = '' } = request.headers
  const problem = credentialsProblem(authorization, productsToken)
  if (problem !== undefined) {
    return {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="products", charset="UTF-8"' },
      type: 'unauthorized',
      message: problem,
    }
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

function credentialsProblem(authorization: string | undefined, token: string): string | undefined {
  const match = /^basic\s+(\S+)$/i.exec(authorization ?? '')
  if (!match) return 'send HTTP Basic credentials: an empty user name and the API_PRODUCTS token as password'
  const credentials = Buffer.from(match[1] ?? '', 'base64').toString('utf8')
  if (!credentials.startsWith(':')) return 'the user name must be empty; the token is the password'
  return credentials.slice(1) === token ? undefined : 'the token is not valid for products'
}
