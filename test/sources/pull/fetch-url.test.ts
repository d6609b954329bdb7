import { readdir, readFile } from 'node:fs/promises'
import type { RequestListener, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OutcomeLine } from '../../../src/sources/model.ts'
import { systemNetwork } from '../../../src/sources/pull/resolve-host.ts'
import { leakCheck } from '../../support/leak-check.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { makeCertificate } from '../support/certificate.ts'
import { cut, rest, startFeedServer, status, whole } from '../support/feed-server.ts'
import { given, openPullSite, urlPull } from '../support/pull-site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const body = 'sku;price\n'.concat(...Array.from({ length: 60 }, (_, index) => `p${index};${index}.00\n`))

type Site = Awaited<ReturnType<typeof openPullSite>>
const contents = async (site: Site) => Promise.all(site.archivedPaths().map((path) => readFile(path, 'utf8')))

function drip(response: ServerResponse): void {
  response.write('x', () => response.socket?.destroy())
}

describe('a file at a URL', () => {
  test('is accepted once, and asked for again only if it is another one', async () => {
    await using dir = await tempDir('pull')
    const headers = { etag: '"1"', 'last-modified': 'Thu, 19 Nov 2026 10:00:00 GMT' }
    await using server = await startFeedServer([whole(body, headers), status(304)])
    const pull = urlPull(`${server.url}/export/products.csv?key=secret`)
    {
      await using site = await openPullSite({ dir: dir.path, pull })
      expect(await site.fetch()).toBeUndefined()
      expect(site.accepted()).toMatchObject([{ name: 'products.csv', bytes: body.length, mode: 'full' }])
      expect(await contents(site)).toEqual([body])
      await site.fetch()
    }
    // What is remembered outlives the process.
    await using site = await openPullSite({ dir: dir.path, pull })
    await site.fetch()
    expect(site.accepted()).toHaveLength(1)
    expect(site.trouble()).toBeUndefined()
    expect(server.requests.map((request) => request.headers['if-none-match'])).toEqual([
      undefined,
      '"1"',
      '"1"',
    ])
    expect(server.requests[1]?.headers).toMatchObject({
      'if-modified-since': headers['last-modified'],
      'accept-encoding': 'identity',
    })
  })

  test('brings nothing when the bytes are the same, whatever the server calls them', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([
      whole(body, { etag: '"1"' }),
      whole(body, { etag: '"2"' }),
      status(304),
    ])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    for (let run = 0; run < 3; run++) await site.fetch()
    expect(site.accepted()).toHaveLength(1)
    expect(site.lines.map(({ msg }) => msg)).toContain('fetched the same bytes again: nothing new')
    expect(server.requests[2]?.headers['if-none-match']).toBe('"2"')
  })

  test('comes back as a new file when it changes to and fro', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([whole('a\n1\n'), whole('a\n2\n'), whole('a\n1\n')])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    for (let run = 0; run < 3; run++) await site.fetch()
    expect(await contents(site)).toEqual(['a\n1\n', 'a\n2\n', 'a\n1\n'])
  })

  test.each(['before the line', 'after the line'])(
    'is neither lost nor accepted twice when the process ends %s',
    async (when) => {
      await using dir = await tempDir('pull')
      await using server = await startFeedServer([whole(body, { etag: '"1"' })])
      const pull = urlPull(server.url)
      {
        await using site = await openPullSite({ dir: dir.path, pull })
        const append = site.acceptor.append.bind(site.acceptor)
        site.acceptor.append = async (lines) => {
          if (when === 'after the line') await append(lines)
          throw Object.assign(new Error('the process ends here'), { code: 'EIO' })
        }
        await site.fetch()
      }
      await using site = await openPullSite({ dir: dir.path, pull })
      await site.fetch()
      expect(await contents(site)).toEqual([body])
      // What was accepted counts as the version that is known.
      expect(server.requests[1]?.headers['if-none-match']).toBe('"1"')
    },
  )

  test('is fetched anew when it was refused and came without a length', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([
      (_request, response) => {
        response.writeHead(200, { etag: '"1"' })
        response.end('sku\n"cut off')
      },
      whole(body, { etag: '"1"' }),
    ])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    await site.fetch()
    const [accept] = site.accepted()
    const outcome = { kind: 'outcome', of: accept?.sequence, outcome: 'refused', at: accept?.acceptedAt }
    await site.manifest.append([outcome as OutcomeLine])
    await site.fetch()
    expect(server.requests[1]?.headers).not.toHaveProperty('if-none-match')
    expect(site.accepted()).toHaveLength(2)
  })

  test('is sent the headers and the password of the configuration', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([whole(body)])
    const pull = urlPull(server.url, {
      headers: [{ name: 'X-Api-Key', value: given('key') }],
      credentials: { user: given('me'), password: given('pass') },
    })
    await using site = await openPullSite({ dir: dir.path, pull })
    await site.fetch()
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': 'key',
      authorization: `Basic ${Buffer.from('me:pass').toString('base64')}`,
    })
    expect(JSON.stringify(site.lines)).not.toMatch(/bWU6|X-Api-Key/i)
  })

  test.each([
    [{ 'content-disposition': 'attachment; filename="a b.csv"' }, '/x.php', 'a b.csv'],
    [
      { 'content-disposition': `attachment; filename=x.csv; filename*=UTF-8''%e2%82%ac.csv` },
      '/x.php',
      '€.csv',
    ],
    [{ 'content-disposition': 'attachment; filename="../../etc/passwd"' }, '/x', 'passwd'],
    [{ 'content-disposition': 'inline; filename="..\\\\..\\\\x.csv"' }, '/x', 'x.csv'],
    [{}, '/feeds/Sm%C3%B6r.xml.gz?a=b', 'Smör.xml.gz'],
    [{}, '/%2e%2e%2f%2e%2e%2fetc', '_.._etc'],
    [{}, '/', 'products'],
  ])('is named as %j at %s says: %s', async (headers: Record<string, string>, path, name) => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([whole(body, headers)])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url + path) })
    await site.fetch()
    expect(site.accepted()).toMatchObject([{ name }])
  })

  test('with full and delta files needs a name that tells', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([whole(body)])
    const files = [
      { pattern: '*_full.csv', mode: 'full' as const },
      { pattern: '*_delta.csv', mode: 'delta' as const },
    ]
    {
      await using site = await openPullSite({
        dir: dir.path,
        pull: urlPull(`${server.url}/x.csv`),
        feed: { files },
      })
      await site.fetch()
      expect(site.trouble()).toMatch(/called x\.csv, which no pattern of files matches. Set name/)
    }
    const pull = urlPull(`${server.url}/x.csv`, { name: 'x_delta.csv' })
    await using site = await openPullSite({ dir: dir.path, pull, feed: { files } })
    await site.fetch()
    expect(site.accepted()).toMatchObject([{ name: 'x_delta.csv', mode: 'delta' }])
  })

  test('may be compressed on its way, by a coding that readers of feed files know', async () => {
    await using dir = await tempDir('pull')
    const packed = gzipSync(body)
    await using server = await startFeedServer([
      (_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length })
        response.end(packed)
      },
      whole(body, { 'content-encoding': 'br' }),
    ])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    await site.fetch()
    expect(site.accepted()).toMatchObject([{ bytes: packed.length }])
    await site.fetch()
    expect(site.trouble()).toMatch(/content-encoding br/)
  })

  test('is remembered as of its address only', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([whole(body, { etag: '"1"' })])
    for (const path of ['/a.csv', '/b.csv']) {
      await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url + path) })
      await site.fetch()
    }
    expect(server.requests.map((request) => request.headers['if-none-match'])).toEqual([undefined, undefined])
  })

  test('is found by a name in a certificate, at the address that was checked', async () => {
    await using dir = await tempDir('pull')
    const name = 'shop.example'
    const { caFile, tls } = await makeCertificate(dir, name)
    await using server = await startFeedServer([whole(body)], tls)
    const network = { ...systemNetwork, resolve: async () => [{ address: '127.0.0.1', family: 4 as const }] }
    const pull = urlPull(`https://${name}:${server.port}/x.csv`, { network: { caFile } })
    await using site = await openPullSite({ dir: dir.path, pull, network })
    await site.fetch()
    expect(site.trouble()).toBeUndefined()
    expect(site.accepted()).toHaveLength(1)
    expect(server.requests[0]?.headers.host).toBe(`${name}:${server.port}`)
    const untrusted = urlPull(`https://${name}:${server.port}/x.csv`)
    await using dir2 = await tempDir('pull')
    await using other = await openPullSite({ dir: dir2.path, pull: untrusted, network })
    await other.fetch()
    expect(other.trouble()).toMatch(/certificate.*caFile/s)
  })
})

describe('a connection that breaks', () => {
  // Longer than what lies between server and file at any moment, so that something has arrived when it breaks.
  const body = 'sku;price\n'.concat(
    ...Array.from({ length: 30_000 }, (_, index) => `p${index};${index}.00\n`),
  )
  const sent = 300_000
  const isOnly = async (site: Site, text: string) =>
    (await contents(site)).every((content) => content === text) && site.accepted().length === 1

  test.each([
    ['an ETag', { etag: '"1"' }],
    ['a time of change', { 'last-modified': 'Thu, 19 Nov 2026 10:00:00 GMT' }],
  ])('is taken up where it broke, by %s', async (_, headers: Record<string, string>) => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([cut(body, sent, headers), rest(body, headers)])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    await site.fetch()
    expect(await isOnly(site, body)).toBe(true)
    expect(server.requests[1]?.headers).toMatchObject({
      range: expect.stringMatching(/^bytes=[1-9]\d+-$/),
      'if-range': Object.values(headers)[0],
    })
  })

  test('begins again where the server has another version by then', async () => {
    await using dir = await tempDir('pull')
    const newer = body.replaceAll('.00', '.99')
    await using server = await startFeedServer([
      cut(body, sent, { etag: '"1"' }),
      rest(newer, { etag: '"2"' }),
    ])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    await site.fetch()
    expect(await isOnly(site, newer)).toBe(true)
  })

  test.each([
    ['its ETag', { etag: '"1"' }, { etag: '"2"' }],
    [
      'its time of change',
      { 'last-modified': 'Thu, 19 Nov 2026 10:00:00 GMT' },
      { 'last-modified': 'Thu, 19 Nov 2026 11:00:00 GMT' },
    ],
  ])(
    'begins again where a part is of another version by %s, whatever the server thinks',
    async (...versions) => {
      const [, first, second]: readonly [string, Record<string, string>, Record<string, string>] = versions
      await using dir = await tempDir('pull')
      const newer = body.replaceAll('.00', '.99')
      const careless = (
        request: Parameters<ReturnType<typeof rest>>[0],
        response: Parameters<ReturnType<typeof rest>>[1],
      ) => {
        request.headers['if-range'] = Object.values(second)[0]
        rest(newer, second)(request, response)
      }
      await using server = await startFeedServer([cut(body, sent, first), careless, whole(newer)])
      await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
      await site.fetch()
      expect(await isOnly(site, newer)).toBe(true)
      expect(server.requests[2]?.headers.range).toBeUndefined()
    },
  )

  test.each([
    ['416', status(416)],
    ['412', status(412)],
  ])('begins again after %s', async (_, answer) => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([cut(body, sent, { etag: '"1"' }), answer, whole(body)])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    await site.fetch()
    expect(await isOnly(site, body)).toBe(true)
    expect(server.requests[2]?.headers['if-range']).toBeUndefined()
  })

  test('begins again where nothing says that two parts are of one version', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([
      cut(body, sent, { etag: 'W/"1"' }),
      rest(body, { etag: 'W/"1"' }),
    ])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    await site.fetch()
    expect(await isOnly(site, body)).toBe(true)
    expect(server.requests[1]?.headers.range).toBeUndefined()
  })

  test.each([
    ['in good order', (response: ServerResponse) => response.end('x')],
    ['with a lost connection', (response: ServerResponse) => drip(response)],
  ])('that comes byte by byte, each answer ended %s, is asked for less and less often', async (_, send) => {
    await using dir = await tempDir('pull')
    const drop: RequestListener = ({ headers: { range } }, response) => {
      const from = Number(/\d+/.exec(range ?? '')?.[0] ?? Number.NaN)
      if (Number.isNaN(from)) return cut(body, 1, { etag: '"1"' })(undefined as never, response as never)
      response.writeHead(206, { 'content-range': `bytes ${from}-${from}/${body.length}`, etag: '"1"' })
      send(response)
    }
    await using server = await startFeedServer([drop])
    const pull = urlPull(server.url, {}, { totalMs: 3_000 })
    await using site = await openPullSite({ dir: dir.path, pull })
    expect(await site.fetch()).toBeGreaterThan(0)
    expect(site.trouble()).toMatch(/took longer than 3 s/)
    // Pauses of at least 250, 500, 1,000 and 2,000 ms lie between them.
    expect(server.requests.length).toBeLessThanOrEqual(5)
    expect(server.requests.length).toBeGreaterThanOrEqual(2)
  })

  test('is given up when nothing more comes, and nothing is accepted of it', async () => {
    await using dir = await tempDir('pull')
    const stuck = cut(body, 0, { etag: '"1"' })
    await using server = await startFeedServer([cut(body, sent, { etag: '"1"' }), stuck])
    const pull = urlPull(server.url, {}, { totalMs: 1_200 })
    await using site = await openPullSite({ dir: dir.path, pull })
    expect(await site.fetch()).toBeGreaterThan(0)
    expect(site.accepted()).toEqual([])
    expect(site.trouble()).toMatch(/took longer than 1 s/)
    expect(await readdir(dir.join('pull', 'products'))).toEqual(['state.json'])
  })
})

describe('an answer that is no file', () => {
  test.each([
    ['404', status(404), /answers 404. Correct url/],
    ['401', status(401), /answers 401. Correct user and password/],
    ['204', status(204), /answers 204/],
    ['206 unasked', status(206), /answers 206/],
    ['304 unasked', status(304), /answers 304/],
    [
      'a web page',
      whole('<!DOCTYPE html><html><body>Please log in</body></html>'),
      /a web page in place of a file/,
    ],
    ['more than is allowed', whole('x'.repeat(2000), {}), /more than 1000 bytes. .*maxBytes/],
    [
      'more than is allowed, unannounced',
      (_: unknown, response: { write: (text: string) => void; end: () => void }) => {
        response.write('x'.repeat(2000))
        response.end()
      },
      /more than 1000 bytes/,
    ],
    ['a redirect to nowhere', status(302), /answers 302 without an address/],
    ['redirects in a ring', status(302, { location: '/' }), /more than 10 redirects/],
    ['a redirect to a file', status(302, { location: 'file:///etc/passwd' }), /leads to file:/],
  ])('%s', async (_, answer, trouble) => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([answer as ReturnType<typeof status>])
    await using site = await openPullSite({
      dir: dir.path,
      pull: urlPull(server.url, {}, { bytesMax: 1000 }),
    })
    expect(await site.fetch()).toBe(30_000)
    expect(site.trouble()).toMatch(trouble)
    expect(site.accepted()).toEqual([])
    expect(await readdir(dir.join('pull', 'products'))).toEqual(['state.json'])
  })

  test('what a busy server asks for is granted, over a restart too', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([status(429, { 'retry-after': '120' }), whole(body)])
    {
      await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
      expect(await site.fetch()).toBe(120_000)
      expect(await site.fetch()).toBeGreaterThan(60_000)
    }
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    expect(await site.fetch()).toBeGreaterThan(60_000)
    expect(server.requests).toHaveLength(1)
  })

  test('silence ends it', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([() => {}])
    const pull = urlPull(server.url, {}, { silenceMs: 100 })
    await using site = await openPullSite({ dir: dir.path, pull })
    await site.fetch()
    expect(site.trouble()).toMatch(/gives no answer/)
  })

  test('it is told once, and over when a file comes', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([status(404), whole(body)])
    {
      await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
      await site.fetch()
      expect(site.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    }
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(server.url) })
    expect(await site.puller.isOverdue()).toBe(true)
    await site.fetch()
    expect(await site.puller.isOverdue()).toBe(false)
    expect(site.accepted()).toHaveLength(1)
  })
})
