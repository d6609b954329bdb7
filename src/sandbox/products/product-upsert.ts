import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../lib/log.ts'
import type { CallLog } from '../call-log.ts'
import { applyFault } from '../control/fault-effects.ts'
import type { Faults } from '../control/faults.ts'
import { basicProblem, type SandboxTokens } from '../credentials.ts'
import type { OverlapWatch } from '../overlaps.ts'
import { compressionProblem, type ReceivedBody, receiveBytes } from '../request-body.ts'
import { productErrors } from './lenient-product.ts'
import type { ProductStore } from './product-store.ts'
import { answerTaken, type ProductRefusal, sendError, type Taken, type TakeOptions } from './upsert-answer.ts'
import { type ParsedBody, parseUpsertBody, type UpsertBody } from './upsert-body.ts'
import { beginCall, type UpsertCall } from './upsert-call.ts'

/** What the endpoint works with. Times are milliseconds; `now` has fractions. */
export interface UpsertParts {
  store: ProductStore
  calls: CallLog
  overlaps: OverlapWatch
  faults: Faults
  tokens: SandboxTokens
  callBytesMax: number
  latencyMs: number
  strict: boolean
  now: () => number
  /** Rejects when the sandbox closes. */
  sleep: (delayMs: number) => Promise<void>
  logger: Log | undefined
}

/** `POST /v1/products/upsert` with the checks of the contract, and whatever fault is set. */
export async function registerProductUpsert(scope: FastifyInstance, parts: UpsertParts): Promise<void> {
  const underWay = new WeakMap<FastifyRequest, UpsertCall>()

  scope.addHook('onRequest', async (request, reply) => {
    const call = beginCall(request, reply, parts)
    underWay.set(request, call)
    const refusal = refuseHead(request, parts)
    if (refusal === undefined) return
    parts.overlaps.skip(call.span)
    reply.code(refusal.status).headers(refusal.headers)
    await sendError(reply, refusal.type, refusal.message)
    return reply
  })
  receiveBytes(scope, parts.callBytesMax)

  scope.post<{ Body: ReceivedBody | undefined }>('/v1/products/upsert', async (request, reply) => {
    const call = underWay.get(request)
    if (call === undefined) throw new Error('a call was not begun')
    const body = request.body ?? { kind: 'whole', bytes: Buffer.alloc(0) }
    if (body.kind === 'too-large') {
      parts.overlaps.skip(call.span)
      parts.calls.read(call.record, body.bytesRead)
      reply.code(413)
      return sendError(
        reply,
        'payload_too_large',
        `the body is larger than ${parts.callBytesMax} bytes; send fewer products a call`,
      )
    }
    const receivedAtMs = parts.now()
    parts.calls.read(call.record, body.bytes.length)
    await nextTurn()
    parts.overlaps.settle(call.span)
    return answerCall({ parts, call, reply, body: parseUpsertBody(body.bytes), receivedAtMs })
  })
}

interface CallToAnswer {
  parts: UpsertParts
  call: UpsertCall
  reply: FastifyReply
  body: ParsedBody
  receivedAtMs: number
}

async function answerCall({ parts, call, reply, body, receivedAtMs }: CallToAnswer): Promise<FastifyReply> {
  const ids = body.kind === 'products' ? body.ids : []
  parts.calls.holds(call.record, ids)
  parts.overlaps.enter(
    call.span,
    ids.filter((id) => id !== ''),
  )
  const take = ({ except, atMs = receivedAtMs }: TakeOptions = {}) =>
    takeProducts(parts, body, { except, atMs })

  const fault = parts.faults.match({ group: 'products', bytes: call.record.bytes, ids })
  if (fault === undefined) {
    // Taken at once and answered late: a slow server has changed its state before it says so.
    const taken = take()
    if (parts.latencyMs > 0) await parts.sleep(parts.latencyMs)
    return answerTaken(reply, taken)
  }
  call.record.fault = fault.name
  parts.logger?.debug({ call: call.record.id, fault: fault.name }, 'fault applied')
  return applyFault(fault.action, {
    reply,
    call,
    ids,
    take,
    sleep: parts.sleep,
    calls: parts.calls,
    now: parts.now,
  })
}

/** Checks and takes what is valid; the neighbours of a refused product are taken too. */
function takeProducts(parts: UpsertParts, body: ParsedBody, { except, atMs = 0 }: TakeOptions): Taken {
  if (body.kind === 'unreadable') return body
  const refusals: ProductRefusal[] = []
  body.products.forEach((product, index) => {
    const id = body.ids[index] ?? ''
    const isExcepted = except !== undefined && (except.ids?.has(id) ?? true)
    const errors = isExcepted ? except.reason : productErrors(product, parts.strict)
    if (errors === undefined) parts.store.take(id, documentAt(body, index), atMs)
    else refusals.push({ product_id: id, errors })
  })
  return { kind: 'taken', refusals }
}

function documentAt(body: UpsertBody, index: number): Buffer {
  const document = body.documents[index]
  if (document === undefined) throw new Error('a product has no bytes')
  return document
}

interface HeadRules {
  tokens: SandboxTokens
  strict: boolean
}

interface HeadRefusal {
  status: number
  headers: Record<string, string>
  type: string
  message: string
}

/** What is refused before the body is read. */
function refuseHead(request: FastifyRequest, { tokens, strict }: HeadRules): HeadRefusal | undefined {
  const { authorization, 'content-type': contentType = '', 'content-encoding': encoding } = request.headers
  const problem = basicProblem(authorization, 'products', tokens)
  if (problem !== undefined) {
    return {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="products", charset="UTF-8"' },
      type: 'unauthorized',
      message: problem,
    }
  }
  const compressed = compressionProblem(encoding)
  if (compressed !== undefined) {
    return { status: 415, headers: {}, type: 'unsupported_media_type', message: compressed }
  }
  if (strict && !/^application\/json\s*(;|$)/i.test(contentType)) {
    return {
      status: 415,
      headers: {},
      type: 'unsupported_media_type',
      message: 'send Content-Type: application/json',
    }
  }
  return undefined
}
