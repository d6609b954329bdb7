import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { RedisConnections } from '../redis/connections.ts'
import { openTicketQueue } from '../redis/tickets.ts'
import type { Access } from './access.ts'
import type { Configured } from './configured.ts'
import { enter, pageHeaders } from './guard-pages.ts'

interface BoardOptions {
  access: Access
  configured: () => Configured
  connections: RedisConnections
  clock: Clock
  log: Log
}

const base = '/queues'
/** Its page has styles of its own inside, and names its own address. */
const policy = [
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'",
  "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'self'",
].join('; ')

/**
 * BullMQ's queues in Bull Board, for looking only: what it could do would stand in no audit log, and tickets that should
 * exist come back by themselves. It is loaded when somebody asks for it first.
 */
export function registerBoard(app: FastifyInstance, options: BoardOptions): void {
  let board: Promise<Board> | undefined
  let of = ''
  const close = async () => (await board?.catch(() => undefined))?.[Symbol.asyncDispose]()
  app.addHook('onClose', close)
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!(await enter(request, reply, options.access))) return reply
    const names = JSON.stringify(options.configured().catalogs.map(({ name }) => name))
    if (names !== of) {
      void close()
      board = undefined
      of = names
    }
    board ??= openBoard(options)
    board.catch(() => {
      board = undefined
    })
    const { routing } = await board
    reply.hijack()
    routing(request.raw, reply.raw)
    return reply
  }
  for (const path of [base, `${base}/*`]) app.get(path, show)
}

interface Board extends AsyncDisposable {
  routing: FastifyInstance['routing']
}

async function openBoard({ configured, connections, clock, log }: BoardOptions): Promise<Board> {
  const { createBullBoard } = await import('@bull-board/api')
  const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter')
  const { FastifyAdapter } = await import('@bull-board/fastify')
  await using stack = new AsyncDisposableStack()
  const queues = []
  for (const { name: catalog } of configured().catalogs) {
    for (const name of ['deliveries', 'schedules'] as const) {
      const { queue } = stack.use(await openTicketQueue({ connections, catalog, name, clock, log }))
      queues.push(new BullMQAdapter(queue, { readOnlyMode: true, prefix: `${catalog}-` }))
    }
  }
  const serverAdapter = new FastifyAdapter()
  serverAdapter.setBasePath(base)
  createBullBoard({ queues, serverAdapter, options: { uiConfig: { boardTitle: 'catalogd' } } })
  const app = fastify()
  stack.defer(() => app.close())
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.headers({ ...pageHeaders, 'content-security-policy': policy })
    // It would load its letters from elsewhere.
    return typeof payload === 'string' ? payload.replaceAll(/<link href="https:[^>]*>/g, '') : payload
  })
  app.register(serverAdapter.registerPlugin(), { prefix: base })
  await app.ready()
  const opened = stack.move()
  return { routing: app.routing, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
