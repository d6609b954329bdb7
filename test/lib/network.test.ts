import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import { readConfig } from '../../src/config/load.ts'
import type { ApiConfig, NetworkConfig } from '../../src/config/model.ts'
import { proxyFor, ServerConnections } from '../../src/lib/network.ts'
import { type ConnectProxy, openConnectProxy } from '../support/connect-proxy.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const document = Buffer.from('{"product_id":"1"}')

/** An authority, a server that wants a certificate of it, and a client that has one. */
function makeCertificates(dir: TempDir): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir.path, stdio: 'ignore' })
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  openssl('req', '-x509', ...ec, '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  for (const [name, extension] of [
    ['server', 'subjectAltName=DNS:api.example'],
    ['client', 'extendedKeyUsage=clientAuth'],
  ] as const) {
    const subject = ['-subj', `/CN=${name}`, '-addext', extension]
    openssl(
      'req',
      '-x509',
      ...ec,
      ...subject,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    )
  }
}

describe('the way to the endpoint', () => {
  let dir: TempDir
  let proxy: ConnectProxy
  let server: ReturnType<typeof createServer>
  const seen: { subject: string; body: string }[] = []

  beforeAll(async () => {
    dir = await tempDir('network')
    makeCertificates(dir)
    const tls = { key: await readFile(dir.join('server.key')), cert: await readFile(dir.join('server.pem')) }
    const ca = await readFile(dir.join('ca.pem'))
    server = createServer(
      { ...tls, ca, requestCert: true, rejectUnauthorized: true },
      async (request, response) => {
        let body = ''
        for await (const chunk of request) body += String(chunk)
        const socket = request.socket as import('node:tls').TLSSocket
        seen.push({ subject: String(socket.getPeerCertificate().subject.CN), body })
        response.end('{}')
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    proxy = await openConnectProxy()
    proxy.portOf.set('api.example:443', (server.address() as AddressInfo).port)
  })
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    server?.closeAllConnections()
    server?.close()
    await dir?.[Symbol.asyncDispose]()
  })

  /** As `api` of a configuration says it. */
  async function apiOf(lines: string, env: Record<string, string> = {}): Promise<ApiConfig> {
    await writeFile(
      dir.join('catalogd.yaml'),
      `catalogs: { main: { api: { url: https://api.example, productsToken: t, ${lines} }, feeds: { a: { drop: ./a } } } }`,
    )
    const { config } = await readConfig({ file: dir.join('catalogd.yaml'), env })
    const [catalog] = config.catalogs.values()
    if (!catalog) throw new Error('no catalog')
    return catalog.api
  }
  async function call({ url, network }: ApiConfig) {
    await using calls = openCatalogCalls({
      ...{ url: () => url.value(), network, token: () => 't', timeoutMs: 10_000 },
      ...{ connections: 1, version: '1', bodyBytesMax: 1000 },
    })
    return await calls.upsert([document])
  }

  const files = 'caFile: ca.pem, certFile: client.pem, keyFile: client.key'

  it('leads through a proxy, with an authority and a certificate of our own', async () => {
    const outcome = await call(await apiOf(`proxy: "${proxy.url}", ${files}`))
    expect(outcome).toMatchObject({ kind: 'response', status: 200 })
    expect(seen).toEqual([{ subject: 'client', body: `[${document}]` }])
    expect(proxy.asked).toEqual(['api.example:443'])
  })

  it('is the one of the environment where the configuration names none', async () => {
    expect(await call(await apiOf(files, { HTTPS_PROXY: proxy.url }))).toMatchObject({ status: 200 })
    const except = { HTTPS_PROXY: proxy.url, NO_PROXY: 'elsewhere, .example:443' }
    const direct = [
      await apiOf(files, except),
      await apiOf(`proxy: none, ${files}`, { HTTPS_PROXY: proxy.url }),
    ]
    for (const api of direct) expect(proxyFor(api.url.value(), api.network?.proxy)).toBeUndefined()
  })

  it.each([
    { what: 'a server of an unknown authority', lines: () => `proxy: "${proxy.url}"` },
    { what: 'a server that wants a certificate', lines: () => `proxy: "${proxy.url}", caFile: ca.pem` },
    {
      what: 'a proxy that wants a password',
      lines: () => `proxy: "http://127.0.0.1:${proxy.port}", ${files}`,
    },
    { what: 'a proxy that is not there', lines: () => `proxy: "http://127.0.0.1:1", ${files}` },
    { what: 'a file that is not there', lines: () => `caFile: missing.pem` },
  ])('that ends at $what is told without secrets; nothing was sent', async ({ what, lines }) => {
    const outcome = await call(await apiOf(lines()))
    // A refused certificate is told by the server only once the request is under way.
    const kind = what.includes('wants a certificate') ? 'unknown' : 'not-sent'
    expect(outcome).toMatchObject({ kind })
    expect(JSON.stringify(outcome) + ('error' in outcome ? outcome.error.message : '')).not.toContain(
      's3cret',
    )
    expect(seen.length).toBe(2)
  })

  it('is opened anew within a minute of a certificate being renewed', async () => {
    const network: NetworkConfig = { caFile: dir.join('renewed.pem') }
    await copyFile(dir.join('ca.pem'), dir.join('renewed.pem'))
    let nowMs = 0
    const clock = { monotonic: () => nowMs }
    const url = new URL('https://api.example')
    await using connections = new ServerConnections({ network, url, options: {}, clock })
    const first = connections.current
    nowMs = 61_000
    expect(connections.current).toBe(first)
    await utimes(dir.join('renewed.pem'), 1, 1)
    expect(connections.current).toBe(first)
    nowMs = 122_000
    expect(connections.current).not.toBe(first)
  })

  it.each([
    ['https://shop.example', '', true],
    ['https://shop.example', 'shop.example', false],
    ['https://api.shop.example', '.shop.example', false],
    ['https://myshop.example', 'shop.example', true],
    ['https://shop.example:8443', 'shop.example:443', true],
    ['https://shop.example', '*', false],
    ['https://127.0.0.1:9000', '', false],
    ['http://shop.example', '', false],
  ] as const)('to %s except "%s" is through the proxy: %s', (url, except, isProxied) => {
    const proxy = proxyFor(new URL(url), { kind: 'environment', https: 'http://p:1', http: '', except })
    expect(proxy !== undefined).toBe(isProxied)
  })
})
