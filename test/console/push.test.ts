import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FeedName } from '../../src/lib/brand.ts'
import { openArchive } from '../../src/sources/archive.ts'
import { claimFileName, parseClaimFileName } from '../../src/sources/claim-name.ts'
import type { AcceptLine } from '../../src/sources/model.ts'
import { linesOf } from '../sources/support/setup.ts'
import { canMount, mountSmallDisk } from '../sources/support/small-disk.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { RawConnection, sendRaw } from '../support/raw-http.ts'
import { tempDir } from '../support/temp-dir.ts'
import { openTestConsole, token } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const csv = 'product_id;name\n1;One\n'
const both = { files: ['full', 'delta'].map((mode) => ({ pattern: `*_${mode}.csv`, mode }) as never) }

describe('a pushed file', () => {
  it('stands in the archive and the manifest when it is answered', async () => {
    await using site = await openTestConsole()
    const { status, body } = await site.push(csv, { headers: { 'content-type': 'text/csv' } })
    const lines = await linesOf(site.stateDir)
    expect({ status, body }).toEqual({ status: 202, body: { sequence: 1, bytes: csv.length } })
    expect(lines).toMatchObject([
      { kind: 'accept', sequence: 1, feed: 'products', mode: 'full', name: 'pushed.csv', bytes: csv.length },
    ])
    const [name = ''] = await site.archived()
    expect(await readFile(join(site.stateDir, 'archive', name), 'utf8')).toBe(csv)
    expect(site.accepted.map(({ sequence }) => sequence)).toEqual([1])
  })

  it('has the name, the mode and the compression that its sender says', async () => {
    await using site = await openTestConsole()
    const type = { 'content-type': 'application/json' }
    const sent = [
      await site.push('[]', { headers: type }),
      await site.push('{}\n', { headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } }),
      await site.push(csv, { query: '?mode=delta&name=../stock%0a2.csv' }),
      await site.push(new Uint8Array(gzipSync(csv)), { headers: { ...type, 'content-encoding': 'gzip' } }),
      await site.push(new Uint8Array(zstdCompressSync(csv)), {
        query: '?name=a.csv',
        headers: { 'content-encoding': 'zstd' },
      }),
      await site.push(csv, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    ]
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 202))
    expect([...site.manifest.files()].map(({ name, mode }) => `${name} ${mode}`)).toEqual([
      'pushed.json full',
      'pushed.ndjson full',
      '_stock_2.csv delta',
      'pushed.json.gz full',
      'a.csv.zst full',
      'pushed full',
    ])
  })

  it('may come in chunks, and from curl -u', async () => {
    await using site = await openTestConsole()
    const basic = Buffer.from(`catalogd:${token}`).toString('base64')
    const answer = await sendRaw(site.url, {
      method: 'POST',
      target: '/feeds/products/',
      headers: [['Authorization', `Basic ${basic}`]],
      body: csv,
      chunkBytes: 5,
    })
    expect([answer.status, JSON.parse(answer.text)]).toEqual([202, { sequence: 1, bytes: csv.length }])
  })

  it('takes its mode from the name where the feed takes both', async () => {
    await using site = await openTestConsole({ feeds: [both] })
    const unclear = await site.push(csv)
    expect([unclear.status, unclear.body.error]).toEqual([422, 'push-mode'])
    await site.push(csv, { query: '?name=x_delta.csv' })
    await site.push(csv, { query: '?mode=full' })
    expect([...site.manifest.files()].map(({ mode }) => mode)).toEqual(['delta', 'full'])
  })
})

describe('the time of a pushed file', () => {
  it('is read from its name where the feed says so', async () => {
    const asOf = { from: 'name', regex: '(?P<stamp>\\d{8})', zone: 'UTC' } as const
    await using site = await openTestConsole({ feeds: [{ asOf }] })
    await site.push(csv, { query: '?name=products_20261120.csv' })
    await site.push(csv)
    const [dated, undated] = [...site.manifest.files()]
    expect([dated?.asOf, dated?.isDated]).toEqual(['2026-11-20T00:00:00.000Z', true])
    expect(undated?.asOf).toBe(undated?.acceptedAt)
  })
})

describe('a push', () => {
  it('that is repeated under its key is accepted once, over restarts too', async () => {
    await using dir = await tempDir('console')
    const stateDir = dir.join('state')
    const keyed = { headers: { 'idempotency-key': 'nightly 2026-11-21' } }
    {
      await using site = await openTestConsole({ stateDir })
      const first = await site.push(csv, keyed)
      const again = await site.push(csv, keyed)
      expect([first.body, again.body]).toEqual([again.body, { sequence: 1, bytes: csv.length }])
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      const other = await site.push(`${csv}2;Two\n`, keyed)
      expect([other.status, other.body.error]).toEqual([422, 'push-other'])
    }
    await using site = await openTestConsole({ stateDir })
    expect((await site.push(csv, keyed)).body.sequence).toBe(1)
    expect((await site.push(csv, { headers: { 'idempotency-key': 'another' } })).body.sequence).toBe(2)
    expect((await site.push(csv)).body.sequence).toBe(3)
  })

  it('under a key that another body has is refused, however long it is, and whether that one is archived yet', async () => {
    await using dir = await tempDir('console')
    await using site = await openTestConsole({ stateDir: dir.join('state') })
    const keyed = { headers: { 'idempotency-key': 'k' } }
    const others = [csv.replace('One', 'Two'), csv.slice(1), `${csv}\n`, '']
    const answers = async () => {
      const sent: unknown[] = []
      for (const body of others.flatMap((text) => [text, new Blob([text]).stream()])) {
        const { status, body: answer } = await site.push(body, keyed)
        sent.push([status, answer.error])
      }
      return sent
    }
    await site.push(csv, keyed)
    const refused = Array.from({ length: 8 }, () => [422, 'push-other'])
    expect(await answers()).toEqual(refused)
    const [line] = [...site.manifest.files()]
    const archive = await openArchive({ dir: dir.join('state'), manifest: site.manifest })
    await archive.archiveFile(line as AcceptLine)
    expect(await answers()).toEqual(refused)
    expect((await site.push(new Blob([csv]).stream(), keyed)).body).toEqual({
      sequence: 1,
      bytes: csv.length,
    })
    expect([...site.manifest.files()]).toHaveLength(1)
  })

  it('keeps its key through a crash between the file and its line', async () => {
    await using dir = await tempDir('console')
    const stateDir = dir.join('state')
    const keyed = { headers: { 'idempotency-key': 'k' } }
    let key: string | undefined
    {
      await using site = await openTestConsole({ stateDir })
      await site.push(csv, keyed)
      const [name = ''] = await site.archived()
      key = parseClaimFileName(name)?.pushKey
    }
    // What a process leaves that is killed before the line is written.
    await using other = await tempDir('console')
    const fileName = claimFileName({
      ...{ claim: '20261120T104301123-0000-5f3a9c2e', feed: 'products' as FeedName, mode: 'full' },
      ...{ resend: false, grownFrom: undefined, name: 'pushed.csv' },
      ...(key === undefined ? {} : { pushKey: key }),
    })
    await mkdir(other.join('state/archive'), { recursive: true })
    await writeFile(other.join('state/archive', fileName), csv)
    await using site = await openTestConsole({ stateDir: other.join('state') })
    expect([...site.manifest.files()].map(({ pushKey }) => pushKey)).toEqual([key])
    expect((await site.push(csv, keyed)).body).toEqual({ sequence: 1, bytes: csv.length })
    expect(key).toMatch(/^[0-9a-f]{32}$/)
  })

  it('that is being received is not begun a second time', async () => {
    await using site = await openTestConsole()
    await using slow = await RawConnection.open(site.url)
    slow.write(
      `POST /feeds/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
        `Idempotency-Key: k\r\nContent-Length: ${csv.length}\r\n\r\nprod`,
    )
    await waitFor(async () => (await site.archived()).length === 1, { what: 'the first bytes' })
    const second = await site.push(csv, { headers: { 'idempotency-key': 'k' } })
    expect([second.status, second.headers.get('retry-after')]).toEqual([409, '2'])
    slow.write(csv.slice(4))
    expect((await slow.answer())?.status).toBe(202)
  })

  it('that is broken off leaves nothing', async () => {
    await using site = await openTestConsole()
    for (const length of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
      const cut = await RawConnection.open(site.url)
      cut.write(
        `POST /feeds/products HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${length}\r\n\r\n4\r\nprod\r\n`,
      )
      await waitFor(async () => (await site.archived()).length === 1, { what: 'the first bytes' })
      await cut[Symbol.asyncDispose]()
      await waitFor(async () => (await site.archived()).length === 0, { what: 'an empty archive' })
    }
    expect([...site.manifest.files()]).toEqual([])
    expect((await site.push(csv)).body.sequence).toBe(1)
  })

  it('is not logged', async () => {
    await using site = await openTestConsole({ feeds: [{ kind: 'consents' }] })
    const body = '{"email":"anna@shop.example","consent":true}\n'
    expect((await site.push(body, { query: '?mode=full' })).status).toBe(422)
    expect((await site.push(body, { query: '?mode=delta&name=anna@shop.example.ndjson' })).status).toBe(202)
    expect(JSON.stringify(site.lines)).not.toContain('anna')
    expect(JSON.stringify(site.lines)).not.toContain(token)
  })
})

describe('refused are', () => {
  it('strangers', async () => {
    await using site = await openTestConsole()
    const withToken = { authorization: `Bearer ${token}` }
    const cases: [Record<string, string>, number][] = [
      [{}, 401],
      [{ authorization: 'Digest x' }, 401],
      [{ authorization: `Bearer ${token}x` }, 403],
      [{ authorization: 'Bearer x' }, 403],
      [{ ...withToken, host: 'evil.example' }, 403],
      [{ ...withToken, host: '' }, 403],
      [{ ...withToken, origin: 'https://evil.example' }, 403],
      [{ ...withToken, origin: 'null' }, 403],
      [{ ...withToken, 'sec-fetch-site': 'cross-site' }, 403],
      [{ ...withToken, host: 'feeds.example:8480' }, 202],
      [{ ...withToken, host: 'localhost:1', origin: 'http://localhost:1' }, 202],
    ]
    for (const [headers, status] of cases) {
      const answer = await sendRaw(site.url, {
        method: 'POST',
        target: '/feeds/products',
        headers: Object.entries(headers),
        body: csv,
      })
      expect([headers, answer.status]).toEqual([headers, status])
    }
    expect([...site.manifest.files()]).toHaveLength(2)
  })

  it('all, while no token is configured', async () => {
    await using site = await openTestConsole({ config: { token: undefined } })
    const { status, body } = await site.push(csv)
    expect([status, body.error, body.hint]).toEqual([
      403,
      'no-token',
      expect.stringContaining('console.token'),
    ])
  })

  it('what cannot be a file of the feed', async () => {
    await using site = await openTestConsole({
      config: { bytesMax: 1000 },
      feeds: [{}, { name: 'rows' as FeedName, format: rowsFormat }],
    })
    const json = { 'content-type': 'application/json' }
    const long = 'x'.repeat(1001)
    const stream = () => new Blob([long]).stream()
    const cases: [Promise<{ status: number; body: { error?: string } }>, number, string][] = [
      [site.push(csv, { feed: 'nowhere' }), 404, 'feed-unknown'],
      [site.push(csv, { query: '?catalog=other' }), 404, 'catalog-unknown'],
      [site.push(csv, { query: '?mode=half' }), 422, 'push-mode'],
      [site.push(''), 422, 'push-empty'],
      [site.push(long), 413, 'push-too-large'],
      [site.push(stream()), 413, 'push-too-large'],
      [
        site.push(csv, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }),
        415,
        'content-type',
      ],
      [site.push(csv, { headers: { 'content-encoding': 'br' } }), 415, 'content-encoding'],
      ...['constructor', '__proto__'].flatMap((name): [ReturnType<typeof site.push>, number, string][] => [
        [site.push(csv, { headers: { 'content-type': name } }), 415, 'content-type'],
        [site.push(csv, { headers: { 'content-encoding': name } }), 415, 'content-encoding'],
        [site.push(csv, { feed: name }), 404, 'feed-unknown'],
        [site.push(csv, { query: `?catalog=${name}` }), 404, 'catalog-unknown'],
        [site.push(csv, { query: `?mode=${name}` }), 422, 'push-mode'],
      ]),
      [site.push('[]', { feed: 'rows', headers: json }), 415, 'content-type'],
      [site.push(csv, { headers: { 'idempotency-key': 'x'.repeat(256) } }), 400, 'idempotency-key'],
    ]
    for (const [answer, status, error] of cases) {
      const { status: found, body } = await answer
      expect([found, body.error]).toEqual([status, error])
    }
    const noLength = await sendRaw(site.url, {
      method: 'POST',
      target: '/feeds/products',
      headers: [['Authorization', `Bearer ${token}`]],
    })
    expect([noLength.status, JSON.parse(noLength.text).error]).toEqual([411, 'length-missing'])
    expect(await site.archived()).toEqual([])
  })

  it('files while another process accepts', async () => {
    await using site = await openTestConsole()
    site.accepts = false
    const { status, headers, body } = await site.push(csv)
    expect([status, headers.get('retry-after'), body.error]).toEqual([503, '5', 'not-importing'])
  })

  it.skipIf(!canMount)('files that the disk has no room for (needs the right to mount)', async () => {
    await using dir = await tempDir('console')
    await using _disk = mountSmallDisk(dir.join('disk'), 24)
    await using site = await openTestConsole({ stateDir: dir.join('disk/main'), config: { bytesMax: 1e9 } })
    const large = new Uint8Array(16_000_000)
    const { status, headers, body } = await site.push(large)
    expect([status, headers.get('retry-after'), body.error]).toEqual([503, '60', 'disk-full'])
    expect(await site.archived()).toEqual([])
    expect((await site.push(csv)).status).toBe(202)
  })
})

const rowsFormat = {
  ...{ type: 'csv', delimiter: undefined, quote: undefined, encoding: undefined, recordBytes: 1e6 },
} as never
