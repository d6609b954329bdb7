import { describe, expect, test } from 'vitest'
import { describeConfig } from '../../src/config/print.ts'
import { isCron } from '../../src/config/pull-schema.ts'
import { problemsOf, read } from './support.ts'

function withPull(lines: string, feedLines = ''): string {
  const pull = lines
    .trim()
    .split('\n')
    .map((line) => `          ${line}\n`)
    .join('')
  return `catalogs:
  main:
    api: { url: https://api.example, productsToken: abc }
    feeds:
      products:
        pull:
${pull}${feedLines}`
}

const sftp = 'host: h, user: u, password: p'
const key = `SHA256:${'a'.repeat(43)}`

async function pullOf(lines: string, env: Record<string, string> = {}) {
  const { loaded, folder } = await read(withPull(lines), { env })
  const feed = [...loaded.config.catalogs.values()][0]?.feeds.values().next().value
  const printed = JSON.parse(JSON.stringify(describeConfig(loaded))).catalogs.main.feeds.products
  return { feed, pull: feed?.pull, printed, folder }
}

describe('pull', () => {
  test('from a URL, with defaults', async () => {
    const { feed, pull, printed } = await pullOf('url: https://shop.example/feed.xml?key=s3cret\nevery: 15m')
    expect(feed?.dropDir).toBe('')
    expect(pull).toMatchObject({
      schedule: { kind: 'every', everyMs: 900_000 },
      bytesMax: 20e9,
      silenceMs: 60_000,
      totalMs: 21_600_000,
      source: { kind: 'url', allowPrivate: false, headers: [], credentials: undefined, name: undefined },
    })
    expect(printed).toMatchObject({ pull: { url: 'https://shop.example/feed.xml?********', every: '15m' } })
    expect(printed).not.toHaveProperty('drop')
  })

  test('from an SFTP server', async () => {
    const { pull, printed, folder } = await pullOf(`
sftp: { host: sftp.example, port: "2222", user: shop, password: s3cret, privateKeyFile: ./id, passphrase: s3cret, hostKey: [${key}, "${key}"], folder: /out }
cron: "15 3 * * mon-fri"
zone: Europe/Berlin
after: move
moveTo: done
maxBytes: 5GB`)
    expect(pull).toMatchObject({
      schedule: { kind: 'cron', pattern: '15 3 * * mon-fri', zone: 'Europe/Berlin' },
      bytesMax: 5e9,
      source: {
        kind: 'sftp',
        port: 2222,
        privateKeyFile: `${folder}/id`,
        hostKeys: [key, key],
        knownHostsFile: undefined,
        folder: '/out',
        after: 'move',
        moveTo: 'done',
      },
    })
    expect(printed.pull.sftp).toMatchObject({
      password: '********',
      passphrase: '********',
      privateKeyFile: `${folder}/id`,
    })
    expect(JSON.stringify(printed)).not.toContain('s3cret')
  })

  test('with secrets from the environment, which only a fetch needs', async () => {
    const reference = ['$', '{KEY}'].join('')
    const lines = `
url: https://shop.example/\${PATH_OF_FEED}
every: 1h
user: me
password: \${PASSWORD}
headers: { X-Key: "\${KEY}", Accept: text/csv }`
    const { pull, printed } = await pullOf(lines)
    if (pull?.source.kind !== 'url') throw new Error('no url')
    const { url, headers, credentials } = pull.source
    expect(url.available || credentials?.password.available || headers[0]?.value.available).toBe(false)
    expect(() => headers[0]?.value.value()).toThrow(
      /pull\.headers\.X-Key: the environment variable KEY is not set/,
    )
    expect(printed.pull.headers).toEqual({ 'X-Key': reference, Accept: 'text/csv' })
    const given = await pullOf(lines, { PATH_OF_FEED: 'a', PASSWORD: 's3cret', KEY: 's3cret' })
    expect(JSON.stringify(given.printed)).not.toContain('s3cret')
    expect(given.printed.pull.headers).toEqual({ 'X-Key': '********', Accept: 'text/csv' })
  })

  test('beside a drop folder', async () => {
    const { loaded, folder } = await read(
      withPull('url: https://a.example/x\nevery: 1h', '        drop: ./drop\n'),
    )
    const feed = loaded.config.catalogs.values().next().value?.feeds.values().next().value
    expect(feed).toMatchObject({ dropDir: `${folder}/drop`, pull: { source: { kind: 'url' } } })
  })

  test.each([
    ['every: 1h', 'is missing, expected url, sftp or s3'],
    ['s3: { bucket: b }\nurl: https://a.example/\nevery: 1h', 'found beside url'],
    ['s3: { bucket: b, accessKeyId: k }\nevery: 1h', 's3.secretAccessKey: is missing beside accessKeyId'],
    ['s3: { bucket: b, endpoint: minio }\nevery: 1h', 'expected an address such as https://minio'],
    ['s3: { bucket: b }\nevery: 1h\nproxy: socks://p', 'expected the address of an HTTP proxy'],
    ['s3: { bucket: b }\nevery: 1h\ncertFile: ./c', 'keyFile: is missing, expected it beside certFile'],
    ['url: s3://b/x\nevery: 1h', 'named under s3'],
    ['url: https://a.example/', 'is missing, expected every (such as 15m) or cron'],
    [
      `url: https://a.example/\nsftp: { ${sftp}, hostKey: "${key}" }\nevery: 1h`,
      'found beside url, expected one of them',
    ],
    ['url: https://a.example/\nevery: 1h\ncron: "0 * * * *"', 'found beside every, expected one of them'],
    ['url: https://a.example/\nevery: 10ms', 'at least 1s'],
    ['url: https://a.example/\ncron: "0 25 * * *"', 'expected five fields'],
    ['url: https://a.example/\nevery: 1h\nzone: UTC', 'has an effect only beside cron'],
    ['url: https://a.example/\ncron: "0 3 * * *"\nzone: Europe/Nowhere', 'expected a time zone such as'],
    ['url: shop.example/feed\nevery: 1h', 'expected an address such as'],
    ['url: ftp://shop.example/feed\nevery: 1h', 'expected an address such as'],
    ['url: sftp://shop.example/feed\nevery: 1h', 'named under sftp'],
    ['url: https://me:pw@shop.example/feed\nevery: 1h', 'expected an address without user and password'],
    [
      'url: http://a.example/\nevery: 1h\nheaders: { X-Key: a }',
      'expected https: they could be read on the way',
    ],
    ['url: https://a.example/\nevery: 1h\nuser: me', 'is missing beside user'],
    ['url: https://a.example/\nevery: 1h\npassword: p', 'is missing beside password'],
    ['url: https://a.example/\nevery: 1h\nheaders: { "X Key": a }', 'a name of a header'],
    ['url: https://a.example/\nevery: 1h\nafter: delete', 'has no effect here, expected it to be left out'],
    ['url: https://a.example/\nevery: 1h\nname: a/b.csv', 'expected a file name without a folder'],
    ['url: https://a.example/\nevery: 1h\nmaxBytes: 2PB', 'expected bytes from 1'],
    [`sftp: { ${sftp} }\nevery: 1h`, 'is missing, expected the fingerprint of the server’s key'],
    [`sftp: { ${sftp}, hostKey: "MD5:00" }\nevery: 1h`, 'the fingerprint'],
    [`sftp: { ${sftp}, hostKey: "${key}", knownHosts: ./k }\nevery: 1h`, 'found beside hostKey'],
    [
      `sftp: { host: h, user: u, hostKey: "${key}" }\nevery: 1h`,
      'expected password, passwordFile or privateKeyFile',
    ],
    [`sftp: { ${sftp}, passphrase: x, hostKey: "${key}" }\nevery: 1h`, 'only beside privateKeyFile'],
    [
      `sftp: { ${sftp}, hostKey: "${key}" }\nevery: 1h\nafter: move`,
      'is missing, expected a folder on the server',
    ],
    [`sftp: { ${sftp}, hostKey: "${key}" }\nevery: 1h\nmoveTo: x`, 'only with after: move'],
    [`sftp: { ${sftp}, hostKey: "${key}" }\nevery: 1h\nuser: x`, 'expected it inside sftp'],
    [`sftp: { ${sftp}, hostKey: "${key}", port: 70000 }\nevery: 1h`, 'a whole number from 1 to 65535'],
  ])('a mistake is told: %s', async (lines, expected) => {
    expect(await problemsOf(withPull(lines))).toEqual([expect.stringContaining(expected)])
  })

  test('a feed has a folder or is fetched', async () => {
    const text = withPull('x: 1').replace(/ {8}pull:\n.*\n/, '        mode: full\n')
    expect(await problemsOf(text)).toEqual([
      expect.stringContaining('drop: is missing, expected the folder to watch, or pull'),
    ])
  })
})

describe('cron lines', () => {
  test.each([
    '* * * * *',
    '*/5 * * * *',
    '0,30 8-18/2 1,15 jan-DEC mon-fri',
    '59 23 31 12 7',
    '0  3 * * sun',
  ])('%s', (text) => expect(isCron(text)).toBe(true))

  test.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '1-2-3 * * * *',
    '5/10 * * * *',
    '@daily',
    'a * * * *',
    '1,,2 * * * *',
  ])('not %s', (text) => expect(isCron(text)).toBe(false))
})
