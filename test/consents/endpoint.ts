import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ConsentCall {
  email: string
  consent: boolean
  headers: IncomingMessage['headers']
  method: string
  path: string
  body: string
  /** Wall-clock ms of its arrival. */
  at: number
}

export type Answer = { status: number; body?: string; headers?: Record<string, string> } | 'hang' | 'reset'
export type Script = (call: ConsentCall, before: readonly ConsentCall[]) => Answer | Promise<Answer>

const good: Answer = { status: 200 }

/** A real HTTP server that takes consents; a test decides its answers call by call. */
export async function openConsentEndpoint(script: Script = () => good) {
  const calls: ConsentCall[] = []
  const running = new Set<string>()
  const overlapping = new Set<string>()
  const held = new Map<string, boolean>()
  let current = script
  let concurrent = 0
  let concurrentMax = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const call = readCall(request, Buffer.concat(chunks).toString())
      const before = [...calls.filter(({ email }) => email === call.email)]
      calls.push(call)
      if (running.has(call.email)) overlapping.add(call.email)
      running.add(call.email)
      concurrent += 1
      concurrentMax = Math.max(concurrentMax, concurrent)
      response.once('close', () => {
        running.delete(call.email)
        concurrent -= 1
      })
      const answer = await current(call, before)
      if (answer !== 'hang' && answer !== 'reset' && answer.status < 300) held.set(call.email, call.consent)
      respond(answer, request, response)
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    overlapping,
    /** What it took last, by address. */
    held,
    get concurrentMax() {
      return concurrentMax
    },
    callsOf: (email: string) => calls.filter((call) => call.email === email).map(({ consent }) => consent),
    answerWith(next: Script) {
      current = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type ConsentEndpoint = Awaited<ReturnType<typeof openConsentEndpoint>>

function readCall(request: IncomingMessage, body: string): ConsentCall {
  const path = request.url ?? ''
  const [flag = '', email = ''] = path.split('/').reverse()
  return {
    email: decodeURIComponent(email),
    consent: flag === 'true',
    headers: request.headers,
    method: request.method ?? '',
    path,
    body,
    at: Date.now(),
  }
}

function respond(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  if (answer === 'hang') return
  if (answer === 'reset') return void request.socket.resetAndDestroy()
  response.writeHead(answer.status, answer.headers)
  response.end(answer.body ?? '{}')
}
