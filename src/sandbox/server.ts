import { randomUUID } from 'node:crypto'
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { drainRequests } from '../lib/drain-request.ts'
import type { Log } from '../lib/log.ts'

/** Product ids and addresses stand in paths, and the contract gives them no length. */
const pathParameterCharactersMax = 10_000

/** The server without its routes. Whatever a client sends wrong is answered 4xx. */
export function newServer(logger: Log | undefined, closing: AbortSignal): FastifyInstance {
  const app = fastify({
    genReqId: () => randomUUID(),
    // Answers of other people's clients must not depend on what our clients send.
    requestIdHeader: false,
    // A hanging answer must not keep the sandbox from closing.
    forceCloseConnections: true,
    requestTimeout: 120_000,
    // A path that cannot be decoded; fastify would repeat it, and it may hold an address.
    frameworkErrors: (error, request, reply) => {
      const message =
        error.code === 'FST_ERR_BAD_URL' ? 'the path is not percent-encoded as it should be' : error.message
      // Typed for routes with schemas; there is no route here.
      const plain = reply as unknown as FastifyReply
      void plain.header('x-request-id', request.id).code(400).send({ message })
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathParameterCharactersMax },
  })
  drainRequests(app.server)
  // Each call that waits for its answer listens to its connection, and pipelined ones share it.
  app.server.on('connection', (socket) => socket.setMaxListeners(0))
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    // Before its body: whatever that is, the path is not there.
    if (!request.is404) return undefined
    return reply.code(404).send({ message: `the sandbox has no ${request.method} ${shownPath(request.url)}` })
  })
  app.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (closing.aborted) {
      // A wait was cut short: a server that goes away answers nothing.
      request.raw.socket.destroy()
      return reply.hijack()
    }
    const { statusCode = 500 } = error
    if (statusCode < 500) return reply.code(statusCode).send({ message: error.message })
    // The sender went away within its body: nobody is there to be answered.
    if (request.raw.destroyed && !request.raw.complete) return reply.code(400).send()
    logger?.error({ err: error, request: request.id }, 'the sandbox failed to answer')
    return reply.code(500).send({ message: 'the sandbox failed to answer; see its log' })
  })
  return app
}

const methods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'] as const

interface OtherMethods {
  url: string
  taken: readonly string[]
  /** Says in the form of the group what there is. */
  refuse: (reply: FastifyReply, message: string) => FastifyReply
}

/** The methods that a path does not take are answered 405, with those that it takes. */
export function refuseOtherMethods(scope: FastifyInstance, { url, taken, refuse }: OtherMethods): void {
  // fastify answers HEAD where there is GET.
  const allowed: readonly string[] = taken.includes('GET') ? [...taken, 'HEAD'] : taken
  scope.route({
    method: methods.filter((method) => !allowed.includes(method)),
    url,
    handler: async ({ method, url: asked }, reply) => {
      reply.code(405).header('allow', allowed.join(', '))
      return refuse(reply, `there is no ${method} ${shownPath(asked)}; there is ${taken.join(', ')}`)
    },
  })
}

const pathShownMax = 200

/** A path as it may be shown, without addresses: callers log what they are answered. */
export function shownPath(url: string): string {
  const [path = ''] = url.split('?', 1)
  return path.replaceAll(/[^/]*(?:@|%40)[^/]*/gi, '…').slice(0, pathShownMax)
}
