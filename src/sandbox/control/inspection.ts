import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type CallLog, type CallRecord, describeLogged } from '../call-log.ts'
import {
  type InspectedConsents,
  registerConsentInspection,
  summariseConsents,
} from '../consent/consent-inspection.ts'
import type { IntentAnswers } from '../intent/intent-answer.ts'
import type { OverlapWatch } from '../overlaps.ts'
import { inChunks, isoTime, type PageQuery, pageOf, wholeNumber } from '../page-query.ts'
import type { HeldProduct, ProductStore } from '../products/product-store.ts'
import { registerStackInspection } from '../stack/stack-inspection.ts'
import type { RateWindow } from '../stack/stack-rate.ts'
import type { StackStore } from '../stack/stack-store.ts'
import type { Faults } from './faults.ts'

export interface InspectedParts extends InspectedConsents {
  store: ProductStore
  calls: CallLog
  overlaps: OverlapWatch
  faults: Faults
  stack: StackStore
  rate: RateWindow
  intent: IntentAnswers
}

const overlapsShownMax = 20
const jsonType = 'application/json; charset=utf-8'

/** What arrived, for people and tests: `/sandbox/summary`, `/sandbox/products…`, `/sandbox/calls`, and the reset. */
export async function registerInspection(scope: FastifyInstance, parts: InspectedParts): Promise<void> {
  const { store, calls, overlaps, faults } = parts

  scope.get('/sandbox/summary', async () => summarise(parts))

  // A wildcard, because an id may hold encoded slashes; `?id=` takes those that no path can carry (such as `..`).
  scope.get<{ Params: { '*': string } }>('/sandbox/products/*', async (request, reply) =>
    sendProduct(reply, store.get(request.params['*']), request.params['*']),
  )
  scope.get<{ Querystring: PageQuery & { id?: string } }>('/sandbox/products', async (request, reply) => {
    const { id } = request.query
    if (id !== undefined) return sendProduct(reply, store.get(id), id)
    return reply.type(jsonType).send(describePage(store, request.query))
  })
  scope.get('/sandbox/products.ndjson', async (_request, reply) =>
    reply.type('application/x-ndjson; charset=utf-8').send(Readable.from(documentLines(store))),
  )
  scope.delete('/sandbox/products', async () => {
    store.clear()
    return {}
  })

  scope.get<{ Querystring: { ids?: string; limit?: string } }>('/sandbox/calls', async (request) => {
    const { ids, limit } = request.query
    const shown = calls.last(wholeNumber(limit, Number.MAX_SAFE_INTEGER))
    return {
      total: calls.total,
      calls: shown.map((call) => describeCall(call, ids === '1' || ids === 'true')),
    }
  })

  await registerConsentInspection(scope, parts)
  await registerStackInspection(scope, parts)
  scope.post('/sandbox/reset', async () => {
    const { consents, consentCalls, consentOverlaps, intent, stack, rate } = parts
    const ofConsents = [consents, consentCalls, consentOverlaps]
    for (const part of [store, calls, overlaps, faults, ...ofConsents, intent, stack, rate]) part.clear()
    return {}
  })
}

function summarise(parts: InspectedParts): object {
  const { store, calls, overlaps } = parts
  const totals = calls.totals()
  return {
    products: store.size,
    documentsReceived: totals.documentsReceived,
    documentsTaken: store.documentsTaken,
    calls: calls.summarise(),
    bytes: totals.bytes,
    largestCallBytes: totals.largestCallBytes,
    overlapping: { count: overlaps.count, ids: overlaps.first(overlapsShownMax) },
    firstReceivedAt: isoTime(store.firstReceivedAtMs),
    lastReceivedAt: isoTime(store.lastReceivedAtMs),
    consents: summariseConsents(parts),
    intent: { requests: parts.intent.requests },
  }
}

function sendProduct(reply: FastifyReply, held: HeldProduct | undefined, id: string): FastifyReply {
  if (held === undefined) {
    return reply.code(404).send({ message: `no product ${JSON.stringify(id)} has been taken` })
  }
  const head = JSON.stringify({
    product_id: held.id,
    times: held.timesTaken,
    receivedAt: held.receivedAtMs.map(isoTime),
    receivedAtMs: held.receivedAtMs,
  })
  return reply.type(jsonType).send(withDocument(head, held))
}

/** Puts the bytes of the document into a JSON object as they were sent, rather than what a parser makes of them. */
function withDocument(head: string, held: HeldProduct): Buffer {
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"document":`), held.document, Buffer.from('}')])
}

function describePage(store: ProductStore, query: PageQuery): Buffer {
  const { offset, limit } = pageOf(query)
  const parts: Buffer[] = []
  let position = 0
  for (const held of store.values()) {
    if (position >= offset + limit) break
    if (position >= offset)
      parts.push(separator(parts.length), withDocument(JSON.stringify({ product_id: held.id }), held))
    position += 1
  }
  const head = Buffer.from(`{"total":${store.size},"offset":${offset},"products":[`)
  return Buffer.concat([head, ...parts, Buffer.from(']}')])
}

function separator(before: number): Buffer {
  return Buffer.from(before === 0 ? '' : ',')
}

function documentLines(store: ProductStore): Iterable<Buffer> {
  return inChunks(
    store.values(),
    ({ document }) => lineOf(document),
    (lines) => Buffer.concat(lines),
  )
}

/** A line break inside a document can only be white space between its values. */
function lineOf(document: Buffer): Buffer {
  const line = Buffer.allocUnsafe(document.length + 1)
  document.copy(line)
  for (let at = line.indexOf(0x0a); at !== -1 && at < document.length; at = line.indexOf(0x0a, at))
    line[at] = 0x20
  line[document.length] = 0x0a
  return line
}

const firstIdsShown = 5

function describeCall(call: CallRecord, allIds: boolean): object {
  const { bytes, products } = call
  const ids = (allIds ? call.ids : call.ids?.slice(0, firstIdsShown)) ?? null
  return describeLogged(call, { bytes, products, ids })
}
