import type { FastifyInstance } from 'fastify'

/**
 * The control routes need no credentials, so a web page from elsewhere must not use them through the browser of whoever
 * runs the sandbox. Browsers name the page's origin; other clients send no such header.
 */
export function refuseOtherOrigins(scope: FastifyInstance): void {
  scope.addHook('onRequest', async (request, reply) => {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    const isOther = origin === undefined ? site === 'cross-site' : hostOf(origin) !== host?.toLowerCase()
    if (!isOther) return
    return reply.code(403).send({ message: 'web pages from elsewhere must not use the control routes' })
  })
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
