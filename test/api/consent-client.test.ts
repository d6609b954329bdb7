import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiResponseError, ContractError } from '../../src/api/api-error.ts'
import { ConsentClient, consentRequest } from '../../src/api/consent-client.ts'
import { Transport } from '../../src/api/transport.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { leakCheck } from '../support/leak-check.ts'
import { email, token } from './clients.ts'
import { everythingIn, openServer, thrownBy } from './server.ts'

const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

test.each([
  ['jo@example.com', true, '/api/v1/customers/consent/jo%40example.com/true'],
  ['jo+shop@example.com', false, '/api/v1/customers/consent/jo%2Bshop%40example.com/false'],
  ['a/b?c#d@example.com', true, '/api/v1/customers/consent/a%2Fb%3Fc%23d%40example.com/true'],
  ['jörg@example.com', true, '/api/v1/customers/consent/j%C3%B6rg%40example.com/true'],
])('%s %s', async (address, granted, path) => {
  await using server = await openServer()
  await using client = new ConsentClient({ url: server.url, token })
  await client.set(address, granted)
  const [request] = server.requests
  expect(request).toMatchObject({
    method: 'POST',
    path,
    text: '',
    headers: { authorization: `Basic ${Buffer.from(`:${token}`).toString('base64')}`, 'content-length': '0' },
  })
  expect(request?.headers).not.toHaveProperty('content-type')
})

test.each([
  ['/v1/customers/consent', '/v1/customers/consent'],
  ['v1/customers/consent/', '/v1/customers/consent'],
  ['', ''],
  ['/', ''],
])('the path %j leads to %j', async (path, expected) => {
  await using server = await openServer()
  await using client = new ConsentClient({ url: `${server.url}/eu`, token, path })
  await client.set('jo@example.com', true)
  expect(server.requests[0]?.path).toBe(`/eu${expected}/jo%40example.com/true`)
})

test.each(['', 'secret-name', 'a b@example.com', 'Jo <jo@example.com>', `${'x'.repeat(250)}@example.com`, 5])(
  'what is no address (%j) is not sent, and not shown',
  async (address) => {
    await using server = await openServer()
    await using client = new ConsentClient({ url: server.url, token })
    const error = await thrownBy(() => client.set(address as string, true))
    expect(error).toBeInstanceOf(ContractError)
    expect(error).toMatchObject({
      exitCode: 1,
      code: 'contract',
      message: expect.stringContaining('email: '),
    })
    expect(everythingIn(error)).not.toMatch(/example\.com|secret-name/)
    expect(server.requests).toEqual([])
  },
)

test.each([
  ['gzip', gzipSync('{"errors":["not known"]}').subarray(0, 20)],
  ['deflate', deflateRawSync('{"errors":["not known"]}')],
  ['zstd', zstdCompressSync('{"errors":["not known"]}')],
  ['gzip, gzip', gzipSync(gzipSync('{"errors":["not known"]}'))],
  ['', Buffer.from('{"errors":[{"message":"not kno')],
])('a 2xx whose body cannot be read (%j) does not count as taken', async (encoding, body) => {
  const headers = encoding === '' ? {} : { 'content-encoding': encoding }
  await using server = await openServer(() => ({ headers, body }))
  await using client = new ConsentClient({ url: server.url, token })
  expect(await thrownBy(() => client.set(email, false))).toBeInstanceOf(ApiResponseError)
})

test('only true and false can be said', async () => {
  await using server = await openServer()
  await using client = new ConsentClient({ url: server.url, token })
  const error = await thrownBy(() => client.set('jo@example.com', 'true' as unknown as boolean))
  expect(error).toMatchObject({ problems: [{ field: 'consent' }] })
  expect(server.requests).toEqual([])
})

test('a token of another kind is explained', async () => {
  await using server = await openServer(() => ({ status: 401 }))
  await using client = new ConsentClient({ url: server.url, token })
  expect(await thrownBy(() => client.set(email, true))).toMatchObject({
    status: 401,
    hint: expect.stringContaining('Email token'),
  })
})

test('a path that is not there is explained', async () => {
  await using server = await openServer(() => ({ status: 404 }))
  await using client = new ConsentClient({ url: server.url, token })
  expect(await thrownBy(() => client.set(email, true))).toMatchObject({
    hint: expect.stringContaining('/api'),
  })
})

test('any 2xx is done, whatever an API says', async () => {
  const bodies = ['', 'OK', '{}', '{"data":[],"errors":[]}', 'true']
  await using server = await openServer((_, count) => ({ status: 199 + count, body: bodies[count - 1] }))
  await using client = new ConsentClient({ url: server.url, token })
  for (const _ of bodies) await client.set(email, true)
  expect(server.requests.length).toBe(bodies.length)
})

test('markup is no answer of an API', async () => {
  await using server = await openServer(() => ({ body: '<?xml version="1.0"?><a/>' }))
  await using client = new ConsentClient({ url: server.url, token })
  expect(await thrownBy(() => client.set(email, true))).toMatchObject({ code: 'no-api', status: 200 })
})

test('a token that changes is used at the next call', async () => {
  await using server = await openServer()
  const tokens = ['old-token', 'new-token']
  await using client = new ConsentClient({ url: server.url, token: () => tokens.shift() ?? '' })
  await client.set(email, true)
  await client.set(email, false)
  const passwords = server.requests.map(({ headers }) => atob((headers.authorization ?? '').slice(6)))
  expect(passwords).toEqual([':old-token', ':new-token'])
})

/** As the daemon makes calls, which decides itself what follows. */
function openCalls(url: string) {
  const transport = new Transport({ url: () => new URL(url), timeoutMs: 5_000, connections: 1, version: '0' })
  const set = (consent: { email: string; consent: boolean }, getToken = () => token) =>
    transport.send(consentRequest(consent, { path: undefined, token: getToken }))
  return { set, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() }
}

test('single calls answer what became of them, without the address', async () => {
  await using server = await openServer((_, count) =>
    count === 1 ? { status: 429, headers: { 'retry-after': '3' } } : 'reset',
  )
  await using calls = openCalls(server.url)
  expect(await calls.set({ email, consent: false })).toMatchObject({
    kind: 'response',
    status: 429,
    headers: { 'retry-after': '3' },
  })
  const lost = await calls.set({ email, consent: false })
  expect(lost).toMatchObject({ kind: 'unknown', error: { code: 'connection-lost' } })
  expect(everythingIn(lost)).not.toContain('example.com')
  expect(server.requests.length).toBe(2)
})

test('single calls never throw, also where nothing can be sent', async () => {
  const noToken = new ConfigError('unset', 'EMAIL_TOKEN is not set')
  await using server = await openServer()
  await using calls = openCalls(server.url)
  const getNone = () => {
    throw noToken
  }
  expect(await calls.set({ email, consent: true }, getNone)).toMatchObject({
    kind: 'not-sent',
    error: { message: 'EMAIL_TOKEN is not set' },
  })
  expect(await calls.set({ email: '\ud800@example.com', consent: true })).toMatchObject({ status: 200 })
})

test('single calls refuse a base address that would give the token away', async () => {
  await using calls = openCalls('http://api.example.net')
  expect(await calls.set({ email, consent: true })).toMatchObject({
    kind: 'not-sent',
    error: { code: 'no-endpoint', message: expect.stringContaining('expected https') },
  })
})
