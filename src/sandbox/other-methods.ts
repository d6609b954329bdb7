import type { FastifyInstance, FastifyReply } from 'fastify'

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
