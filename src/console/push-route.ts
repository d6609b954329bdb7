import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CatalogConfig, ConsoleConfig } from '../config/model.ts'
import type { CatalogName } from '../lib/brand.ts'
import { ConfigError, OperatingError, systemErrorCode } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { redactText } from '../lib/redact.ts'
import type { AcceptPushed } from '../sources/push-acceptor.ts'
import { refuseForNow, type TokenLimit } from './access.ts'
import { parsePush } from './push-request.ts'

export interface PushOptions {
  config: ConsoleConfig
  catalogs: readonly CatalogConfig[]
  /** Undefined: this process does not accept files of that catalog, or not yet. */
  acceptorOf: (catalog: CatalogName) => AcceptPushed | undefined
  log: Log
}

interface PushRoute {
  Params: { feed: string }
  Querystring: Record<string, unknown>
}

/** What a refusal of the acceptor is to its sender; with `retryAfter`, in seconds, it may come again. */
const statusOf: Readonly<Record<string, { status: number; retryAfter?: number }>> = {
  'push-mode': { status: 422 },
  'push-empty': { status: 422 },
  'push-other': { status: 422 },
  'push-too-large': { status: 413 },
  'push-running': { status: 409, retryAfter: 2 },
  'push-busy': { status: 503, retryAfter: 5 },
  'push-closed': { status: 503, retryAfter: 5 },
  'disk-full': { status: 503, retryAfter: 60 },
}
const otherFailure = { status: 503, retryAfter: 10 }

/**
 * `POST /feeds/<feed>`: the body is a file of the feed. 202 `{ sequence, bytes }` is sent once the file and its line in the
 * manifest are on the disk. A body is never logged: it may hold e-mail addresses.
 */
export function registerPush(app: FastifyInstance, options: PushOptions, limit: TokenLimit): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request: FastifyRequest, payload: Readable, done) => done(null, payload))
  app.addHook('onRequest', async (request, reply) => {
    if (!(await authorize(request, reply, { token: options.config.token, limit }))) return reply
    // A content type that is no media type would be refused before any parser is asked, one without would find none.
    request.raw.headers['content-type'] = 'application/octet-stream'
    return undefined
  })
  app.post<PushRoute>('/feeds/:feed', async (request, reply) => push(request, reply, options))
}

export async function authorize(
  { headers, ip }: FastifyRequest,
  reply: FastifyReply,
  { token, limit }: Pick<ConsoleConfig, 'token'> & { limit: TokenLimit },
): Promise<boolean> {
  if (token === undefined) {
    const hint = 'Set console.token in the configuration and start catalogd again'
    await reply.code(403).send({ error: 'no-token', message: 'no token is configured', hint })
    return false
  }
  const shown = tokenIn(headers.authorization)
  if (shown === undefined) {
    reply.code(401).header('www-authenticate', 'Bearer realm="catalogd"')
    await reply.send({ error: 'unauthorized', message: 'show the token: Authorization: Bearer <token>' })
    return false
  }
  const waitS = limit.waitForProgram(ip)
  if (waitS === undefined && isSame(shown, token.value())) return true
  if (waitS === undefined) {
    limit.failedProgram(ip, shown)
    await reply.code(403).send({ error: 'forbidden', message: 'the token is not the right one' })
  } else await refuseForNow(reply, waitS)
  return false
}

async function push(
  request: FastifyRequest<PushRoute>,
  reply: FastifyReply,
  { config, catalogs, acceptorOf, log }: PushOptions,
): Promise<FastifyReply> {
  const headers = { ...request.headers, 'content-type': typeOf(request.raw) }
  const asked = parsePush(
    { feed: request.params.feed, query: request.query, headers },
    { catalogs, bytesMax: config.bytesMax },
  )
  if ('status' in asked) {
    const { status, ...refusal } = asked
    return reply.code(status).send(refusal)
  }
  const { catalog, ...file } = asked
  const accept = acceptorOf(catalog.name)
  if (!accept) {
    return reply.code(503).header('retry-after', 5).send({
      error: 'not-importing',
      message: 'this process does not accept files now: another one does, or it is starting',
      hint: 'Ask again, or ask the process that works on the state folder (catalogd status)',
    })
  }
  try {
    // A body that is refused halfway is no reason to break the connection that the answer goes through.
    const body = ((request.body as Readable | undefined) ?? request.raw).iterator({ destroyOnReturn: false })
    const breakOff = () => void request.raw.destroy()
    const given = { ...file, body, breakOff, bytesMax: config.bytesMax }
    const { sequence, bytes, isRepeated } = await accept(given)
    if (isRepeated) reply.header('idempotent-replayed', 'true')
    return reply.code(202).send({ sequence, bytes })
  } catch (error) {
    if (request.raw.destroyed && !request.raw.complete) {
      log.info({ feed: file.feed.name }, 'a push was broken off')
      return reply.code(400).send()
    }
    return refuse(reply, error, log)
  }
}

/** As it was sent. */
function typeOf({ rawHeaders }: IncomingMessage): string {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && /^content-type$/i.test(name))
  return at === -1 ? '' : (rawHeaders[at + 1] ?? '')
}

function refuse(reply: FastifyReply, error: unknown, log: Log): FastifyReply {
  const isOperating = error instanceof OperatingError && !(error instanceof ConfigError)
  // A bug: the server's error handler answers and logs it.
  if (!isOperating && systemErrorCode(error) === undefined) throw error
  const code = isOperating ? error.code : 'storage'
  const { status, retryAfter } = statusOf[code] ?? otherFailure
  if (status === 503) log.warn({ err: error }, 'a pushed file could not be accepted')
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  const message = isOperating ? redactText(error.message) : 'the state folder cannot be written'
  const hint = isOperating ? error.hint : undefined
  return reply.code(status).send({ error: code, message, ...(hint === undefined ? {} : { hint }) })
}

/** In a time that tells nothing of either. */
function isSame(shown: string, token: string): boolean {
  return timingSafeEqual(digestOf(shown), digestOf(token))
}

/** `Bearer <token>`, or Basic credentials with the token as password, as curl -u sends them. */
function tokenIn(authorization = ''): string | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+) *$/.exec(authorization) ?? []
  if (/^bearer$/i.test(scheme)) return value
  if (!/^basic$/i.test(scheme)) return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
