import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import type { Clock } from '../../src/lib/clock.ts'

export interface Received {
  method: string
  /** With everything, as it came. */
  target: string
  path: string
  /** Without the credentials of a Stack. */
  query: Record<string, string>
  headers: IncomingMessage['headers']
  text: string
  /** Undefined for what is no JSON. */
  body: unknown
}

export type Reply =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  /** Never answered. */
  | 'hang'
  /** The connection is reset instead of an answer. */
  | 'reset'
  /** A response is begun, and the connection ends within it. */
  | 'half'

export type Answering = (request: Received, count: number) => Reply | Promise<Reply>

/** A real HTTP server whose answers a test decides request by request. Bodies that are no texts are sent as JSON. */
export async function openServer(answering: Answering = () => ({})) {
  const requests: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const received = toReceived(request, Buffer.concat(chunks).toString('utf8'))
      requests.push(received)
      respond(await answering(received, requests.length), request, response)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    requests,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A clock that is always where the last sleep ended. */
export class LeapingClock implements Clock {
  #time = 1_800_000_000_000
  readonly sleeps: number[] = []

  now = () => this.#time
  monotonic = () => this.#time

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(delayMs)
    this.#time += delayMs
  }
}

/** What a call threw; fails when it did not. */
export async function thrownBy(run: () => Promise<unknown> | unknown): Promise<Error> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Error) return error
    throw new TypeError('something else than an error was thrown')
  }
  throw new Error('nothing was thrown')
}

/** All texts of an error that a log, a debugger or a serialiser could get at, its causes included. */
export function everythingIn(error: unknown): string {
  const parts: string[] = [
    inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxStringLength: null }),
  ]
  let at: unknown = error
  for (let depth = 0; at instanceof Error && depth < 10; depth += 1) {
    const fields = Object.getOwnPropertyNames(at).map((name) => [
      name,
      (at as unknown as Record<string, unknown>)[name],
    ])
    parts.push(at.stack ?? '', JSON.stringify(at), JSON.stringify(Object.fromEntries(fields)))
    at = at.cause
  }
  return parts.join('\n')
}

function respond(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply === 'hang') return
  if (reply === 'reset') return void request.socket.resetAndDestroy()
  if (reply === 'half') {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{"half":', () => request.socket.destroy())
    return
  }
  const { status = 200, headers = {}, body = {} } = reply
  response.writeHead(status, headers)
  response.end(typeof body === 'string' || body instanceof Buffer ? body : JSON.stringify(body))
}

function toReceived(request: IncomingMessage, text: string): Received {
  const target = request.url ?? ''
  const { pathname, searchParams } = new URL(target, 'http://localhost')
  const { access_token: _token, stack: _stack, ...query } = Object.fromEntries(searchParams)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  return { method: request.method ?? '', target, path: pathname, query, headers: request.headers, text, body }
}
