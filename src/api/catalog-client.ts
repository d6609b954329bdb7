import { strict as assert } from 'node:assert'
import { type Dispatcher, Pool } from 'undici'
import { EndpointError, systemErrorCode } from '../lib/errors.ts'
import { buildBody } from './call-body.ts'
import type { CallOutcome } from './call-outcome.ts'
import { type Exchange, ResponseReader } from './response-reader.ts'

const upsertPath = '/v1/products/upsert'
/** A new connection resolves the name again: a moved endpoint is found within this time. */
const socketAgeMsMax = 60_000
const connectMsMax = 10_000

export interface CatalogClientOptions {
  /** Base address; a path in it is kept as a prefix. Asked for once, at the first call. */
  url: () => URL
  /** Asked for at every call, so that a token that was replaced in its file is used at once. */
  token: () => string
  /** Of a whole call, from asking for a connection to the last byte of the response. */
  timeoutMs: number
  connections: number
  /** No body is ever longer; a longer one is a bug of the caller. */
  bodyBytesMax: number
  /** Of catalogd, for the User-Agent. */
  version: string
}

export interface CatalogClient extends AsyncDisposable {
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
export function openCatalogClient(options: CatalogClientOptions): CatalogClient {
  return new UndiciCatalogClient(options)
}

class UndiciCatalogClient implements CatalogClient {
  readonly #options: CatalogClientOptions
  #endpoint: { pool: Pool; path: string; name: string } | undefined

  constructor(options: CatalogClientOptions) {
    this.#options = options
  }

  async upsert(documents: readonly Uint8Array[], options: CallOptions = {}): Promise<CallOutcome> {
    const body = buildBody(documents)
    assert(body.length <= this.#options.bodyBytesMax, 'the body is longer than a call may be')
    return this.#call(body, options)
  }

  async probe(options: CallOptions = {}): Promise<CallOutcome> {
    return this.#call(buildBody([]), options)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endpoint?.pool.destroy()
    this.#endpoint = undefined
  }

  async #call(body: Buffer, { signal, token }: CallOptions): Promise<CallOutcome> {
    let endpoint: { pool: Pool; path: string; name: string }
    let headers: Record<string, string>
    try {
      endpoint = this.#open()
      headers = this.#headers(token ?? this.#options.token())
    } catch (cause) {
      // The texts of these errors are our own: they name the variable or file, never its content.
      const message = cause instanceof Error ? cause.message : 'the address or the token cannot be read'
      return { kind: 'not-sent', error: new EndpointError('no-endpoint', message, { cause }) }
    }
    const request = { path: endpoint.path, method: 'POST', headers, body } as const
    const exchange = await this.#exchange(endpoint.pool, request, signal)
    return 'response' in exchange ? exchange.response : describeFailure(exchange, endpoint.name)
  }

  #exchange(
    pool: Pool,
    request: Dispatcher.DispatchOptions,
    signal: AbortSignal | undefined,
  ): Promise<Exchange> {
    const { timeoutMs } = this.#options
    return new Promise((resolve) => {
      const reader = new ResponseReader((exchange) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        resolve(exchange)
      })
      const onAbort = () => reader.cancel(new EndpointError('call-aborted', 'the call was given up'))
      const timer = setTimeout(
        () => reader.cancel(new EndpointError('call-timeout', `no whole answer within ${timeoutMs} ms`)),
        timeoutMs,
      )
      signal?.addEventListener('abort', onAbort, { once: true })
      if (signal?.aborted) return onAbort()
      try {
        pool.dispatch(request, reader)
      } catch (error) {
        reader.cancel(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }

  /** HTTP/1.1 only: over HTTP/2 a connection's end may repeat requests that it had begun. */
  #open(): { pool: Pool; path: string; name: string } {
    if (this.#endpoint) return this.#endpoint
    const { url, timeoutMs, connections } = this.#options
    const base = url()
    const path = base.pathname.replace(/\/+$/, '') + upsertPath
    const pool = new Pool(base.origin, {
      connections,
      pipelining: 1,
      allowH2: false,
      clientTtl: socketAgeMsMax,
      keepAliveMaxTimeout: socketAgeMsMax,
      connectTimeout: Math.min(timeoutMs, connectMsMax),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    })
    this.#endpoint = { pool, path, name: base.origin + path }
    return this.#endpoint
  }

  #headers(token: string): Record<string, string> {
    return {
      authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': `catalogd/${this.#options.version}`,
    }
  }
}

/** A new error with a text of our own: what undici attaches to its errors is not passed on. */
function describeFailure({ error, sent }: { error: Error; sent: boolean }, endpoint: string): CallOutcome {
  const systemCode = systemErrorCode(error)
  const code = error instanceof EndpointError ? error.code : sent ? 'connection-lost' : 'cannot-connect'
  const detail = error.message || systemCode || error.name
  const suffix = systemCode && error.message && !detail.includes(systemCode) ? ` (${systemCode})` : ''
  const message = `POST ${endpoint}: ${detail}${error instanceof EndpointError ? '' : suffix}`
  return { kind: sent ? 'unknown' : 'not-sent', error: new EndpointError(code, message) }
}
