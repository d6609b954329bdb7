import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../lib/log.ts'
import type { SandboxTokens } from '../credentials.ts'
import type { FaultAction, FaultGroup, RefuseAction } from './fault-schema.ts'
import type { Fault, Faults } from './faults.ts'

/** What every group of the API works with. Times are milliseconds; `now` has fractions. */
export interface GroupParts {
  faults: Faults
  tokens: SandboxTokens
  /** Refuses what the contract does not have. */
  strict: boolean
  /** How long every answer without a fault takes. */
  latencyMs: number
  now: () => number
  /** Rejects when the sandbox closes. */
  sleep: (delayMs: number) => Promise<void>
  logger: Log | undefined
}

interface FaultHookParts extends GroupParts {
  group: FaultGroup
  /** What a fault may look at, once the body has been read; undefined: no fault applies to this call. */
  subjectOf: (request: FastifyRequest) => { bytes: number; ids: readonly string[] } | undefined
  /** Answers a refusal without a status of its own, in the form of the group. */
  refuse: (reply: FastifyReply, action: RefuseAction, request: FastifyRequest) => FastifyReply
  onFault?: (request: FastifyRequest, name: string) => void
  /** The connection is about to be closed by a fault. */
  onReset?: (request: FastifyRequest) => void
}

/**
 * Lets the faults that are set misbehave on the routes of a scope. A fault that shows before the call is done stops it
 * in front of its handler; one that shows afterwards lets the handler do its work and spoils the answer.
 */
export function applyFaultsTo(scope: FastifyInstance, parts: FaultHookParts): void {
  const { group, faults, latencyMs, sleep, logger } = parts
  const spoiled = new WeakMap<FastifyRequest, FaultAction>()

  scope.addHook('preHandler', async (request, reply) => {
    const subject = parts.subjectOf(request)
    const fault: Fault | undefined = subject && faults.match({ group, ...subject })
    if (fault === undefined) return latencyMs > 0 ? sleep(latencyMs) : undefined
    parts.onFault?.(request, fault.name)
    logger?.debug({ call: request.id, fault: fault.name }, 'fault applied')
    const { action } = fault
    const delayMs = delayBefore(action)
    if (delayMs > 0) await sleep(delayMs)
    if (action.kind === 'slow' && action.apply !== 'before') return undefined
    if (!isStopped(action)) {
      spoiled.set(request, action)
      return undefined
    }
    return stop(action, { request, reply, parts })
  })

  scope.addHook('onSend', async (request, reply, payload) => {
    const action = spoiled.get(request)
    return action === undefined ? payload : spoil(action, { request, reply, parts, payload })
  })
}

interface FaultyExchange {
  request: FastifyRequest
  reply: FastifyReply
  parts: FaultHookParts
}

function delayBefore(action: FaultAction): number {
  if (action.kind === 'slow' && action.apply !== 'before') return action.byMs
  return action.kind === 'apply-late' ? action.afterMs : 0
}

function isStopped(action: FaultAction): boolean {
  if (action.kind === 'refuse') return true
  if (action.kind === 'reset') return action.when === 'before'
  return 'apply' in action && action.apply === 'never'
}

async function stop(action: FaultAction, exchange: FaultyExchange): Promise<FastifyReply> {
  const { reply, parts, request } = exchange
  if (action.kind === 'refuse') return parts.refuse(reply, action, request)
  if (action.kind === 'status') return reply.code(action.status).headers(action.headers).send(action.body)
  reply.hijack()
  await misbehave(action, exchange)
  return reply
}

async function spoil(
  action: FaultAction,
  { payload, ...exchange }: FaultyExchange & { payload: unknown },
): Promise<unknown> {
  if (action.kind === 'slow') {
    await exchange.parts.sleep(action.byMs)
    return payload
  }
  if (action.kind === 'status') {
    exchange.reply.code(action.status).headers(action.headers)
    return action.body
  }
  await misbehave(action, exchange)
  // The handler's answer must never be sent: the connection is gone or hangs until the sandbox closes it.
  return new Promise(() => undefined)
}

/** Everything that is not an answer. */
async function misbehave(action: FaultAction, { request, reply, parts }: FaultyExchange): Promise<void> {
  const { socket } = request.raw
  if (action.kind === 'hang') {
    if (action.forMs === undefined) return
    await parts.sleep(action.forMs)
  }
  if (action.kind === 'apply-late') return
  parts.onReset?.(request)
  if (action.kind !== 'half') {
    socket.resetAndDestroy()
    return
  }
  reply.raw.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': '512',
    'x-request-id': request.id,
  })
  reply.raw.write('{"half":', () => reply.raw.destroy())
}
