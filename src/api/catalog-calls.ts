import { strict as assert } from 'node:assert'
import type { CallOutcome } from './call-outcome.ts'
import { endpoints } from './contract/endpoints.ts'
import { basicCredentials, Transport, type TransportOptions, type TransportRequest } from './transport.ts'

export interface CatalogCallsOptions extends TransportOptions {
  /** Asked for at every call, so that a token that was replaced in its file is used at once. */
  token: () => string
  /** No body is ever longer; a longer one is a bug of the caller. */
  bodyBytesMax: number
}

/** Single calls of the catalog API, whose outcomes are answered as they are: for the daemon, which decides what follows. */
export interface CatalogCalls extends AsyncDisposable {
  /** One upsert call of documents that are wire-form JSON. Never repeats a request, never throws. */
  upsert(documents: readonly Uint8Array[], options?: CallOptions): Promise<CallOutcome>
  /** A call without products: shows whether the endpoint takes the token. */
  probe(options?: CallOptions): Promise<CallOutcome>
}

export interface CallOptions {
  signal?: AbortSignal
  /** Instead of the configured one. */
  token?: string
}

/** Opens a client of the catalog API. Connections are made when they are needed and closed on disposal. */
export function openCatalogCalls(options: CatalogCallsOptions): CatalogCalls {
  const transport = new Transport(options)
  const call = (body: Buffer, { signal, token }: CallOptions = {}) =>
    transport.send({ ...upsertRequest(body, { token: () => token ?? options.token() }), signal })
  return {
    async upsert(documents, callOptions) {
      const body = buildBody(documents)
      assert(body.length <= options.bodyBytesMax, 'the body is longer than a call may be')
      return call(body, callOptions)
    },
    probe: (callOptions) => call(buildBody([]), callOptions),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

/** The request that carries documents, which are wire-form JSON; `merchantId` goes into the query. */
export function upsertRequest(
  body: Buffer,
  { token, merchantId }: { token: () => string; merchantId?: string | undefined },
): TransportRequest {
  const { method, path } = endpoints.upsertProducts
  const query = merchantId === undefined ? '' : `?merchant-id=${encodeURIComponent(merchantId)}`
  return {
    method,
    path: path + query,
    shownPath: path,
    headers: () => ({
      authorization: basicCredentials(token()),
      'content-type': 'application/json',
      accept: 'application/json',
    }),
    body,
  }
}

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Exact length of the body that `buildBody` makes of documents of these lengths in sum. */
export function bodyBytesOf({ count, documentBytes }: { count: number; documentBytes: number }): number {
  return 2 + documentBytes + Math.max(0, count - 1)
}

/** Exact length of the request body for these documents, brackets and commas counted. */
export function bodyBytes(documents: readonly Uint8Array[]): number {
  let documentBytes = 0
  for (const document of documents) documentBytes += document.length
  return bodyBytesOf({ count: documents.length, documentBytes })
}

/** The JSON array of documents that are JSON already: copied, never parsed or serialised again. */
export function buildBody(documents: readonly Uint8Array[]): Buffer {
  const body = Buffer.allocUnsafe(bodyBytes(documents))
  let offset = 0
  body[offset++] = openBracket
  documents.forEach((document, index) => {
    if (index > 0) body[offset++] = comma
    body.set(document, offset)
    offset += document.length
  })
  body[offset++] = closeBracket
  assert.equal(offset, body.length, 'the body has another length than its documents')
  return body
}
