import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallLog } from '../call-log.ts'
import { applyFaultsTo, type GroupParts } from '../control/fault-hooks.ts'
import type { RefuseAction } from '../control/fault-schema.ts'
import { basicProblem } from '../credentials.ts'
import type { OverlapWatch } from '../overlaps.ts'
import { bytesOf, compressionProblem, type ReceivedBody, receiveBytes, wholeBytes } from '../request-body.ts'
import { productErrors } from './lenient-product.ts'
import type { ProductStore } from './product-store.ts'
import { type ParsedBody, parseUpsertBody, type UpsertBody } from './upsert-body.ts'
import { beginCall, type UpsertCall } from './upsert-call.ts'

export interface UpsertParts extends GroupParts {
  store: ProductStore
  calls: CallLog
  overlaps: OverlapWatch
  callBytesMax: number
}

/** A call whose body has been read has its products, too. */
interface CallUnderWay extends UpsertCall {
  body?: ParsedBody
}

/** `POST /v1/products/upsert` with the checks of the contract, and whatever fault is set. */
export async function registerProductUpsert(scope: FastifyInstance, parts: UpsertParts): Promise<void> {
  const { calls, overlaps } = parts
  const underWay = new WeakMap<FastifyRequest, CallUnderWay>()
  const callOf = (request: FastifyRequest) => {
    const call = underWay.get(request)
    if (call === undefined) throw new Error('a call was not begun')
    return call
  }

  scope.addHook('onRequest', async (request, reply) => {
    const call = beginCall(request, reply, parts)
    underWay.set(request, call)
    const refusal = refuseHead(request, parts)
    if (refusal === undefined) return
    overlaps.skip(call.span)
    reply.code(refusal.status).headers(refusal.headers)
    await sendError(reply, refusal.type, refusal.message)
    return reply
  })
  receiveBytes(scope, parts.callBytesMax)

  scope.addHook<{ Body: ReceivedBody | undefined }>('preValidation', async (request, reply) => {
    const call = callOf(request)
    const bytes = wholeBytes(request.body)
    calls.read(call.record, bytesOf(request.body))
    if (bytes === undefined) {
      overlaps.skip(call.span)
      const message = `the body is larger than ${parts.callBytesMax} bytes; send fewer products a call`
      return sendError(reply.code(413), 'payload_too_large', message)
    }
    await nextTurn()
    overlaps.settle(call.span)
    call.body = parseUpsertBody(bytes)
    const ids = idsOf(call.body)
    calls.holds(call.record, ids)
    overlaps.enter(
      call.span,
      ids.filter((id) => id !== ''),
    )
  })

  applyFaultsTo(scope, {
    ...parts,
    group: 'products',
    // A slow server has changed its state before it says so: the handler waits.
    latencyMs: 0,
    subjectOf: (request) => {
      const { record, body } = callOf(request)
      return body && { bytes: record.bytes, ids: idsOf(body) }
    },
    refuse: (reply, action, request) => {
      const { body } = callOf(request)
      if (action.named && body) return answerTaken(reply, takeProducts(parts, body, action))
      return sendError(reply.code(400), 'has_errors', action.reason)
    },
    onFault: (request, name) => {
      callOf(request).record.fault = name
    },
    onReset: (request) => calls.end(callOf(request).record, 'reset', parts.now()),
  })

  scope.post('/v1/products/upsert', async (request, reply) => {
    const { record, body } = callOf(request)
    if (body === undefined) throw new Error('a body was not read')
    const taken = takeProducts(parts, body)
    if (record.fault === undefined && parts.latencyMs > 0) await parts.sleep(parts.latencyMs)
    return answerTaken(reply, taken)
  })
}

function idsOf(body: ParsedBody): readonly string[] {
  return body.kind === 'products' ? body.ids : []
}

/** Checks and takes what is valid; the neighbours of a refused product are taken too. `except`: refused whatever they hold. */
function takeProducts(parts: UpsertParts, body: ParsedBody, except?: RefuseAction): Taken {
  if (body.kind === 'unreadable') return body
  const atMs = parts.now()
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

interface HeadRefusal {
  status: number
  headers: Record<string, string>
  type: string
  message: string
}

/** What is refused before the body is read. */
function refuseHead(request: FastifyRequest, { tokens, strict }: GroupParts): HeadRefusal | undefined {
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

/** Why the endpoint does not take a product, in its own words. */
interface ProductRefusal {
  product_id: string
  errors: string
}

type Taken = { kind: 'taken'; refusals: readonly ProductRefusal[] } | { kind: 'unreadable'; message: string }

/** 200 `{}`, or 400 with the errors as JSON under a text content type, as the endpoint does. */
function answerTaken(reply: FastifyReply, taken: Taken): FastifyReply {
  if (taken.kind === 'unreadable') {
    reply.code(400)
    return sendError(reply, 'invalid_request', taken.message)
  }
  if (taken.refusals.length === 0) return reply.type('application/json; charset=utf-8').send('{}')
  return reply
    .code(400)
    .type('text/plain; charset=utf-8')
    .send(
      JSON.stringify({
        type: 'has_errors',
        message: 'Failed to upsert some products; see errors',
        errors: taken.refusals,
      }),
    )
}

/** JSON under a text content type, the form in which this endpoint answers every refusal. */
function sendError(reply: FastifyReply, type: string, message: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send(JSON.stringify({ type, message }))
}
