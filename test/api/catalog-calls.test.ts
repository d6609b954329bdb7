import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { openEndpoint } from '../delivery/endpoint.ts'
import { leakCheck } from '../support/leak-check.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const product = (id: string) => Buffer.from(JSON.stringify({ product_id: id }))
const secret = 'sÉcret-token'

function openClient(url: URL | string, { timeoutMs = 10_000, token = secret, connections = 2 } = {}) {
  return openCatalogCalls({
    url: () => new URL(url),
    token: () => token,
    timeoutMs,
    connections,
    bodyBytesMax: 1_000,
    version: '1.2.3',
  })
}

/** A TCP server that is no HTTP server. */
async function openSocketServer(onSocket: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('a request', () => {
  test('carries the documents, the token as password of nobody, and its exact length', async () => {
    await using endpoint = await openEndpoint()
    await using client = openClient(endpoint.url)
    const outcome = await client.upsert([product('a'), product('b')])
    expect(outcome).toMatchObject({ kind: 'response', status: 200, body: '{}' })
    const [call] = endpoint.calls
    expect(call?.path).toBe('/v1/products/upsert')
    expect(call?.body).toBe('[{"product_id":"a"},{"product_id":"b"}]')
    expect(call?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from(`:${secret}`).toString('base64')}`,
      'content-type': 'application/json',
      'content-length': String(call?.bytes),
      'user-agent': 'catalogd/1.2.3',
    })
    expect(call?.headers['transfer-encoding']).toBeUndefined()
  })

  test.each(['/shop/eu', '/shop/eu/', '/shop/eu//'])(
    'keeps the prefix %s of the base address',
    async (prefix) => {
      await using endpoint = await openEndpoint()
      await using client = openClient(new URL(prefix, endpoint.url))
      await client.probe()
      expect(endpoint.calls.map(({ path, body }) => [path, body])).toEqual([
        ['/shop/eu/v1/products/upsert', '[]'],
      ])
    },
  )

  test('takes the token anew at every call', async () => {
    await using endpoint = await openEndpoint()
    const tokens = ['old', 'new']
    await using client = openCatalogCalls({
      url: () => endpoint.url,
      token: () => tokens.shift() ?? '',
      timeoutMs: 10_000,
      connections: 1,
      bodyBytesMax: 100,
      version: '0',
    })
    await client.probe()
    await client.probe()
    const passwords = endpoint.calls.map(({ headers }) => atob((headers.authorization ?? '').slice(6)))
    expect(passwords).toEqual([':old', ':new'])
  })

  test('longer than a call may be is a bug of the caller', async () => {
    await using endpoint = await openEndpoint()
    await using client = openClient(endpoint.url)
    await expect(client.upsert([Buffer.alloc(999, '1')])).rejects.toThrow('longer than a call may be')
    expect(endpoint.calls).toEqual([])
  })

  test('is made once, whatever happens to it', async () => {
    await using endpoint = await openEndpoint(() => 'reset')
    await using client = openClient(endpoint.url)
    await client.upsert([product('a')])
    endpoint.answerWith(() => ({ status: 503 }))
    await client.upsert([product('b')])
    expect(endpoint.calls.map(({ ids }) => ids)).toEqual([['a'], ['b']])
  })
})

describe('a response', () => {
  test('is passed on with the headers that decide something', async () => {
    await using endpoint = await openEndpoint(() => ({
      status: 429,
      headers: { 'Retry-After': '7', 'X-Request-Id': 'r-1', 'Content-Type': 'text/plain', 'X-Other': 'x' },
      body: 'slow down',
    }))
    await using client = openClient(endpoint.url)
    expect(await client.probe()).toEqual({
      kind: 'response',
      status: 429,
      headers: { 'retry-after': '7', 'x-request-id': 'r-1', 'content-type': 'text/plain' },
      body: 'slow down',
    })
  })

  test.each([301, 302, 307, 308])('of status %d is not followed', async (status) => {
    await using target = await openEndpoint()
    await using endpoint = await openEndpoint(() => ({ status, headers: { location: target.url.href } }))
    await using client = openClient(endpoint.url)
    expect(await client.probe()).toMatchObject({ status, headers: { location: target.url.href } })
    expect(target.calls).toEqual([])
  })

  test('is cut where it is too long; one that may name products is read further', async () => {
    await using endpoint = await openEndpoint(({ ids }) => ({
      status: Number(ids[0]),
      body: 'x'.repeat(3_000_000),
    }))
    await using client = openClient(endpoint.url)
    const lengths = []
    for (const status of ['500', '400', '200']) {
      const outcome = await client.upsert([product(status)])
      lengths.push([status, outcome.kind === 'response' ? outcome.body.length : outcome])
    }
    expect(lengths).toEqual([
      ['500', 65_536],
      ['400', 1_048_576],
      ['200', 1_048_576],
    ])
  })

  test('that is not UTF-8 is decoded leniently', async () => {
    await using endpoint = await openEndpoint(() => ({ status: 400, body: Buffer.from([0x62, 0xff, 0x64]) }))
    await using client = openClient(endpoint.url)
    expect(await client.probe()).toMatchObject({ body: 'b\ufffdd' })
  })
})

describe('nothing was sent', () => {
  test('when the name cannot be resolved', async () => {
    await using client = openClient('https://no-such-host.invalid')
    const outcome = await client.probe()
    expect(outcome).toMatchObject({ kind: 'not-sent', error: { code: 'cannot-connect' } })
    expect(String(outcome.kind === 'not-sent' && outcome.error.message)).toContain('no-such-host.invalid')
  })

  test('when the connection is refused', async () => {
    const server = await openSocketServer(() => {})
    await server[Symbol.asyncDispose]()
    await using client = openClient(`http://127.0.0.1:${server.port}`)
    const outcome = await client.probe()
    expect(outcome).toMatchObject({ kind: 'not-sent' })
    expect(outcome.kind === 'not-sent' && outcome.error.message).toContain('ECONNREFUSED')
  })

  test('when TLS fails', async () => {
    await using server = await openSocketServer((socket) => socket.end('this is no TLS\r\n'))
    await using client = openClient(`https://127.0.0.1:${server.port}`)
    expect(await client.probe()).toMatchObject({ kind: 'not-sent' })
  })

  test('when the time is over before a connection stands', async () => {
    // Accepts the connection and never answers the TLS handshake.
    await using server = await openSocketServer(() => {})
    await using client = openClient(`https://127.0.0.1:${server.port}`, { timeoutMs: 200 })
    expect(await client.probe()).toMatchObject({ kind: 'not-sent' })
  })

  test('when the token cannot be read, which is told in the words of that error', async () => {
    await using client = openCatalogCalls({
      url: () => new URL('http://127.0.0.1:1'),
      token: () => {
        throw new ConfigError('unset', 'API_PRODUCTS is not set')
      },
      timeoutMs: 1_000,
      connections: 1,
      bodyBytesMax: 10,
      version: '0',
    })
    const outcome = await client.probe()
    expect(outcome).toMatchObject({ kind: 'not-sent', error: { message: 'API_PRODUCTS is not set' } })
  })

  test('when the call was given up before it began', async () => {
    await using endpoint = await openEndpoint()
    await using client = openClient(endpoint.url)
    expect(await client.probe({ signal: AbortSignal.abort() })).toMatchObject({ kind: 'not-sent' })
    expect(endpoint.calls).toEqual([])
  })
})

test('a call that is given up while it waits for a connection is never made', async () => {
  const first = Promise.withResolvers<Record<string, never>>()
  await using endpoint = await openEndpoint(() => first.promise)
  await using client = openClient(endpoint.url, { connections: 1 })
  const running = client.upsert([product('first')])
  const giveUp = new AbortController()
  const waiting = client.upsert([product('waiting')], { signal: giveUp.signal })
  giveUp.abort()
  expect(await waiting).toMatchObject({ kind: 'not-sent', error: { code: 'call-aborted' } })
  first.resolve({})
  expect(await running).toMatchObject({ status: 200 })
  await client.upsert([product('last')])
  expect(endpoint.calls.map(({ ids }) => ids)).toEqual([['first'], ['last']])
})

describe('the outcome is unknown', () => {
  test.each(['reset', 'half'] as const)('after: %s', async (answer) => {
    await using endpoint = await openEndpoint(() => answer)
    await using client = openClient(endpoint.url)
    expect(await client.probe()).toMatchObject({ kind: 'unknown', error: { code: 'connection-lost' } })
  })

  test('when no answer comes in time', async () => {
    await using endpoint = await openEndpoint(() => 'hang')
    await using client = openClient(endpoint.url, { timeoutMs: 300 })
    expect(await client.probe()).toMatchObject({ kind: 'unknown', error: { code: 'call-timeout' } })
    expect(endpoint.calls.length).toBe(1)
  })

  test('when a running call is given up', async () => {
    const giveUp = new AbortController()
    await using endpoint = await openEndpoint(() => {
      giveUp.abort()
      return 'hang'
    })
    await using client = openClient(endpoint.url)
    expect(await client.probe({ signal: giveUp.signal })).toMatchObject({
      kind: 'unknown',
      error: { code: 'call-aborted' },
    })
  })

  test('when the answer is not HTTP', async () => {
    await using server = await openSocketServer((socket) =>
      socket.once('data', () => socket.end('hello\r\n')),
    )
    await using client = openClient(`http://127.0.0.1:${server.port}`)
    expect(await client.probe()).toMatchObject({ kind: 'unknown' })
  })
})

test('no error holds the token, in any depth', async () => {
  const { inspect } = await import('node:util')
  await using endpoint = await openEndpoint(({ ids }) => (ids[0] === 'h' ? 'half' : 'reset'))
  await using client = openClient(endpoint.url)
  await using nowhere = openClient('http://127.0.0.1:1')
  const outcomes = [await client.upsert([product('h')]), await client.probe(), await nowhere.probe()]
  const text = inspect(outcomes, { depth: 20, showHidden: true })
  expect(text).not.toContain(secret)
  expect(text).not.toContain(Buffer.from(`:${secret}`).toString('base64'))
})
