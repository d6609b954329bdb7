import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AlertPayload } from '../../src/alerts/alert-book.ts'
import type { AlertsConfig } from '../../src/config/model.ts'
import { waitFor } from '../support/events.ts'

export const secretPath = '/services/s3cret-path'

export interface WebhookServer extends AsyncDisposable {
  url: string
  /** Payloads that were answered 2xx, in order. */
  taken: AlertPayload[]
  /** All requests, refused ones too. */
  requests: { path: string | undefined; headers: IncomingHttpHeaders; status: number }[]
  /** How the next requests are answered, one each; afterwards 204. 0: the connection is cut. */
  answers: number[]
  /** Waits for a taken payload of that kind and state. */
  until(kind: AlertPayload['kind'], state: AlertPayload['state'], subject?: string): Promise<AlertPayload>
}

/** A webhook as chats and pagers have one. */
export async function openWebhook(): Promise<WebhookServer> {
  const taken: AlertPayload[] = []
  const requests: WebhookServer['requests'] = []
  const answers: number[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const status = answers.shift() ?? 204
    requests.push({ path: request.url, headers: request.headers, status })
    if (text !== '' && status >= 200 && status < 300) taken.push(JSON.parse(text) as AlertPayload)
    if (status === 0) request.socket.destroy()
    else response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${secretPath}`
  return {
    ...{ url, taken, requests, answers },
    until: (kind, state, subject) => {
      const matches = (one: AlertPayload) =>
        one.kind === kind && one.state === state && (subject === undefined || one.subject === subject)
      const what = () => `${kind} ${state}; taken: ${JSON.stringify(taken)}`
      return waitFor(() => taken.find(matches), { what })
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function configOf(url: string, changes: Partial<AlertsConfig> = {}): AlertsConfig {
  return {
    url: { available: true, value: () => new URL(url) },
    headers: [{ name: 'Authorization', value: { available: true, value: () => 'Bearer s3cret-token' } }],
    everyMs: 900_000,
    urgentLagMs: 300_000,
    ...changes,
  }
}
