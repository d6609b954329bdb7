import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** An HTTP server that answers each request with the next of its answers, the last one for ever. */
export async function startFeedServer(answers: Answer[], tls?: { key: string; cert: string }) {
  const requests: { method: string; path: string; headers: IncomingMessage['headers']; local: string }[] = []
  const listener: RequestListener = (request, response) => {
    const { method = '', url: path = '', headers, socket } = request
    requests.push({ method, path, headers, local: socket.localAddress ?? '' })
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(request, response)
  }
  const server = tls ? createTlsServer(tls, listener) : createServer(listener)
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    answers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The whole file, with its length. */
export function whole(body: string, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': Buffer.byteLength(body), ...headers })
    response.end(body)
  }
}

export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(code, headers)
    response.end()
  }
}

/** Announces the whole file, sends so many bytes, and ends the connection. */
export function cut(body: string, sent: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-length': Buffer.byteLength(body), ...headers })
    response.write(Buffer.from(body).subarray(0, sent), () => response.socket?.destroy())
  }
}

/** What is asked for with `Range`, when `If-Range` says that it may be combined; else the whole file. */
export function rest(body: string, headers: Record<string, string> = {}): Answer {
  return (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
    const isSame =
      request.headers['if-range'] === headers.etag || request.headers['if-range'] === headers['last-modified']
    if (Number.isNaN(from) || !isSame) return whole(body, headers)(request, response)
    const bytes = Buffer.from(body)
    response.writeHead(206, {
      'content-length': bytes.length - from,
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
      ...headers,
    })
    response.end(bytes.subarray(from))
  }
}
