import { Agent, request } from 'undici'
import type { AlertsConfig } from '../config/model.ts'
import { EndpointError } from '../lib/errors.ts'
import type { AlertPayload } from './alert-book.ts'

const timeoutMs = 10_000

/** Sends single payloads to the configured address. Errors name its origin only: the path is a secret. */
export class Webhook implements AsyncDisposable {
  readonly #config: AlertsConfig
  readonly #agent = new Agent({ connections: 1, keepAliveTimeout: 1_000, connectTimeout: timeoutMs })

  constructor(config: AlertsConfig) {
    this.#config = config
  }

  /** Resolves when it was answered 2xx; otherwise throws an EndpointError. Redirects are not followed. */
  async send(payload: AlertPayload, signal?: AbortSignal): Promise<void> {
    const url = this.#config.url.value()
    const headers = Object.fromEntries(this.#config.headers.map(({ name, value }) => [name, value.value()]))
    const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]
    let status: number
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: {
          'content-type': 'application/json',
          'user-agent': `catalogd/${payload.version}`,
          ...headers,
        },
        body: JSON.stringify(payload),
        signal: AbortSignal.any(signals),
      })
      status = answer.statusCode
      await answer.body.dump()
    } catch (error) {
      // What undici attaches to its errors is not passed on.
      const reason = error instanceof Error ? error.message.replaceAll(url.href, url.origin) : 'it failed'
      throw new EndpointError('webhook', `the webhook at ${url.origin} cannot be reached: ${reason}`, {
        hint: 'Check alerts.url and the network',
      })
    }
    if (status >= 200 && status < 300) return
    throw new EndpointError('webhook', `the webhook at ${url.origin} answers ${status}`, {
      hint: 'Check alerts.url and alerts.headers',
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy()
  }
}
