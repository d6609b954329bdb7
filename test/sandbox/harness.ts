import { openSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'

export const token = 'products-token-of-the-tests'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

export interface SentOptions {
  headers?: Record<string, string>
  path?: string
  signal?: AbortSignal
}

/** A sandbox on a free port and a client that speaks to it over HTTP only. */
export interface TestSandbox extends AsyncDisposable {
  url: string
  /** Anything but text and bytes is sent as JSON. */
  upsert(body: unknown, options?: SentOptions): Promise<Answer>
  /** Reads a control route. */
  get(path: string): Promise<unknown>
  send(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answer>
  summary(): Promise<Summary>
  calls(query?: string): Promise<CallLine[]>
}

export interface Summary {
  products: number
  documentsReceived: number
  documentsTaken: number
  calls: { total: number; open: number; byStatus: Record<string, number> }
  bytes: number
  largestCallBytes: number
  overlapping: { count: number; ids: string[] }
  firstReceivedAt: string | null
  lastReceivedAt: string | null
}

export interface CallLine {
  id: string
  at: string
  atMs: number
  durationMs: number | null
  bytes: number
  products: number
  ids: string[] | null
  status: number | null
  end: string
  fault: string | null
}

export async function openTestSandbox(options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const sandbox = await openSandbox({ port: 0, productsToken: token, ...options })
  const get = async (path: string) => (await fetch(sandbox.url + path)).json()
  return {
    url: sandbox.url,
    upsert: (body, sent = {}) => upsert(sandbox, body, sent),
    get,
    send: async (method, path, body) => {
      const response = await fetch(sandbox.url + path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return readAnswer(response)
    },
    summary: async () => (await get('/sandbox/summary')) as Summary,
    calls: async (query = '') => ((await get(`/sandbox/calls${query}`)) as { calls: CallLine[] }).calls,
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  }
}

export function basic(password: string, user = ''): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

async function upsert(sandbox: Sandbox, body: unknown, sent: SentOptions): Promise<Answer> {
  const { headers, path = '/v1/products/upsert', signal } = sent
  const response = await fetch(sandbox.url + path, {
    method: 'POST',
    headers: { authorization: basic(token), 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  return readAnswer(response)
}

async function readAnswer(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A product that the contract accepts. */
export function product(id: string | number, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    product_id: id,
    name: `Pan ${id}`,
    url: `https://shop.example/p/${encodeURIComponent(id)}`,
    image_url: `https://shop.example/i/${encodeURIComponent(id)}.jpg`,
    availability: 'InStock',
    price: 12.5,
    price_currency_code: 'EUR',
    ...more,
  }
}
