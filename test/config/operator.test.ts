import { describe, expect, it } from 'vitest'
import { describeConfig } from '../../src/config/print.ts'
import { problemsOf, read, withFeed } from './support.ts'

async function configOf(text: string, env: Record<string, string> = {}) {
  return (await read(`${text}\n${withFeed('')}`, { env })).loaded.config
}

describe('console', () => {
  it('listens on this machine only when nothing else is said', async () => {
    const { console } = await configOf('console: { token: t }')
    expect(console).toMatchObject({ listen: { host: '127.0.0.1', port: 8480 }, hosts: [], bytesMax: 20e9 })
    expect(console?.token?.value()).toBe('t')
  })

  it('is there without the section, for this machine only, and off with an empty address', async () => {
    expect((await configOf('')).console).toMatchObject({ listen: { host: '127.0.0.1' }, token: undefined })
    expect((await configOf(`console: { listen: "\${WHERE:-}" }`)).console).toBeUndefined()
  })

  it('has no token where the variable leaves it empty, and asks for one that is not set where it is used', async () => {
    expect((await configOf(`console: { token: "\${TOKEN:-}" }`)).console?.token).toBeUndefined()
    const { console } = await configOf(`console: { token: "\${TOKEN}" }`)
    expect(() => console?.token?.value()).toThrow('TOKEN is not set')
  })

  it('takes addresses of both kinds', async () => {
    for (const [listen, host, port] of [
      ['"[::1]:0"', '::1', 0],
      ['localhost:81', 'localhost', 81],
    ]) {
      expect((await configOf(`console: { listen: ${listen} }`)).console?.listen).toEqual({ host, port })
    }
  })

  it('is not opened to others without a token', async () => {
    const text = (line: string) => `${line}\n${withFeed('')}`
    const expected = expect.stringContaining('which others can reach, and no token')
    expect(await problemsOf(text('console: { listen: "0.0.0.0:8480" }'))).toEqual([expected])
    expect(await problemsOf(text(`console: { listen: "[::]:8480", token: "\${TOKEN:-}" }`))).toEqual([
      expected,
    ])
    expect(await problemsOf(text(`console: { listen: "0.0.0.0:8480", token: "\${TOKEN}" }`))).toEqual([])
    for (const listen of ['8480', 'x:99999', 'http://127.0.0.1:1', '"[127.0.0.1]:1"']) {
      expect(await problemsOf(text(`console: { listen: ${listen} }`))).toEqual([
        expect.stringContaining('host:port'),
      ])
    }
    expect(await problemsOf(text('console: { token: a, tokenFile: b }'))).toEqual([
      expect.stringContaining('tokenFile: found beside token'),
    ])
  })
})

describe('alerts', () => {
  it('have defaults, and secrets that are asked for where they are used', async () => {
    const { alerts } = await configOf(
      `alerts: { url: "https://hooks.example/\${SECRET}", headers: { Authorization: "Bearer \${TOKEN}" } }`,
      { SECRET: 's' },
    )
    expect(alerts).toMatchObject({ everyMs: 900_000, urgentLagMs: 300_000 })
    expect(alerts?.url?.value().href).toBe('https://hooks.example/s')
    expect(() => alerts?.headers[0]?.value.value()).toThrow('TOKEN is not set')
  })

  it('are off without an address', async () => {
    expect((await configOf(`alerts: { url: "\${URL:-}" }`)).alerts).toBeUndefined()
  })

  it('go to web addresses only', async () => {
    for (const url of ['ftp://a.example', 'https://user:pass@a.example/x', 'nowhere']) {
      expect(await problemsOf(`alerts: { url: "${url}" }\n${withFeed('')}`)).toEqual([
        expect.stringContaining('https://hooks.example/'),
      ])
    }
  })

  it('go over plain HTTP only within a network', async () => {
    for (const host of [
      '127.0.0.1:9',
      'localhost',
      '[::1]',
      '10.1.2.3',
      '192.168.0.7:8080',
      '[fd00::1]',
      'n8n:5678',
    ]) {
      expect((await configOf(`alerts: { url: "http://${host}/s3cret" }`)).alerts?.url?.available).toBe(true)
    }
    for (const host of ['hooks.example', '8.8.8.8', '[2001:4860::1]', '127.0.0.1.hooks.example']) {
      expect(await problemsOf(`alerts: { url: "http://${host}/s3cret" }\n${withFeed('')}`)).toEqual([
        expect.stringContaining(`found "http://${host}/…", expected https: over plain HTTP`),
      ])
    }
  })

  it('are printed without what is secret', async () => {
    const { loaded } = await read(
      `alerts: { url: "https://hooks.example/s3cret", headers: { Authorization: "Bearer s3cret" } }\n${withFeed('')}`,
    )
    expect(describeConfig(loaded).alerts).toEqual({
      ...{ url: 'https://hooks.example/********', headers: { Authorization: '********' } },
      ...{ every: '15m', urgentLag: '5m', format: 'json' },
    })
  })
})

describe('expectEvery', () => {
  it('is a duration of a feed', async () => {
    const config = (await read(withFeed('expectEvery: 26h'))).loaded.config
    const [feed] = config.catalogs.values().next().value?.feeds.values() ?? []
    expect(feed?.expectEveryMs).toBe(26 * 3_600_000)
  })
})

describe('a mistyped address', () => {
  const secret = 's3cret'
  it.each([
    `alerts: { url: "htps://hooks.example/${secret}" }`,
    `alerts: { url: "http:/hooks.example/${secret}" }`,
    `alerts: { url: "https//hooks.example/${secret}" }`,
    `alerts: { url: "hooks.example/${secret}" }`,
    `alerts: { url: "hooks.example:443/${secret}" }`,
    `alerts: { url: " ${secret} " }`,
    `alerts: { url: "${secret}" }`,
    `alerts: { url: "https://me:${secret}@hooks.example" }`,
    `alerts: https://hooks.example/${secret}`,
    `alerts: { url: [ "https://hooks.example/${secret}" ] }`,
    `redis: "redis//:${secret}@cache"`,
    `redis: "http://:${secret}@cache/0?password=${secret}"`,
    `redis: "cache:6379/${secret}"`,
    `stack: { url: "ftp://stack.example/?k=${secret}" }`,
    `stack: https://stack.example/?k=${secret}`,
    `intent: { url: "https://intent.example/#${secret}" }`,
    `intent: { url: "intent.example?k=${secret}" }`,
  ])('of %s is not printed whole', async (text) => {
    const problems = await problemsOf(`${text}\n${withFeed('')}`)
    expect(problems).toHaveLength(1)
    expect(problems.join()).not.toContain(secret)
  })

  it.each([
    `ftp://shop.example/${secret}.csv`,
    `shop.example/feed?key=${secret}`,
    `https//shop.example/${secret}`,
  ])('of a feed, %s, is not printed whole', async (url) => {
    const problems = await problemsOf(withFeed(`pull: { url: "${url}", every: 1h }`))
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.join()).not.toContain(secret)
  })

  it('is shown as far as it names a server', async () => {
    expect(await problemsOf(`stack: { url: "http://stack.example/v1?k=1" }\n${withFeed('')}`)).toEqual([
      expect.stringContaining('found "http://stack.example/…", expected https'),
    ])
  })
})
