import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLog } from '../../src/lib/log.ts'
import { leakCheck } from '../support/leak-check.ts'
import { sendRaw } from '../support/raw-http.ts'
import { basic, openTestSandbox, type TestSandbox } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const close = { connection: 'close' }

async function statusOf(sandbox: TestSandbox, path: string, init: RequestInit = {}) {
  const response = await fetch(sandbox.url + path, { ...init, headers: { ...close, ...init.headers } })
  await response.text()
  return response.status
}

describe('the tokens', () => {
  const tokens = { productsToken: 'p', emailToken: 'e', intentToken: 'i', stackToken: 's', stackName: 'shop' }
  const intentBody = JSON.stringify({ prompt: 'x', customerId: 'c', partnerId: 'p', chatId: 'h' })

  it('open one group each', async () => {
    await using sandbox = await openTestSandbox(tokens)
    const statuses: Record<string, number[]> = {}
    for (const one of ['p', 'e', 'i', 's']) {
      const basicHeaders = { authorization: basic(one) }
      statuses[one] = [
        await statusOf(sandbox, '/v1/products/upsert', { method: 'POST', body: '[]', headers: basicHeaders }),
        await statusOf(sandbox, '/api/v1/customers/consent/a@b.c/true', {
          method: 'POST',
          headers: basicHeaders,
        }),
        await statusOf(sandbox, '/api', {
          method: 'POST',
          body: intentBody,
          headers: { authorization: `Bearer ${one}` },
        }),
        await statusOf(sandbox, `/api/tilerules/?stack=shop&access_token=${one}`),
      ]
    }
    expect(statuses).toEqual({
      p: [200, 401, 401, 401],
      e: [401, 200, 401, 401],
      i: [401, 401, 200, 401],
      s: [401, 401, 401, 200],
    })
  })

  it('of the Stack are wanted where the contract shows them, or everywhere', async () => {
    const paths = ['/api/tilerules', '/api/terms', '/api/users', '/api/moderationviews']
    const statuses = async (sandbox: TestSandbox) => Promise.all(paths.map((path) => statusOf(sandbox, path)))
    await using plain = await openTestSandbox(tokens)
    expect(await statuses(plain)).toEqual([401, 200, 200, 200])
    await using strict = await openTestSandbox({ ...tokens, strictAuth: true })
    expect(await statuses(strict)).toEqual([401, 401, 401, 401])
  })
})

it('the rate of the Stack can be chosen, leaves the other groups alone, and is whole again after a reset', async () => {
  await using sandbox = await openTestSandbox({ rate: { requests: 2, perMs: 60_000 } })
  const statuses = [1, 2, 3].map(() => statusOf(sandbox, '/api/users'))
  expect((await Promise.all(statuses)).toSorted()).toEqual([200, 200, 429])
  expect((await sandbox.upsert([])).status).toBe(200)
  await sandbox.send('POST', '/sandbox/reset')
  expect(await statusOf(sandbox, '/api/users')).toBe(200)
})

describe('the control routes', () => {
  it.each([
    [{ origin: 'https://elsewhere.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{}, 200],
  ])('asked with %j answer %i', async (headers, status) => {
    await using sandbox = await openTestSandbox()
    expect(await statusOf(sandbox, '/sandbox/summary', { headers: headers as Record<string, string> })).toBe(
      status,
    )
    expect(
      await statusOf(sandbox, '/sandbox/reset', {
        method: 'POST',
        headers: headers as Record<string, string>,
      }),
    ).toBe(status)
  })

  it.each([
    ['127.0.0.1', 'rebound.example', 403],
    ['127.0.0.1', 'rebound.example:8490', 403],
    ['127.0.0.1', 'localhost:1', 200],
    ['127.0.0.1', '[::1]:1', 200],
    ['0.0.0.0', 'sandbox:8490', 200],
  ])('of a sandbox on %s asked as %s answer %i', async (host, name, status) => {
    await using sandbox = await openTestSandbox({ host })
    const { port } = new URL(sandbox.url)
    const request = { method: 'GET', target: '/sandbox/consents', headers: [['host', name]] } as const
    expect((await sendRaw(`http://127.0.0.1:${port}`, request)).status).toBe(status)
  })

  it('may be used by pages of the sandbox itself', async () => {
    await using sandbox = await openTestSandbox()
    expect(await statusOf(sandbox, '/sandbox/summary', { headers: { origin: sandbox.url } })).toBe(200)
  })

  it('reset everything at once', async () => {
    await using sandbox = await openTestSandbox()
    await sandbox.upsert([{}])
    await statusOf(sandbox, '/api/v1/customers/consent/a@b.c/true', {
      method: 'POST',
      headers: { authorization: basic('sandbox-email-token') },
    })
    await statusOf(sandbox, '/api/users/1', { method: 'DELETE' })
    const users = async () => ((await sandbox.get('/sandbox/users')) as { total: number }).total
    const before = await users()
    expect((await sandbox.send('POST', '/sandbox/reset')).status).toBe(200)
    expect(await sandbox.summary()).toMatchObject({
      calls: { total: 0 },
      consents: { total: 0 },
      intent: { requests: 0 },
    })
    expect(await users()).toBe(before + 1)
  })
})

describe('an odd request', () => {
  it.each([
    ['GET', '/%', {}],
    ['GET', '/%c3%28', {}],
    ['POST', '/api/v1/customers/consent/%ff/true', { authorization: basic('sandbox-email-token') }],
    ['PATCH', '/api', {}],
    ['DELETE', '/', {}],
    ['OPTIONS', '/v1/products/upsert', {}],
    ['POST', '/openapi.json', { 'content-type': 'no/type/at;all' }],
    ['POST', '/sandbox/faults', { 'content-type': '' }],
    ['GET', '/sandbox/consents/%2e%2e%2f', {}],
    ['GET', '/sandbox/consents?offset=-1&limit=1e9', {}],
    ['GET', '/sandbox/consents/calls?offset=x&offset=y', {}],
    ['GET', '/sandbox/products?offset=1&offset=2', {}],
    ['GET', `/sandbox/users/${'9'.repeat(400)}`, {}],
    ['GET', `/${'a/'.repeat(3000)}`, {}],
  ])('%s %s is answered, never 5xx', async (method, path, headers) => {
    await using sandbox = await openTestSandbox()
    const status = await statusOf(sandbox, path, { method, headers: headers as Record<string, string> })
    expect(status).toBeLessThan(500)
  })

  it('never gets an address back, nor leaves one in the log', async () => {
    const lines: string[] = []
    const stream = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk))
        done()
      },
    })
    await using sandbox = await openTestSandbox({
      logger: openLog({ level: 'trace', stream, pretty: false }),
    })
    await sandbox.send('POST', '/sandbox/faults', { group: 'any', status: 500, calls: 1 })
    const authorization = basic('sandbox-email-token')
    for (const [method, path] of [
      ['POST', '/api/v1/customers/consent/ann@x.example/true'],
      ['POST', '/api/v1/customers/consent/ann@x.example/true'],
      ['GET', '/api/v1/customers/consent/ann@x.example/true'],
      ['POST', '/v2/consent/ann%40x.example/true'],
      ['POST', '/api/v1/customers/consent/ann@x.example/maybe'],
      ['POST', '/api/v1/customers/consent/ann@x.example%zz/true'],
    ]) {
      const response = await fetch(`${sandbox.url}${path}`, {
        method: method ?? 'GET',
        headers: { ...close, authorization },
      })
      expect(await response.text()).not.toContain('ann')
    }
    expect(lines.join('')).not.toMatch(/ann|sandbox-email-token/)
    expect(lines.length).toBeGreaterThan(0)
  })
})
