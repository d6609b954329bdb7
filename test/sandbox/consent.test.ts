import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { basic, openTestSandbox, type TestSandbox, token } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const emailToken = 'email-token-of-the-tests'
const path = '/api/v1/customers/consent'

interface Consents {
  total: number
  granted: number
  calls: { total: number; byStatus: Record<string, number> }
  overlapping: { count: number; emails: string[] }
  consents: { email: string; consent: boolean; times: number }[]
}

const open = (options = {}) => openTestSandbox({ emailToken, ...options })
const consentsOf = async (sandbox: TestSandbox, query = '') =>
  (await sandbox.get(`/sandbox/consents${query}`)) as Consents

async function call(sandbox: TestSandbox, place: string, more: RequestInit = {}) {
  const response = await fetch(sandbox.url + place, {
    method: 'POST',
    ...more,
    headers: { authorization: basic(emailToken), connection: 'close', ...more.headers },
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** Exactly these lines, as no HTTP client would send them. */
async function sendRaw(sandbox: TestSandbox, lines: readonly string[]): Promise<string> {
  const socket = connect({ port: Number(new URL(sandbox.url).port), host: '127.0.0.1' })
  socket.end(`${lines.join('\r\n')}\r\n\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

describe('a consent call', () => {
  it.each([
    [`${path}/ann%40shop.example/true`, 'ann@shop.example', true],
    [`${path}/ann@shop.example/false`, 'ann@shop.example', false],
    [`${path}/ann%2Bnews%40shop.example/true`, 'ann+news@shop.example', true],
    [`${path}/ann+news@shop.example/true`, 'ann+news@shop.example', true],
    [`${path}/a%2Fb%40shop.example/true`, 'a/b@shop.example', true],
    [`${path}/a/b@shop.example/true`, 'a/b@shop.example', true],
    [`${path}/100%25%40shop.example/true`, '100%@shop.example', true],
    [`${path}/ann%40shop.example/true/`, 'ann@shop.example', true],
    [`${path}/ann%40shop.example/true?merchant-id=77`, 'ann@shop.example', true],
    [`/v1/customers/consent/ann%40shop.example/false`, 'ann@shop.example', false],
  ])('%s is taken', async (place, email, consent) => {
    await using sandbox = await open()
    expect(await call(sandbox, place)).toMatchObject({ status: 200, text: '{}' })
    const { consents, total, granted } = await consentsOf(sandbox)
    expect(consents).toMatchObject([{ email, consent, times: 1 }])
    expect([total, granted]).toEqual([1, Number(consent)])
  })

  it('is taken with a JSON content type and no content, and with a body that says nothing', async () => {
    await using sandbox = await open()
    const answer = await sendRaw(sandbox, [
      `POST ${path}/ann%40shop.example/true HTTP/1.1`,
      'Host: sandbox',
      `Authorization: ${basic(emailToken)}`,
      'Content-Type: application/json',
      'Content-Length: 0',
      'Connection: close',
    ])
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(await call(sandbox, `${path}/bob@shop.example/true`, { body: '{"x":' })).toMatchObject({
      status: 200,
    })
    expect(await consentsOf(sandbox)).toMatchObject({ total: 2 })
  })

  it('with a body is refused by a strict sandbox', async () => {
    await using sandbox = await open({ strict: true })
    const refused = await call(sandbox, `${path}/bob@shop.example/true`, { body: '{}' })
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('no body') })
    expect((await call(sandbox, `${path}/bob@shop.example/true`)).status).toBe(200)
  })

  it.each([
    [`${path}/ann%40shop.example/TRUE`, 400, 'true or false'],
    [`${path}/ann%40shop.example/1`, 400, 'true or false'],
    [`${path}/ann%40shop.example`, 404, '/true or /false'],
    [path, 404, ''],
    [`${path}/nobody/true`, 400, 'no e-mail address'],
    [`${path}//true`, 400, 'no e-mail address'],
    [`${path}/ann%2540shop.example/true`, 400, 'twice'],
    [`${path}/ann@/true`, 400, 'no e-mail address'],
    [`${path}/a%0Ab%40shop.example/true`, 400, 'no e-mail address'],
    [`${path}/%zz@shop.example/true`, 400, ''],
  ])('%s is refused', async (place, status, message) => {
    await using sandbox = await open()
    const answer = await call(sandbox, place)
    expect(answer).toMatchObject({ status, text: expect.stringContaining(message) })
    expect(await consentsOf(sandbox)).toMatchObject({ total: 0 })
  })

  it('needs the Email token, and says which token stands there instead', async () => {
    await using sandbox = await open()
    const attempt = (authorization: string) =>
      call(sandbox, `${path}/ann@shop.example/true`, { headers: { authorization } })
    expect(await attempt(basic(token))).toMatchObject({
      status: 401,
      text: expect.stringContaining('this is the API_PRODUCTS token; consent calls need the Email token'),
    })
    expect(await attempt(basic('sandbox-intent-token'))).toMatchObject({
      text: expect.stringContaining('API_LIM token'),
    })
    expect((await attempt(basic('else'))).text).toContain('not valid')
    expect((await attempt(basic(emailToken, 'me'))).text).toContain('user name must be empty')
    const refused = await attempt(`Bearer ${emailToken}`)
    expect(refused.text).toContain('HTTP Basic')
    expect(refused.headers.get('www-authenticate')).toContain('Basic')
    const upsert = await sandbox.upsert([], { headers: { authorization: basic(emailToken) } })
    expect(upsert).toMatchObject({ status: 401, text: expect.stringContaining('this is the Email token') })
    expect(await consentsOf(sandbox)).toMatchObject({ total: 0, calls: { total: 5, byStatus: { 401: 5 } } })
  })
})

describe('what consent calls said', () => {
  it('is shown newest state first, call by call, and by page', async () => {
    await using sandbox = await open()
    for (const place of ['ann@x.example/true', 'bob@x.example/true', 'Ann@X.example/false', 'no/true']) {
      await call(sandbox, `${path}/${place}`)
    }
    expect(await consentsOf(sandbox)).toMatchObject({
      total: 2,
      granted: 1,
      revoked: 1,
      timesTaken: 3,
      calls: { total: 4, byStatus: { 200: 3, 400: 1 } },
      overlapping: { count: 0, emails: [] },
      consents: [
        { email: 'Ann@X.example', consent: false, times: 2 },
        { email: 'bob@x.example', consent: true, times: 1 },
      ],
    })
    expect((await consentsOf(sandbox, '?offset=1&limit=1')).consents).toMatchObject([
      { email: 'bob@x.example' },
    ])
    expect(await sandbox.get('/sandbox/consents/calls?offset=1&limit=2')).toMatchObject({
      total: 4,
      calls: [
        { email: 'bob@x.example', consent: true, status: 200, atMs: expect.any(Number) },
        { email: 'Ann@X.example', consent: false, status: 200 },
      ],
    })
    expect(await sandbox.get('/sandbox/consents/ann%40x.example')).toMatchObject({
      consent: false,
      times: 2,
      states: [{ consent: true }, { consent: false }],
      calls: [{ status: 200 }, { status: 200 }],
    })
    const lines = await (await fetch(`${sandbox.url}/sandbox/consents.ndjson`)).text()
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).email),
    ).toEqual(['Ann@X.example', 'bob@x.example'])
    expect(await sandbox.summary()).toMatchObject({ consents: { total: 2, granted: 1, calls: { total: 4 } } })
  })

  it('is forgotten by DELETE, and by the reset of everything', async () => {
    await using sandbox = await open()
    for (const forget of [
      () => sandbox.send('DELETE', '/sandbox/consents'),
      () => sandbox.send('POST', '/sandbox/reset'),
    ]) {
      await call(sandbox, `${path}/ann@x.example/true`)
      expect((await forget()).status).toBe(200)
      expect(await consentsOf(sandbox)).toMatchObject({ total: 0, granted: 0, calls: { total: 0 } })
    }
    const unknown = await fetch(`${sandbox.url}/sandbox/consents/ann@x.example`)
    expect(unknown.status).toBe(404)
  })
})

describe('faults of consent calls', () => {
  const place = `${path}/ann@x.example/true`
  const set = async (sandbox: TestSandbox, fault: object) => {
    const answer = await sandbox.send('POST', '/sandbox/faults', { group: 'consent', ...fault })
    expect(answer.status).toBe(200)
  }

  it('that belong to another group leave them alone', async () => {
    await using sandbox = await open()
    await sandbox.send('POST', '/sandbox/faults', [{ status: 503 }, { group: 'intent', status: 503 }])
    expect((await call(sandbox, place)).status).toBe(200)
    expect((await sandbox.upsert([])).status).toBe(503)
  })

  it.each([
    [{ status: 503, headers: { 'retry-after': 3 } }, 503, 0],
    [{ status: 500, apply: 'before' }, 500, 1],
    [{ status: 200, body: { ok: true } }, 200, 1],
    [{ refuse: 'named', reason: 'blocked' }, 400, 0],
    [{ slow: 5 }, 200, 1],
    [{ slow: 5, apply: 'before' }, 200, 1],
  ])('%j answers %i and takes %i', async (fault, status, taken) => {
    await using sandbox = await open()
    await set(sandbox, { calls: 1, ...fault })
    expect((await call(sandbox, place)).status).toBe(status)
    expect((await consentsOf(sandbox)).total).toBe(taken)
    expect((await call(sandbox, place)).status).toBe(200)
  })

  it.each([
    [{ reset: 'before' }, 0],
    [{ reset: 'after' }, 1],
    [{ half: true }, 1],
    [{ half: true, apply: 'never' }, 0],
    [{ hang: 5 }, 0],
    [{ hang: 5, apply: 'before' }, 1],
  ])('%j breaks the connection and takes %i', async (fault, taken) => {
    await using sandbox = await open()
    await set(sandbox, { calls: 1, ...fault })
    await expect(call(sandbox, place)).rejects.toThrow()
    const { total, calls } = await consentsOf(sandbox)
    expect([total, calls.byStatus]).toEqual([taken, { reset: 1 }])
  })

  it('may be for some addresses only', async () => {
    await using sandbox = await open()
    await set(sandbox, { status: 500, emails: ['Ann@x.example'] })
    expect((await call(sandbox, `${path}/bob@x.example/true`)).status).toBe(200)
    expect((await call(sandbox, place)).status).toBe(500)
    expect(await sandbox.get('/sandbox/consents/ann@x.example')).toMatchObject({
      consent: null,
      calls: [{ status: 500, fault: 'status 500' }],
    })
  })

  it('show calls of one address that overlap', async () => {
    await using sandbox = await open()
    await set(sandbox, { slow: 60, calls: 1, emails: ['ann@x.example'] })
    await Promise.all([
      call(sandbox, place),
      call(sandbox, `${path}/ANN@x.example/false`),
      call(sandbox, `${path}/bob@x.example/true`),
    ])
    expect((await consentsOf(sandbox)).overlapping).toEqual({ count: 1, emails: ['ann@x.example'] })
    expect(await sandbox.summary()).toMatchObject({ consents: { overlapping: { count: 1 } } })
  })
})

describe('faults of the Stack', () => {
  it('show in front of its operations and behind them', async () => {
    await using sandbox = await openTestSandbox()
    const terms = `${sandbox.url}/api/terms`
    const create = () =>
      fetch(terms, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ type: 'search', network: 'twitter', term: 'pans' }),
      })
    const count = async () => ((await sandbox.get('/api/terms')) as { data: unknown[] }).data.length
    const set = (fault: object) =>
      sandbox.send('POST', '/sandbox/faults', { group: 'stack', calls: 1, ...fault })
    await set({ status: 503 })
    expect((await create()).status).toBe(503)
    expect(await count()).toBe(0)
    await set({ reset: 'after' })
    await expect(create()).rejects.toThrow()
    expect(await count()).toBe(1)
    expect((await create()).status).toBe(200)
  })
})
