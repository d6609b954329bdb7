import { openSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'

export interface StackReply {
  status: number
  headers: Headers
  text: string
  /** The envelope, where the answer is one. */
  data: unknown
  errors: StackError[]
  count: { results_total: string; total: string } | undefined
}

export interface StackError {
  message: string
  code: number
  error_code: number
  message_id: string
}

export interface SentRequest {
  headers?: Record<string, string>
  /** As it is; `json` is written as JSON under its content type. */
  body?: string | Uint8Array | URLSearchParams | FormData
  json?: unknown
}

/** A sandbox on a free port, and requests to its content-aggregation API over HTTP only. */
export interface TestStack extends AsyncDisposable {
  url: string
  token: string
  /** `access_token=…&stack=…`, for a query. */
  credentials: string
  send(method: string, path: string, request?: SentRequest): Promise<StackReply>
  /** The same with credentials in the query, and JSON. */
  call(method: string, path: string, json?: unknown): Promise<StackReply>
  /** Reads a control route. */
  inspect(path: string): Promise<unknown>
}

export async function openTestStack(options: Partial<SandboxOptions> = {}): Promise<TestStack> {
  const sandbox = await openSandbox({
    port: 0,
    productsToken: 'p',
    stackToken: 'token-of-the-stack',
    ...options,
  })
  const token = sandbox.tokens.stack
  const credentials = `access_token=${token}&stack=${sandbox.stackName}`
  const send = (method: string, path: string, request: SentRequest = {}) =>
    sendTo(sandbox.url + path, method, request)
  return {
    url: sandbox.url,
    token,
    credentials,
    send,
    call: (method, path, json) =>
      send(
        method,
        `${path}${path.includes('?') ? '&' : '?'}${credentials}`,
        json === undefined ? {} : { json },
      ),
    inspect: async (path) => (await fetch(sandbox.url + path)).json(),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  }
}

async function sendTo(
  url: string,
  method: string,
  { headers = {}, body, json }: SentRequest,
): Promise<StackReply> {
  const content = json === undefined ? body : JSON.stringify(json)
  const response = await fetch(url, {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(content === undefined ? {} : { body: content }),
  })
  const text = await response.text()
  const envelope = parseEnvelope(text)
  return {
    status: response.status,
    headers: response.headers,
    text,
    data: envelope.data,
    errors: envelope.errors ?? [],
    count: envelope.count,
  }
}

function parseEnvelope(text: string): Partial<Pick<StackReply, 'data' | 'errors' | 'count'>> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
