import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedCall {
  path: string
  headers: IncomingMessage['headers']
  body: string
  bytes: number
  ids: string[]
}

export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: string | Buffer }
  /** Never answered. */
  | 'hang'
  /** The connection is reset instead of an answer. */
  | 'reset'
  /** A response is begun, and the connection ends within it. */
  | 'half'

export type Script = (call: ReceivedCall) => Answer | Promise<Answer>

/** A real HTTP server whose answers a test decides call by call. */
export async function openEndpoint(script: Script = () => ({})) {
  const calls: ReceivedCall[] = []
  let current = script
  let running = new Map<string, number>()
  const overlapping = new Set<string>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const call = toCall(request, Buffer.concat(chunks))
      calls.push(call)
      for (const id of call.ids) {
        if ((running.get(id) ?? 0) > 0) overlapping.add(id)
        running.set(id, (running.get(id) ?? 0) + 1)
      }
      const counts = running
      const answer = await current(call)
      for (const id of call.ids) counts.set(id, (counts.get(id) ?? 1) - 1)
      respond(answer, request, response)
    })
  })
  // Longer than any test: the client decides when a connection has become too old.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    calls,
    overlapping,
    url: new URL(`http://127.0.0.1:${port}`),
    /** From now on it answers so. */
    answerWith(next: Script) {
      current = next
      running = new Map()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Endpoint = Awaited<ReturnType<typeof openEndpoint>>

function respond(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer === 'hang') return
  if (answer === 'reset') return void request.socket.resetAndDestroy()
  if (answer === 'half') {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{"half":', () => request.socket.destroy())
    return
  }
  response.writeHead(answer.status ?? 200, answer.headers)
  response.end(answer.body ?? '{}')
}

function toCall(request: IncomingMessage, body: Buffer): ReceivedCall {
  const text = body.toString('utf8')
  const documents = JSON.parse(text) as { product_id: string }[]
  const ids = documents.map((document) => document.product_id)
  return { path: request.url ?? '', headers: request.headers, body: text, bytes: body.length, ids }
}
