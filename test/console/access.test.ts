import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ConsoleConfig } from '../../src/config/model.ts'
import { openConsole } from '../../src/console/console.ts'
import { registerPages } from '../../src/console/pages.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { read, withFeed } from '../config/support.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { sendRaw } from '../support/raw-http.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis[Symbol.asyncDispose]())
const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const tokens = { token: given('the-operator'), readToken: given('the-reader') }

function given(value: string) {
  return { available: true, value: () => value }
}

interface Asked {
  cookie?: string
  form?: Record<string, string>
  headers?: Record<string, string>
}

/** The pages over an empty state folder; no process imports on it. */
async function openPages(changes: Partial<ConsoleConfig> = {}) {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir('pages'))
  const { loaded } = await read(withFeed(''))
  const config = { ...loaded.config, stateDir: dir.path, ...changes }
  const console: ConsoleConfig = {
    ...{ listen: { host: '127.0.0.1', port: 0 }, token: undefined, readToken: undefined, tls: undefined },
    ...{ hosts: [], bytesMax: 1_000, ...changes },
  }
  const { log, lines } = collectLog()
  const clock = systemClock
  const connections = stack.use(await openRedis({ address: { kind: 'url', url: redis.url }, clock, log }))
  const catalogs = [...config.catalogs.values()]
  const configured = { config: { ...config, console }, catalogs }
  const settings = async () => ({ running: '', inFile: '' })
  const running = await openConsole({
    ...{ config: console, catalogs, clock, log, acceptorOf: () => undefined },
    health: async () => ({ status: 'ok', parts: {} }),
    pages: (app, limit) =>
      registerPages(app, { configured: () => configured, connections, limit, clock, log, settings }),
  })
  stack.use(running)
  const url = running.url ?? ''
  const ask = async (path: string, { cookie, form, headers = {} }: Asked = {}) => {
    const answer = await fetch(url + path, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === undefined ? {} : { cookie }), ...headers },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const logIn = async (token: string) => {
    const { headers } = await ask('/login', { form: { token } })
    return headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const audit = async () =>
    (await readFile(dir.join('audit.ndjson'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const opened = stack.move()
  return { url, lines, ask, logIn, audit, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const csrfIn = (text: string) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? ''

test('this machine needs no token where none is configured, and other sites cannot use that', async () => {
  await using site = await openPages()
  const page = await site.ask('/')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'self';/)
  expect(page.text).not.toMatch(/https?:\/\//)
  const form = { catalog: 'main', csrf: csrfIn(page.text) }
  // A form of another site: without the secret of the page, and then with the origin that browsers name.
  expect((await site.ask('/actions/pause', { form: { catalog: 'main' } })).status).toBe(403)
  const elsewhere = { origin: 'https://elsewhere.example' }
  expect((await site.ask('/actions/pause', { form, headers: elsewhere })).status).toBe(403)
  const done = await site.ask('/actions/pause', { form })
  expect(done.status).toBe(303)
  const shown = await site.ask(done.headers.get('location') ?? '')
  expect(shown.text).toContain('no catalogd imports on this state folder')
  expect(await site.audit()).toMatchObject([
    { who: 'this-machine', action: 'pause', catalog: 'main', outcome: 'begun' },
    { who: 'this-machine', action: 'pause', outcome: 'failed' },
  ])
})

test('a name that a page gave the address of this machine is refused', async () => {
  await using site = await openPages()
  const headers = [['host', `rebound.example:${new URL(site.url).port}`]] as const
  expect((await sendRaw(site.url, { method: 'GET', target: '/', headers })).status).toBe(403)
})

test('a name that stands twice in an address is one text, and a form leads to this console only', async () => {
  await using site = await openPages()
  for (const path of ['/product?id=a&id=b', '/products?q=a&q=b', '/calls?request=a&request=b'])
    expect((await site.ask(path)).status).toBe(200)
  const csrf = csrfIn((await site.ask('/')).text)
  const form = { catalog: 'main', csrf, back: '/.//elsewhere.example' }
  expect((await site.ask('/actions/pause', { form })).headers.get('location')).toMatch(/^\/(?!\/)/)
})

test('with tokens, nothing is shown before a login, a reader changes nothing, and logging out ends it', async () => {
  await using site = await openPages(tokens)
  for (const path of ['/'])
    expect((await site.ask(path, { headers: { accept: '*/*' } })).status).not.toBe(200)
  const sent = await site.ask('/?catalog=main')
  expect([sent.status, sent.headers.get('location')]).toEqual([303, '/login?next=%2F%3Fcatalog%3Dmain'])
  const wrong = await site.ask('/login', { form: { token: 'the-other' } })
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([403, null])
  const reader = await site.logIn('the-reader')
  const seen = await site.ask('/', { cookie: reader })
  expect(seen.status).toBe(200)
  expect(seen.text).not.toContain('Pause calls')
  const csrf = csrfIn(seen.text)
  const refused = await site.ask('/actions/pause', { cookie: reader, form: { catalog: 'main', csrf } })
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('change nothing')])
  const answer = await site.ask('/login', { form: { token: 'the-operator', next: '//elsewhere.example' } })
  expect(answer.headers.get('location')).toBe('/')
  expect(answer.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax/)
  const operator = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const own = csrfIn((await site.ask('/', { cookie: operator })).text)
  // The secret of another session is none.
  expect(
    (await site.ask('/actions/pause', { cookie: operator, form: { catalog: 'main', csrf } })).status,
  ).toBe(403)
  expect(
    (await site.ask('/actions/pause', { cookie: operator, form: { catalog: 'main', csrf: own } })).status,
  ).toBe(303)
  await site.ask('/logout', { cookie: operator, form: { csrf: own } })
  expect((await site.ask('/', { cookie: operator })).status).toBe(303)
  expect((await site.ask('/', { headers: { authorization: 'Bearer the-reader' } })).status).toBe(200)
  const audit = await site.audit()
  expect(audit.map(({ who, action, outcome }) => `${who} ${action} ${outcome}`)).toEqual([
    ...['nobody log in failed', 'reader log in done', 'operator log in done'],
    ...['operator pause begun', 'operator pause failed'],
  ])
  expect(JSON.stringify([audit, site.lines])).not.toMatch(/the-(operator|reader|other)/)
})

test('wrong tokens are taken five times a minute, and a new token ends the sessions of the old one', async () => {
  let current = 'first'
  await using site = await openPages({ token: { available: true, value: () => current } })
  const cookie = await site.logIn('first')
  expect((await site.ask('/', { cookie })).status).toBe(200)
  current = 'second'
  expect((await site.ask('/', { cookie })).status).toBe(303)
  for (let nth = 0; nth < 5; nth += 1)
    expect((await site.ask('/login', { form: { token: 'first' } })).status).toBe(403)
  const limited = await site.ask('/login', { form: { token: 'second' } })
  expect([limited.status, Number(limited.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
})

test('wrong tokens in headers count with those of the login, each once, whatever is asked', async () => {
  await using site = await openPages(tokens)
  const show = async (token: string, path = '/') =>
    (await site.ask(path, { headers: { authorization: `Bearer ${token}`, accept: '*/*' } })).status
  // A program with an old token does not keep others from working.
  for (let nth = 0; nth < 8; nth += 1) expect(await show('of-yesterday')).toBe(401)
  expect(await show('the-reader')).toBe(200)
  expect(await show('guess-1', '/login')).toBe(200)
  expect((await site.ask('/login', { form: { token: 'guess-2' } })).status).toBe(403)
  const pushed = { method: 'POST', headers: { authorization: `Basic ${btoa(':guess-3')}` }, body: 'a' }
  expect((await fetch(`${site.url}/feeds/products`, pushed)).status).toBe(403)
  expect(await show('guess-4')).toBe(401)
  const limited = await site.ask('/', { headers: { authorization: 'Bearer the-operator', accept: '*/*' } })
  expect([limited.status, Number(limited.headers.get('retry-after'))]).toEqual([429, expect.any(Number)])
  // Not even whether it is the right one is told.
  expect(await show('the-operator', '/login')).toBe(200)
  const right = { ...pushed, headers: { authorization: 'Bearer the-operator' } }
  expect((await fetch(`${site.url}/feeds/products`, right)).status).toBe(429)
  expect((await site.ask('/login', { form: { token: 'the-operator' } })).status).toBe(429)
})

test('a certificate makes it HTTPS, and the cookie stays there', async () => {
  await using dir = await tempDir('tls')
  const [certFile, keyFile] = [dir.join('cert.pem'), dir.join('key.pem')]
  const args = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout ${keyFile} -out ${certFile}`
  execFileSync('openssl', args.split(' '), { stdio: 'ignore' })
  {
    await using site = await openPages({ ...tokens, tls: { certFile, keyFile } })
    const request = get(`${site.url}/login`, { ca: await readFile(certFile), servername: 'localhost' })
    const [response] = await once(request, 'response')
    expect(response.statusCode).toBe(200)
    response.resume()
    await once(response, 'end')
  }
  await writeFile(certFile, 'none')
  await expect(openPages({ tls: { certFile, keyFile } })).rejects.toMatchObject({ code: 'console-tls' })
})
