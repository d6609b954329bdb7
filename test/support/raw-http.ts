import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  status: number
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>
  text: string
  /** Statuses of what came before it, such as 100. */
  interim: readonly number[]
}

export interface RawRequest {
  method: string
  /** Path and query, as they are sent. */
  target: string
  /** In this spelling and order; `content-length` is added when there is a body and neither it nor chunks are named. */
  headers?: readonly (readonly [name: string, value: string])[]
  body?: string | Uint8Array
  /** Sends the body in chunks of at most so many bytes. */
  chunkBytes?: number
  version?: '1.0' | '1.1'
}

/** A connection that sends exactly the bytes it is given, and reads what an HTTP/1 server makes of them. */
export class RawConnection implements AsyncDisposable {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #closed = false
  #onChange: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      this.#onChange()
    })
    // A reset is one way to be closed.
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#closed = true
      this.#onChange()
    })
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    return new RawConnection(socket)
  }

  get isClosed(): boolean {
    return this.#closed || !this.#socket.writable
  }

  write(bytes: string | Uint8Array): void {
    if (!this.isClosed) this.#socket.write(bytes)
  }

  /** Settles when the bytes are on their way, or the connection is closed. */
  async drained(bytes: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.isClosed) resolve()
      else this.#socket.write(bytes, () => resolve())
    })
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Says that nothing more will be sent. */
  end(): void {
    this.#socket.end()
  }

  async send(request: RawRequest, withinMs?: number): Promise<RawAnswer> {
    this.write(formatRequest(request))
    const answer = await this.answer({
      toHead: request.method === 'HEAD',
      ...(withinMs === undefined ? {} : { withinMs }),
    })
    if (answer === undefined) throw new Error('the connection was closed without an answer')
    return answer
  }

  /** The next answer; undefined when the connection was closed before there was one. The time is a bound, no measurement. */
  async answer({ toHead = false, withinMs = 240_000 } = {}): Promise<RawAnswer | undefined> {
    const interim: number[] = []
    for (;;) {
      const parsed = parseAnswer(this.#received, { toHead, ended: this.#closed })
      if (parsed !== undefined) {
        const { used, ...answer } = parsed
        this.#received = this.#received.subarray(used)
        if (answer.status >= 200) return { ...answer, interim }
        interim.push(answer.status)
        continue
      }
      if (this.#closed) return undefined
      await this.#change(withinMs)
    }
  }

  /** All answers until the server closes the connection. */
  async answersToEnd(withinMs = 240_000): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = []
    for (;;) {
      const next = await this.answer({ withinMs })
      if (next === undefined) return answers
      answers.push(next)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy()
    if (!this.#socket.closed) await once(this.#socket, 'close')
  }

  #change(withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`nothing came within ${withinMs} ms`)), withinMs)
      this.#onChange = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** One request on a connection of its own. */
export async function sendRaw(url: string, request: RawRequest): Promise<RawAnswer> {
  await using connection = await RawConnection.open(url)
  return await connection.send(request)
}

export function formatRequest(request: RawRequest): Buffer {
  const { method, target, body, chunkBytes, version = '1.1' } = request
  const bytes = body === undefined ? undefined : Buffer.from(body)
  const headers = [...(request.headers ?? [])]
  const named = new Set(headers.map(([name]) => name.toLowerCase()))
  if (!named.has('host') && version === '1.1') headers.unshift(['Host', 'localhost'])
  if (bytes !== undefined && chunkBytes !== undefined) headers.push(['Transfer-Encoding', 'chunked'])
  else if (bytes !== undefined && !named.has('content-length') && !named.has('transfer-encoding')) {
    headers.push(['Content-Length', String(bytes.length)])
  }
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (bytes === undefined) return head
  return Buffer.concat([head, chunkBytes === undefined ? bytes : inChunks(bytes, chunkBytes)])
}

function inChunks(bytes: Buffer, chunkBytes: number): Buffer {
  const parts: Buffer[] = []
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    const part = bytes.subarray(from, from + chunkBytes)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

type Parsed = Omit<RawAnswer, 'interim'> & { used: number }

function parseAnswer(
  bytes: Buffer,
  { toHead, ended }: { toHead: boolean; ended: boolean },
): Parsed | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN)
  if (Number.isNaN(status)) throw new Error(`no HTTP answer: ${statusLine}`)
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  const start = headEnd + 4
  if (toHead || status < 200 || status === 204 || status === 304) {
    return { status, headers, text: '', used: start }
  }
  const body = parseBody(bytes.subarray(start), headers, ended)
  return body && { status, headers, text: body.content.toString('utf8'), used: start + body.used }
}

function parseBody(
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
  ended: boolean,
): { content: Buffer; used: number } | undefined {
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return parseChunks(bytes)
  if (headers['content-length'] !== undefined) {
    const length = Number(headers['content-length'])
    return bytes.length < length ? undefined : { content: bytes.subarray(0, length), used: length }
  }
  return ended ? { content: bytes, used: bytes.length } : undefined
}

function parseChunks(bytes: Buffer): { content: Buffer; used: number } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const next = lineEnd + 2 + length + 2
    if (bytes.length < next) return undefined
    if (length === 0) return { content: Buffer.concat(parts), used: next }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length))
    at = next
  }
}
