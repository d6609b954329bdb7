import { isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ConsoleConfig } from '../config/model.ts'

/**
 * A web page from elsewhere must not reach the console through the browser of somebody here. Browsers name the page's
 * origin. A page may also give its own name the address of this machine, so that all looks like one origin: the console is
 * asked by an address, as localhost, by the name it listens on, or by a configured one.
 */
export function refuseStrangers(
  app: FastifyInstance,
  { listen, hosts }: Pick<ConsoleConfig, 'listen' | 'hosts'>,
): void {
  const names = new Set([listen.host.toLowerCase(), ...hosts])
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host, 'sec-fetch-site': site } = request.headers
    if (!mayBeAsked(host, names)) {
      return reply.code(403).send({
        error: 'host',
        message: `this console is not known as ${host === undefined ? 'nothing' : `"${host}"`}`,
        hint: 'Ask it by its address or as localhost, or list the name under console.hosts',
      })
    }
    const isOther = origin === undefined ? site === 'cross-site' : hostOf(origin) !== host?.toLowerCase()
    if (!isOther) return
    return reply
      .code(403)
      .send({ error: 'origin', message: 'web pages from elsewhere must not use the console' })
  })
}

function mayBeAsked(host: string | undefined, names: ReadonlySet<string>): boolean {
  const url = `http://${host ?? ''}`
  const name = URL.canParse(url) ? new URL(url).hostname : ''
  if (name === '') return false
  const isAddress = isIP(name.replace(/^\[|\]$/g, '')) !== 0
  return isAddress || name === 'localhost' || name.endsWith('.localhost') || names.has(name)
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
