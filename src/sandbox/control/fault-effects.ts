import type { FastifyReply } from 'fastify'
import type { CallLog } from '../call-log.ts'
import { answerTaken, type Take } from '../products/upsert-answer.ts'
import type { UpsertCall } from '../products/upsert-call.ts'
import type { FaultAction } from './fault-schema.ts'

export interface FaultyCall {
  reply: FastifyReply
  call: UpsertCall
  ids: readonly string[]
  take: Take
  sleep: (delayMs: number) => Promise<void>
  calls: CallLog
  now: () => number
}

export async function applyFault(action: FaultAction, faulty: FaultyCall): Promise<FastifyReply> {
  const { reply, take, sleep } = faulty
  switch (action.kind) {
    case 'status':
      if (action.apply === 'before') take()
      return reply.code(action.status).headers(action.headers).send(action.body)
    case 'hang':
      if (action.apply === 'before') take()
      reply.hijack()
      if (action.forMs === undefined) return reply
      await sleep(action.forMs)
      return resetConnection(faulty)
    case 'reset':
      if (action.when === 'after') take()
      reply.hijack()
      return resetConnection(faulty)
    case 'slow': {
      const early = action.apply === 'before' ? take() : undefined
      await sleep(action.byMs)
      return answerTaken(reply, early ?? take())
    }
    case 'apply-late':
      reply.hijack()
      await sleep(action.afterMs)
      take({ atMs: faulty.now() })
      return reply
    case 'half':
      if (action.apply === 'before') take()
      return sendHalf(faulty)
    case 'refuse':
      return refuse(action, faulty)
    default:
      return action satisfies never
  }
}

function refuse(action: FaultAction & { kind: 'refuse' }, { reply, take }: FaultyCall): FastifyReply {
  if (action.named) return answerTaken(reply, take({ except: { ids: action.ids, reason: action.reason } }))
  const body = JSON.stringify({ type: 'has_errors', message: action.reason })
  return reply.code(400).type('text/plain; charset=utf-8').send(body)
}

/** A TCP reset, as a balancer or a dying server sends it: the client gets ECONNRESET. */
function resetConnection({ reply, call, calls, now }: FaultyCall): FastifyReply {
  calls.end(call.record, 'reset', now())
  reply.raw.socket?.resetAndDestroy()
  return reply
}

/** Announces more bytes than it sends; the connection closes as soon as those have left. */
function sendHalf({ reply, call, calls, now }: FaultyCall): FastifyReply {
  const requestId = String(reply.getHeader('x-request-id'))
  calls.end(call.record, 'reset', now())
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': '512',
    'x-request-id': requestId,
  })
  raw.write('{"half":', () => raw.destroy())
  return reply
}
