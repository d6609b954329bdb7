import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiCallError, ApiResponseError } from '../../src/api/api-error.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { leakCheck } from '../support/leak-check.ts'
import { cases, email, token } from './clients.ts'
import { everythingIn, openServer, type Received, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

const each = Object.entries(cases).map(([name, one]) => ({ name, ...one }))

/** In every form in which they travel. */
const secrets = [
  token,
  email,
  encodeURIComponent(token),
  encodeURIComponent(email),
  new URLSearchParams({ token }).toString().slice('token='.length),
  Buffer.from(`:${token}`).toString('base64'),
  JSON.stringify(email).slice(1, -1),
]

function expectNoSecret(error: unknown): void {
  const all = everythingIn(error).toLowerCase()
  for (const secret of secrets) expect(all).not.toContain(secret.toLowerCase())
  expect(all).not.toContain('example.com')
}

/** A server that says back everything it was sent, in all places. */
function echo({ headers, path, text }: Received, status: number) {
  const all = `${path} ${headers.authorization} ${text} ${token} ${email} ${secrets.join(' ')}`
  return {
    status,
    headers: {
      'x-request-id': `r-1 ${encodeURIComponent(token)}`,
      location: `https://elsewhere.example${encodeURI(path)}?access_token=${encodeURIComponent(token)}`,
    },
    body: {
      message: all,
      errors: [
        { message: all, [email]: { [token]: [all] }, code: 1 },
        all,
        { product_id: 'x', errors: [all] },
      ],
    },
  }
}

describe.each(each)('$name', ({ name, open, call, method, path }) => {
  const run = (url: string, options = {}, request = {}) =>
    thrownBy(async () => {
      await using client = open({ url, ...options })
      await call(client as never, request)
    })

  test('refuses calls at once when it is closed, and sends nothing', async () => {
    await using server = await openServer(() => ({ body: {} }))
    const client = open({ url: server.url })
    await client[Symbol.asyncDispose]()
    const error = await thrownBy(() => call(client as never))
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ code: 'client-closed', message: 'the client is closed' })
    expect(server.requests).toEqual([])
    await client[Symbol.asyncDispose]()
  })

  test('is closed under a running call, which fails as one that may have taken effect', async () => {
    const client: { open?: AsyncDisposable } = {}
    await using server = await openServer(() => {
      void client.open?.[Symbol.asyncDispose]()
      return 'hang'
    })
    client.open = open({ url: server.url })
    const error = await thrownBy(() => call(client.open as never))
    const failed = name === 'CatalogClient' ? (error as Error).cause : error
    expect(failed).toBeInstanceOf(ApiCallError)
    expect(failed).toMatchObject({ mayHaveTakenEffect: true })
  })

  test.each([
    'http://api.example.net',
    'http://127.0.0.1.example.net',
    'http://10.0.0.1',
    'ftp://127.0.0.1',
    'https://user:pass-word@api.example.net',
    'https://api.example.net/?key=pass-word',
    'nonsense pass-word',
  ])('refuses the base address %s when it is made, with the reason', async (url) => {
    const error = await run(url)
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toMatch(/url of the client: found .*, expected /)
    expect(error.message).not.toContain('pass-word')
  })

  test('keeps the prefix of the base address', async () => {
    await using server = await openServer(() => ({ status: 404 }))
    const error = await run(`${server.url}/shop/eu//`)
    expect(server.requests.map((one) => decodeURIComponent(one.path))).toEqual([
      `/shop/eu${path.replace('…', email)}`,
    ])
    expect(error).toMatchObject({ ...(error instanceof ApiResponseError && { path: `/shop/eu${path}` }) })
    expect(error.message).toContain(`${method} ${server.url}/shop/eu${path}: `)
  })

  test.each(['', ' '])('without a token (%j) sends nothing and says so', async (none) => {
    await using server = await openServer()
    const error = await run(server.url, { token: none, accessToken: none })
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ code: 'no-token', exitCode: 2 })
    expect(server.requests).toEqual([])
  })

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5000', {}])(
    'a time (%j) that no timer can keep is refused, of the client and of a call, and nothing is sent',
    async (timeoutMs) => {
      await using server = await openServer()
      for (const error of [await run(server.url, { timeoutMs }), await run(server.url, {}, { timeoutMs })]) {
        expect(error).toBeInstanceOf(ConfigError)
        expect(error.message).toContain('timeoutMs: found ')
      }
      expect(server.requests).toEqual([])
    },
  )

  test.each([0, -1, 1.5, Number.NaN, '2', null])('%j connections are refused', async (connections) => {
    const error = await run('http://127.0.0.1:9', { connections })
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toContain('connections of the client: found ')
  })

  test('a token of two lines is refused, and not shown; what stands around a token does not count', async () => {
    await using server = await openServer(() => ({ status: 418 }))
    const broken = `${token}\n${token}`
    const refused = await run(server.url, { token: broken, accessToken: broken })
    expect(refused).toBeInstanceOf(ConfigError)
    expectNoSecret(refused)
    expect(server.requests).toEqual([])
    await run(server.url, { token: ` ${token}\r\n`, accessToken: () => `${token}\n` })
    await run(server.url, { token, accessToken: token })
    const [around, alone] = server.requests
    expect(around?.path).toBe(alone?.path)
    expect(around?.headers.authorization).toBe(alone?.headers.authorization)
    expect(server.requests.length).toBe(2)
  })

  test.each([401, 403, 404, 409, 418, 500, 502, 503, 302])(
    'status %d: says what and where',
    async (status) => {
      await using server = await openServer(() => ({
        status,
        headers: { 'x-request-id': 'r-17', 'content-type': 'text/plain' },
        body: { data: [], errors: [{ message: 'not so', code: status, error_code: 12, message_id: 'a:b' }] },
      }))
      const error = responseErrorIn(await run(server.url))
      expect(error).toMatchObject({
        status,
        requestId: 'r-17',
        serverMessage: 'not so',
        errors: [{ message: 'not so', code: status, error_code: 12, message_id: 'a:b' }],
        exitCode: [404, 409].includes(status) ? 1 : 3,
        method,
        path,
      })
      expect(error.message).toBe(`${method} ${server.url}${path}: answered ${status}: not so (request r-17)`)
      expect(server.requests.length).toBe(1)
    },
  )

  test.each([
    ['', 'an empty body'],
    ['<!DOCTYPE html><html><head><title>Bad\n Gateway</title></head></html>', 'an HTML page (Bad Gateway)'],
    ['<html><body>x</body></html>', 'an HTML page'],
    ['no  healthy\nupstream', 'no healthy upstream'],
    ['"a text"', 'a text'],
    ['{"error":"nope"}', 'nope'],
    ['{"message":"too bad","errors":{"name":["is missing"]}}', 'too bad'],
    ['{"errors":{"name":["is missing","is short"]}}', 'name: is missing, is short'],
    ['{"errors":["one","two"]}', 'one; two'],
    ['[]', '[]'],
    ['\uFEFF{"message":"marked"}', 'marked'],
  ])('status 500 with the body %j', async (body, serverMessage) => {
    await using server = await openServer(() => ({ status: 500, body }))
    expect(responseErrorIn(await run(server.url))).toMatchObject({ serverMessage })
  })

  test('an HTML page is no answer, whatever its status', async () => {
    await using server = await openServer(() => ({ body: '<html><title>Log in</title></html>' }))
    const error = responseErrorIn(await run(server.url))
    expect(error).toMatchObject({ status: 200, code: 'no-json', serverMessage: 'an HTML page (Log in)' })
    expect(error.hint).toContain('not the API')
  })

  test.each([301, 302, 307, 308])('a redirect (%d) is never followed', async (status) => {
    await using target = await openServer()
    await using server = await openServer(() => ({ status, headers: { location: `${target.url}/x?y=z` } }))
    expect(responseErrorIn(await run(server.url))).toMatchObject({
      status,
      serverMessage: `a redirect to ${target.url}/x`,
      hint: expect.stringContaining('never followed'),
    })
    expect(target.requests).toEqual([])
  })

  test.each([200, 302, 400, 401, 404, 422, 500])(
    'never shows what it carried (status %d)',
    async (status) => {
      await using server = await openServer((request) => echo(request, status))
      await using client = open({ url: server.url })
      // Products that are refused one by one are no error.
      const outcome = await call(client as never).catch((error: unknown) => error)
      expect(everythingIn(outcome)).toContain('********')
      expectNoSecret(outcome)
      expectNoSecret(client)
    },
  )

  test('nor when a page or a text says it back', async () => {
    await using server = await openServer((_, count) => ({
      status: 500,
      body: count === 1 ? `<html><title>${token} ${email}</title></html>` : `${secrets.join(' ')}`,
    }))
    expectNoSecret(await run(server.url))
    expectNoSecret(await run(server.url))
  })

  test('a call that takes too long ends, and may have taken effect', async () => {
    await using server = await openServer(() => 'hang')
    const error = callErrorIn(await run(server.url, { timeoutMs: 150 }))
    expect(error).toMatchObject({ code: 'call-timeout', mayHaveTakenEffect: true, exitCode: 3, method, path })
    expect(error.message).toBe(`${method} ${server.url}${path}: no whole answer within 150 ms`)
    expectNoSecret(error)
  })

  test('its own time counts instead of the one of the client', async () => {
    await using server = await openServer(() => 'hang')
    expect(callErrorIn(await run(server.url, {}, { timeoutMs: 150 })).message).toContain('within 150 ms')
  })

  test('a running call can be given up, for the reason of the signal', async () => {
    const giveUp = new AbortController()
    const reason = new Error('enough')
    await using server = await openServer(() => {
      giveUp.abort(reason)
      return 'hang'
    })
    const error = callErrorIn(await run(server.url, {}, { signal: giveUp.signal }))
    expect(error).toMatchObject({
      code: 'call-aborted',
      mayHaveTakenEffect: true,
      cause: reason,
      method,
      path,
    })
  })

  test('a call that was given up before it began is not made', async () => {
    await using server = await openServer()
    const error = callErrorIn(await run(server.url, {}, { signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'call-aborted', mayHaveTakenEffect: false })
    expect(server.requests).toEqual([])
  })

  test.each(['reset', 'half'] as const)(
    'a connection that is lost (%s) may have taken effect',
    async (reply) => {
      await using server = await openServer(() => reply)
      const error = callErrorIn(await run(server.url))
      expect(error).toMatchObject({ code: 'connection-lost', mayHaveTakenEffect: true, method, path })
      expectNoSecret(error)
      // Only what changes nothing is asked for again, and once.
      expect(server.requests.length).toBe(method === 'GET' ? 2 : 1)
    },
  )

  test('a server that is not there', async () => {
    const server = await openServer()
    await server[Symbol.asyncDispose]()
    const error = callErrorIn(await run(server.url))
    expect(error).toMatchObject({ code: 'cannot-connect', mayHaveTakenEffect: false, method, path })
    expect(error.message).toContain('ECONNREFUSED')
    expectNoSecret(error)
  })

  test('an error of what gives the token comes as it is', async () => {
    const gone = new ConfigError('unset', 'API_TOKEN is not set')
    const source = () => {
      throw gone
    }
    await using server = await openServer()
    expect(await run(server.url, { token: source, accessToken: source })).toBe(gone)
  })

  test('a token with a line break is refused without being shown', async () => {
    await using server = await openServer(() => ({ status: 401 }))
    const bad = `${token}\r\nx-evil: 1`
    expectNoSecret(await run(server.url, { token: bad, accessToken: bad }))
    expect(server.requests.filter(({ headers }) => 'x-evil' in headers)).toEqual([])
  })
})

/** An upsert wraps what its last call threw. */
function responseErrorIn(error: Error): ApiResponseError {
  const inner = error.cause instanceof ApiResponseError ? error.cause : error
  expect(inner).toBeInstanceOf(ApiResponseError)
  expect(inner.message).toBe(error.message)
  return inner as ApiResponseError
}

function callErrorIn(error: Error): ApiCallError {
  const inner = error.cause instanceof ApiCallError ? error.cause : error
  expect(inner).toBeInstanceOf(ApiCallError)
  expect(inner.message).toBe(error.message)
  return inner as ApiCallError
}
