import type { FastifyInstance } from 'fastify'
import { hostNameOf, isAddressOrLocal, isFromElsewhere, isLocalName } from '../../lib/page-origin.ts'

/**
 * The control routes need no credentials, so a web page from elsewhere must not use them through the browser of whoever
 * runs the sandbox. Browsers name the page's origin; other clients send no such header. A page may also give its own name
 * the address of this machine, so that all looks like one origin: a sandbox that serves this machine only is asked by an
 * address, or as localhost.
 */
export function refuseOtherOrigins(scope: FastifyInstance, { listensOn }: { listensOn: string }): void {
  const servesThisMachineOnly = isLocalName(listensOn) || listensOn === '::1' || listensOn.startsWith('127.')
  scope.addHook('onRequest', async (request, reply) => {
    const { headers } = request
    const isKnown = !headers.host || isAddressOrLocal(hostNameOf(headers.host))
    if (!isFromElsewhere(headers) && (isKnown || !servesThisMachineOnly)) return
    return reply.code(403).send({ message: 'web pages from elsewhere must not use the control routes' })
  })
}
