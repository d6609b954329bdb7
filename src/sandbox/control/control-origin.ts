import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * The control routes need no credentials, so a web page from elsewhere must not use them through the browser of whoever
 * runs the sandbox. Browsers name the page's origin; other clients send no such header. A page may also give its own name
 * the address of this machine, so that all looks like one origin: a sandbox that serves this machine only is asked by an
 * address, or as localhost.
 */
export function refuseOtherOrigins(scope: FastifyInstance, { listensOn }: { listensOn: string }): void {
  const servesThisMachineOnly = isLocal(listensOn) || listensOn === '::1' || listensOn.startsWith('127.')
  scope.addHook('onRequest', async (request, reply) => {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    const isOther = origin === undefined ? site === 'cross-site' : hostOf(origin) !== host?.toLowerCase()
    if (!isOther && (!servesThisMachineOnly || namesThisMachine(host))) return
    return reply.code(403).send({ message: 'web pages from elsewhere must not use the control routes' })
  })
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

function namesThisMachine(host: string | undefined): boolean {
  if (!host) return true
  const url = `http://${host}`
  const name = URL.canParse(url) ? new URL(url).hostname : ''
  return isLocal(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0
}

function isLocal(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}
