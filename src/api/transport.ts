import type { Dispatcher } from 'undici'
import type { NetworkConfig } from '../config/model.ts'
import { baseAddressProblem } from '../lib/base-address.ts'
import { ConfigError, EndpointError, systemErrorCode } from '../lib/errors.ts'
import { ServerConnections } from '../lib/network.ts'
import type { CallOutcome } from './call-outcome.ts'
import { type Exchange, ResponseReader } from './response-reader.ts'
import { checkTimeout } from './timeout.ts'

/** A new connection resolves the name again: a moved endpoint is found within this time. */
const socketAgeMsMax = 60_000
const connectMsMax = 10_000

export interface TransportOptions {
  /**
   * Base address: https, or http on this machine; any other is refused before a byte is sent. A path in it is kept as a
   * prefix. Asked for once, at the first call.
   */
  url: () => URL
  /** The way there; default: directly. */
  network?: NetworkConfig | undefined
  /** Of a whole call, from asking for a connection to the last byte of the response. */
  timeoutMs: number
  connections: number
  /** Of catalogd, for the User-Agent. */
  version: string
  /** How much is read of a body; default: 1 MiB where it may hold data, 64 KiB of other errors. */
  responseBytesMax?: (status: number) => number
}

export interface TransportRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the base address, with its query. May hold what nobody may see. */
  path: string
  /** The same, fit to be shown in messages. */
  shownPath: string
  /** Asked for at every call, so that a token that was replaced in its file is used at once. */
  headers: () => Record<string, string>
  body?: Buffer
  signal?: AbortSignal | undefined
  /** Instead of the one of the transport. */
  timeoutMs?: number | undefined
}

/**
 * Carries single requests to one base address: HTTP/1.1, no request repeated, no redirect followed, every time and size
 * limited. Connections are made when they are needed and closed on disposal; what is sent afterwards is not sent.
 */
export class Transport implements AsyncDisposable {
  readonly #options: TransportOptions
  #endpoint: Endpoint | undefined
  #isClosed = false

  constructor(options: TransportOptions) {
    this.#options = options
  }

  /** Never throws. What it answers shows neither headers nor the path that was asked for, only `shownPath`. */
  async send(request: TransportRequest): Promise<CallOutcome> {
    const { method, path, shownPath, body = null, signal } = request
    const { timeoutMs = this.#options.timeoutMs } = request
    let endpoint: Endpoint
    let dispatcher: Dispatcher
    let headers: Record<string, string>
    try {
      if (this.#isClosed) throw closedError()
      checkTimeout(timeoutMs)
      endpoint = this.#open()
      dispatcher = endpoint.connections.current
      headers = { 'user-agent': `catalogd/${this.#options.version}`, ...request.headers() }
    } catch (cause) {
      // The texts of these errors are our own: they name the variable or file, never its content.
      const message = cause instanceof Error ? cause.message : 'the address or the token cannot be read'
      return { kind: 'not-sent', error: new EndpointError('no-endpoint', message, { cause }) }
    }
    const { base, prefix } = endpoint
    const dispatched = { origin: base.origin, path: prefix + path, method, headers, body } as const
    const exchange = await this.#exchange(dispatcher, dispatched, { signal, timeoutMs })
    if ('response' in exchange) return exchange.response
    return describeFailure(exchange, `${method} ${base.origin}${prefix}${shownPath}`)
  }

  /** Where a request goes, fit to be shown. Throws when the base address may not be used. */
  show({ shownPath }: Pick<TransportRequest, 'shownPath'>): { path: string; url: string } {
    const { base, prefix } = this.#open()
    return { path: prefix + shownPath, url: base.origin + prefix + shownPath }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.#endpoint?.connections[Symbol.asyncDispose]()
  }

  #exchange(
    dispatcher: Dispatcher,
    request: Dispatcher.DispatchOptions,
    { signal, timeoutMs }: { signal: AbortSignal | undefined; timeoutMs: number },
  ): Promise<Exchange> {
    return new Promise((resolve) => {
      const reader = new ResponseReader((exchange) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        resolve(exchange)
      }, this.#options.responseBytesMax)
      const onAbort = () => reader.cancel(new EndpointError('call-aborted', 'the call was given up'))
      const timer = setTimeout(
        () => reader.cancel(new EndpointError('call-timeout', `no whole answer within ${timeoutMs} ms`)),
        timeoutMs,
      )
      signal?.addEventListener('abort', onAbort, { once: true })
      if (signal?.aborted) return onAbort()
      try {
        dispatcher.dispatch(request, reader)
      } catch (error) {
        reader.cancel(error instanceof Error ? error : new Error(String(error)))
      }
    })
  }

  /** HTTP/1.1 only: over HTTP/2 a connection's end may repeat requests that it had begun. */
  #open(): Endpoint {
    if (this.#endpoint) return this.#endpoint
    const { url, network, timeoutMs, connections } = this.#options
    const base = url()
    const problem = baseAddressProblem(base.href)
    if (problem !== undefined) {
      throw new ConfigError('base-address', `the base address ${base.protocol}//${base.host}: ${problem}`)
    }
    const options = {
      connections,
      pipelining: 1,
      allowH2: false,
      clientTtl: socketAgeMsMax,
      keepAliveMaxTimeout: socketAgeMsMax,
      connectTimeout: Math.min(timeoutMs, connectMsMax),
      // The time of the whole call is kept above; these must not end it before.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    const opened = new ServerConnections({ network, url: base, options })
    this.#endpoint = { connections: opened, base, prefix: base.pathname.replace(/\/+$/, '') }
    return this.#endpoint
  }
}

interface Endpoint {
  connections: ServerConnections
  base: URL
  prefix: string
}

/** For calls of a client after its end. */
export function closedError(): ConfigError {
  return new ConfigError('client-closed', 'the client is closed', {
    hint: 'Make a new one, or close it after the last call',
  })
}

export function basicCredentials(token: string): string {
  return `Basic ${Buffer.from(`:${token}`).toString('base64')}`
}

/** A new error with a text of our own: what undici attaches to its errors is not passed on. */
function describeFailure({ error, sent }: { error: Error; sent: boolean }, call: string): CallOutcome {
  const systemCode = systemErrorCode(error)
  const code = error instanceof EndpointError ? error.code : sent ? 'connection-lost' : 'cannot-connect'
  const detail = error.message || systemCode || error.name
  const suffix = systemCode && error.message && !detail.includes(systemCode) ? ` (${systemCode})` : ''
  const message = `${call}: ${detail}${error instanceof EndpointError ? '' : suffix}`
  return { kind: sent ? 'unknown' : 'not-sent', error: new EndpointError(code, message) }
}
