import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { kindOfAddress } from '../../../src/lib/address-kind.ts'
import { type Network, systemNetwork } from '../../../src/sources/pull/resolve-host.ts'
import { leakCheck } from '../../support/leak-check.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { makeCertificate } from '../support/certificate.ts'
import { startFeedServer, status, whole } from '../support/feed-server.ts'
import { given, openPullSite, urlPull } from '../support/pull-site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

describe('kinds of addresses', () => {
  test.each([
    ['8.8.8.8', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['64:ff9b::808:808', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['127.0.0.1', 'private'],
    ['127.255.255.254', 'private'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['198.18.0.1', 'private'],
    ['::1', 'private'],
    ['fec0::1', 'private'],
    ['fd00::1', 'private'],
    ['::ffff:127.0.0.1', 'private'],
    ['::ffff:a00:1', 'private'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::7f00:1', 'private'],
    ['64:ff9b:1::1', 'private'],
    ['2002:a00:1::1', 'private'],
    ['2001::1', 'private'],
    ['0.0.0.0', 'unusable'],
    ['169.254.169.254', 'unusable'],
    ['::ffff:169.254.169.254', 'unusable'],
    ['64:ff9b::a9fe:a9fe', 'unusable'],
    ['fd00:ec2::254', 'unusable'],
    ['fe80::1', 'unusable'],
    ['::', 'unusable'],
    ['224.0.0.1', 'unusable'],
    ['255.255.255.255', 'unusable'],
    ['240.0.0.1', 'unusable'],
    ['ff02::1', 'unusable'],
    ['2001:db8::1', 'unusable'],
    ['::7f00:1', 'unusable'],
    ['4000::1', 'unusable'],
    ['fe80::1%lo', 'unusable'],
    ['localhost', 'unusable'],
  ])('%s is %s', (address, kind) => {
    expect(kindOfAddress(address)).toBe(kind)
  })
})

/** Names of the test; 127.0.0.2 plays the part of a public address. */
function networkOf(names: Record<string, string[]>): Network & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    resolve: async (name) => {
      asked.push(name)
      return (names[name] ?? []).map((address) => ({ address, family: 4 as const }))
    },
    kindOf: (address) => (address === '127.0.0.2' ? 'public' : systemNetwork.kindOf(address)),
  }
}

const body = 'sku;price\n1;2\n'

describe('what is connected to', () => {
  test.each([
    'http://127.0.0.1:1/x',
    'http://[::1]:1/x',
    'http://2130706433:1/x',
    'http://0x7f.1:1/x',
    'http://[::ffff:10.0.0.1]:1/x',
    'http://localhost:1/x',
    'http://inside.example:1/x',
    'http://mixed.example:1/x',
  ])('%s is refused unless private addresses are allowed', async (url) => {
    await using dir = await tempDir('pull')
    const network = networkOf({
      localhost: ['127.0.0.1'],
      'inside.example': ['10.0.0.1'],
      'mixed.example': ['8.8.8.8', '192.168.0.1'],
    })
    await using site = await openPullSite({
      dir: dir.path,
      pull: urlPull(url, { allowPrivate: false }),
      network,
    })
    await site.fetch()
    expect(site.trouble()).toMatch(/address of a private network.*allowPrivate: true/s)
  })

  test('is the address that was checked, and the name goes with it', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([whole(body)])
    const network = networkOf({ 'shop.example': ['127.0.0.2'] })
    const pull = urlPull(`http://shop.example:${server.port}/x.csv`, { allowPrivate: false })
    await using site = await openPullSite({ dir: dir.path, pull, network })
    await site.fetch()
    expect(site.trouble()).toBeUndefined()
    expect(network.asked).toEqual(['shop.example'])
    expect(server.requests).toMatchObject([
      { local: '127.0.0.2', headers: { host: `shop.example:${server.port}` } },
    ])
  })

  test.each([
    ['by number', 'http://127.0.0.1'],
    ['by name', 'http://inside.example'],
  ])(
    'a redirect to a private address (%s) is refused, even for a server where they are allowed',
    async (_, to) => {
      for (const allowPrivate of [false, true]) {
        await using dir = await tempDir('pull')
        await using inside = await startFeedServer([whole('secret')])
        await using server = await startFeedServer([status(302, { location: `${to}:${inside.port}/` })])
        const network = networkOf({ 'shop.example': ['127.0.0.2'], 'inside.example': ['127.0.0.1'] })
        const pull = urlPull(`http://shop.example:${server.port}/`, { allowPrivate })
        await using site = await openPullSite({ dir: dir.path, pull, network })
        await site.fetch()
        expect(site.trouble()).toMatch(/private network/)
        expect(inside.requests).toEqual([])
      }
    },
  )

  test('a redirect from https to http is refused', async () => {
    await using dir = await tempDir('pull')
    const { caFile, tls } = await makeCertificate(dir, 'shop.example')
    await using plain = await startFeedServer([whole(body)])
    await using server = await startFeedServer([status(302, { location: plain.url })], tls)
    const network = networkOf({ 'shop.example': ['127.0.0.1'] })
    const pull = urlPull(`https://shop.example:${server.port}/x.csv`, { network: { caFile } })
    await using site = await openPullSite({ dir: dir.path, pull, network })
    await site.fetch()
    expect(site.trouble()).toMatch(/answers 302 and leads to http:.*not followed/)
    expect(plain.requests).toEqual([])
  })

  test('inside a private network redirects are followed where that is allowed', async () => {
    await using dir = await tempDir('pull')
    await using server = await startFeedServer([status(307, { location: '/there.csv' }), whole(body)])
    await using site = await openPullSite({ dir: dir.path, pull: urlPull(`${server.url}/here`) })
    await site.fetch()
    expect(site.accepted()).toMatchObject([{ name: 'there.csv' }])
  })

  test('a redirect to another origin takes no header of ours along; one to the same origin does', async () => {
    await using dir = await tempDir('pull')
    await using other = await startFeedServer([whole(body)])
    await using server = await startFeedServer([
      status(301, { location: '/b' }),
      status(302, { location: `http://127.0.0.1:${other.port}/c.csv` }),
    ])
    const pull = urlPull(`${server.url}/a`, {
      headers: [{ name: 'X-Key', value: given('secret') }],
      credentials: { user: given('me'), password: given('pass') },
    })
    await using site = await openPullSite({ dir: dir.path, pull })
    await site.fetch()
    expect(server.requests.map(({ path, headers }) => [path, headers['x-key']])).toEqual([
      ['/a', 'secret'],
      ['/b', 'secret'],
    ])
    expect(other.requests[0]?.headers).not.toHaveProperty('x-key')
    expect(other.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(site.accepted()).toHaveLength(1)
  })
})
