import type { Dispatcher } from 'undici'
import type { AlertsConfig, Deferred } from '../config/model.ts'
import { EndpointError } from '../lib/errors.ts'
import { ServerConnections } from '../lib/network.ts'
import { readVersion } from '../lib/version.ts'
import type { AlertPayload } from './alert-book.ts'

const timeoutMs = 10_000
const options = { connections: 1, keepAliveTimeout: 1_000, connectTimeout: timeoutMs, allowH2: false }

/**
 * Sends single payloads to the configured address, and heartbeats to a monitor. Errors name an origin only: the paths are
 * secrets.
 */
export class Webhook implements AsyncDisposable {
  readonly #config: AlertsConfig
  readonly #connections = new Map<string, ServerConnections>()

  constructor(config: AlertsConfig) {
    this.#config = config
  }

  /** Resolves when it was answered 2xx; otherwise throws an EndpointError. Redirects are not followed. */
  async send(payload: AlertPayload, signal?: AbortSignal): Promise<void> {
    const { url, headers, format } = this.#config
    if (url === undefined) return
    const own = headers.map(({ name, value }) => [name, value.value()])
    const body = JSON.stringify(format === 'slack' ? { text: escapeForSlack(payload.text) } : payload)
    await this.#request({
      ...{ what: 'webhook', key: 'alerts.url', url, signal, method: 'POST', body },
      headers: { 'content-type': 'application/json', ...Object.fromEntries(own) },
    })
  }

  /** Likewise for a monitor that is to hear from us every so often. */
  async beat(signal: AbortSignal): Promise<void> {
    const { heartbeat } = this.#config
    if (!heartbeat) return
    const { url } = heartbeat
    await this.#request({ what: 'monitor', key: 'alerts.heartbeat.url', url, signal, method: 'GET' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#connections.values()].map((each) => each[Symbol.asyncDispose]()))
  }

  async #request({ what, key, url: deferred, signal, headers, ...request }: Asked): Promise<void> {
    const url = deferred.value()
    const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]
    let status: number
    try {
      const answer = await this.#connectionsTo(url).current.request({
        ...{ origin: url.origin, path: url.pathname + url.search, ...request },
        headers: { 'user-agent': `catalogd/${readVersion()}`, ...headers },
        signal: AbortSignal.any(signals),
      })
      status = answer.statusCode
      await answer.body.dump()
    } catch (error) {
      // What undici attaches to its errors is not passed on.
      const reason = error instanceof Error ? error.message.replaceAll(url.href, url.origin) : 'it failed'
      throw new EndpointError('webhook', `the ${what} at ${url.origin} cannot be reached: ${reason}`, {
        hint: `Check ${key} and the network`,
      })
    }
    if (status >= 200 && status < 300) return
    throw new EndpointError('webhook', `the ${what} at ${url.origin} answers ${status}`, {
      hint: `Check ${key}${what === 'webhook' ? ' and alerts.headers' : ''}`,
    })
  }

  #connectionsTo(url: URL): ServerConnections {
    const { network } = this.#config
    const known = this.#connections.get(url.origin) ?? new ServerConnections({ network, url, options })
    this.#connections.set(url.origin, known)
    return known
  }
}

interface Asked extends Pick<Dispatcher.RequestOptions, 'method'> {
  what: 'webhook' | 'monitor'
  /** Where the address stands in the configuration. */
  key: string
  url: Deferred<URL>
  signal: AbortSignal | undefined
  headers?: Record<string, string>
  body?: string
}

/** Its marks begin with these three. */
function escapeForSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
