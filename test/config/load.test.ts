import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { LoadedConfig } from '../../src/config/load.ts'
import { readConfig } from '../../src/config/load.ts'
import type { CatalogConfig, Deferred, FeedConfig } from '../../src/config/model.ts'
import { printConfig } from '../../src/config/print.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { tempDir } from '../support/temp-dir.ts'
import { read, withFeed } from './support.ts'

function only({ config }: LoadedConfig): CatalogConfig {
  const [catalog] = config.catalogs.values()
  if (catalog === undefined) throw new Error('no catalog')
  return catalog
}

function feedOf(loaded: LoadedConfig): FeedConfig {
  const [feed] = only(loaded).feeds.values()
  if (feed === undefined) throw new Error('no feed')
  return feed
}

async function rulesOf(fields: string) {
  const { loaded } = await read(withFeed(`fields:\n  product_id: sku\n${fields}`))
  return feedOf(loaded).fields
}

function failureOf(deferred: Deferred<unknown>): ConfigError {
  try {
    deferred.value()
  } catch (error) {
    if (error instanceof ConfigError) return error
  }
  throw new Error('the value is there')
}

describe('readConfig', () => {
  it('fills in every default', async () => {
    const { loaded, folder } = await read(withFeed(''))
    expect(loaded.config).toMatchObject({ stateDir: join(folder, 'state'), redisUrl: '' })
    expect(only(loaded)).toMatchObject({
      name: 'main',
      delivery: {
        callBytes: 2_000_000,
        concurrency: 4,
        timeoutMs: 30_000,
        horizonMs: 120_000,
        callsPerSecond: 20,
      },
      urgent: ['price', 'list_price', 'price_currency_code', 'availability', 'inventory_level'],
      deferred: { afterMs: 900_000, atMostMs: 3_600_000 },
    })
    expect(feedOf(loaded)).toEqual({
      name: 'products',
      kind: 'products',
      dropDir: join(folder, 'drop'),
      files: [{ pattern: '*', mode: 'full' }],
      settle: { kind: 'quiet', forMs: 2000 },
      format: {
        type: undefined,
        delimiter: undefined,
        quote: undefined,
        encoding: undefined,
        recordBytes: 16_000_000,
      },
      fields: {},
      owns: [],
      missing: { action: 'out_of_stock', atMost: 0.1, forgetMs: 7_776_000_000 },
      rejects: { atMost: 0.05 },
    })
  })

  it('reads every form of durations, sizes, shares and words', async () => {
    const feedLines = `
files: { full: "*_full.csv", delta: "*_delta.csv" }
done: "*.ok"
format: { type: csv, delimiter: tab, quote: none, encoding: Latin1, recordBytes: 2MiB }
missing: { action: ignore, atMost: 0.25 }
rejects: { atMost: 12.5% }`
    const catalogLines = `
delivery: { callBytes: 1.5MB, concurrency: "2", timeout: 1.5s, horizon: 0, callsPerSecond: 5 }
deferred: { after: 500ms, atMost: 1h }
urgent: [price]`
    const { loaded } = await read(withFeed(feedLines, catalogLines))
    expect(only(loaded)).toMatchObject({
      delivery: { callBytes: 1_500_000, concurrency: 2, timeoutMs: 1500, horizonMs: 0, callsPerSecond: 5 },
      deferred: { afterMs: 500, atMostMs: 3_600_000 },
      urgent: ['price'],
    })
    expect(feedOf(loaded)).toMatchObject({
      files: [
        { pattern: '*_full.csv', mode: 'full' },
        { pattern: '*_delta.csv', mode: 'delta' },
      ],
      settle: { kind: 'marker', pattern: '*.ok' },
      format: {
        type: 'csv',
        delimiter: '\t',
        quote: 'none',
        encoding: 'windows-1252',
        recordBytes: 2_097_152,
      },
      missing: { action: 'ignore', atMost: 0.25 },
      rejects: { atMost: 0.125 },
    })
  })

  it('takes nothing behind an optional key as empty', async () => {
    const text = `redis:\nconsole: { token: }\n${withFeed('').replace('abc', '')}`
    const { loaded } = await read(text)
    expect(loaded.config.redisUrl).toBe('')
    expect(failureOf(only(loaded).api.productsToken).message).toContain('is empty')
    expect(printConfig(loaded)).toContain('productsToken: null')
  })

  it('finds relative paths from the folder of the file, absolute ones as they are', async () => {
    const { loaded, folder } = await read(
      withFeed('').replace('./drop', '../elsewhere').replace('catalogs:', 'state: /var/lib/x\ncatalogs:'),
    )
    expect(loaded.config.stateDir).toBe('/var/lib/x')
    expect(feedOf(loaded).dropDir).toBe(resolve(folder, '../elsewhere'))
  })

  it('keeps the configured order of feeds, which decides who writes a field', async () => {
    const text = withFeed('').replace('feeds:', 'feeds:\n      zebra: { drop: z }\n      1st: { drop: a }')
    expect([...only((await read(text)).loaded).feeds.keys()]).toEqual(['zebra', '1st', 'products'])
  })

  it('shares parts by anchor and alias', async () => {
    const text = withFeed('fields: &map { product_id: sku, price: p }').concat(
      '      other: { drop: ./other, fields: *map }\n',
    )
    const feeds = only((await read(text)).loaded).feeds
    expect([...feeds.values()].map(({ fields }) => Object.keys(fields))).toEqual([
      ['product_id', 'price'],
      ['product_id', 'price'],
    ])
  })
})

describe('fields', () => {
  it('expands shorthands', async () => {
    expect(
      await rulesOf(`
  name: Title
  url: https://shop.example/{handle}?v={variant}
  price: { column: Price, decimal: ",", thousands: "." }
  brand: { column: [vendor, maker], trim: false, empty: keep }
  price_currency_code: { value: EUR }
  availability: { column: qty, when: { "0": OutOfStock, 1.0: Few }, otherwise: InStock }
  categories: { column: c, split: "|", separator: ">", slash: "-" }
  description: { template: "{a} – {b}" }
  image_url: { column: i, pattern: '^(?P<x>\\S+)', result: "https://i.example/{x}" }
  date_published: { column: d, date: DD.MM.YYYY }
  custom_fields: { entries: { material: fabric, season: "{year} {half}", fixed: { value: yes } } }`),
    ).toEqual({
      product_id: { from: { kind: 'columns', columns: ['sku'] } },
      name: { from: { kind: 'columns', columns: ['Title'] } },
      url: { from: { kind: 'template', template: 'https://shop.example/{handle}?v={variant}' } },
      price: { from: { kind: 'columns', columns: ['Price'] }, decimal: ',', thousands: '.' },
      brand: { from: { kind: 'columns', columns: ['vendor', 'maker'] }, trim: false, empty: 'keep' },
      price_currency_code: { from: { kind: 'value', value: 'EUR' } },
      availability: {
        from: { kind: 'columns', columns: ['qty'] },
        when: { '0': 'OutOfStock', '1.0': 'Few' },
        otherwise: 'InStock',
      },
      categories: { from: { kind: 'columns', columns: ['c'] }, split: '|', separator: '>', slash: '-' },
      description: { from: { kind: 'template', template: '{a} – {b}' } },
      image_url: {
        from: { kind: 'columns', columns: ['i'] },
        pattern: { regex: '^(?P<x>\\S+)', result: 'https://i.example/{x}' },
      },
      date_published: { from: { kind: 'columns', columns: ['d'] }, date: 'DD.MM.YYYY' },
      custom_fields: {
        from: {
          kind: 'entries',
          entries: {
            material: { from: { kind: 'columns', columns: ['fabric'] } },
            season: { from: { kind: 'template', template: '{year} {half}' } },
            fixed: { from: { kind: 'value', value: 'yes' } },
          },
        },
      },
    })
  })

  it('keeps the zeros of a padded number', async () => {
    expect(await rulesOf('  brand: { value: 007 }')).toMatchObject({ brand: { from: { value: '007' } } })
  })
})

describe('environment', () => {
  const text = `
redis: \${REDIS_URL:-}   # of the host
catalogs:
  main:
    api: { url: \${API_URL}, productsToken: \${TOKEN:-none-yet} }
    delivery: { concurrency: \${SLOTS:-3}, timeout: "\${SECONDS:-5}s" }
    feeds: { products: { drop: "\${HOME_DROP:-/srv}/products" } }
`
  it('fills in defaults, inside flow mappings and quoted texts too', async () => {
    const { loaded } = await read(text)
    expect(loaded.config.redisUrl).toBe('')
    expect(only(loaded).delivery).toMatchObject({ concurrency: 3, timeoutMs: 5000 })
    expect(only(loaded).api.productsToken.value()).toBe('none-yet')
    expect(feedOf(loaded).dropDir).toBe('/srv/products')
  })

  it('prefers what is set and not empty', async () => {
    const env = {
      REDIS_URL: 'redis://:pw@cache:6379/2',
      API_URL: 'https://api.example/x',
      TOKEN: '12345',
      SLOTS: '',
    }
    const { loaded } = await read(text, { env })
    expect(loaded.config.redisUrl).toBe('redis://:pw@cache:6379/2')
    expect(only(loaded).api.url.value().href).toBe('https://api.example/x')
    expect(only(loaded).api.productsToken.value()).toBe('12345')
    expect(only(loaded).delivery.concurrency).toBe(3)
  })

  it('takes a value from the environment as it is, whatever it looks like in YAML', async () => {
    const env = { API_URL: 'http://127.0.0.1:1', TOKEN: `a: b # "c" { \${API_URL} }\n- d` }
    expect(only((await read(text, { env })).loaded).api.productsToken.value()).toBe(env.TOKEN)
  })

  it('misses an unset variable only where its value is used, and names it with its place', async () => {
    const { loaded } = await read(text)
    const { url } = only(loaded).api
    expect(url.available).toBe(false)
    expect(failureOf(url)).toMatchObject({ code: 'variable-unset', exitCode: 2 })
    expect(failureOf(url).message).toMatch(
      /catalogd\.yaml:5:17 catalogs\.main\.api\.url: the environment variable API_URL is not set$/,
    )
    expect(failureOf(url).hint).toContain('API_URL')
  })

  it('says so when a value that is used is empty', async () => {
    const { loaded } = await read(withFeed('').replace('abc', `\${TOKEN:-}`))
    const { productsToken } = only(loaded).api
    expect(productsToken.available).toBe(false)
    expect(failureOf(productsToken).message).toMatch(/:3:\d+ catalogs\.main\.api\.productsToken: is empty$/)
    expect(failureOf(productsToken).hint).toBe('Set TOKEN, or give it a value')
  })

  it(`writes a literal \${ for $\${`, async () => {
    const { loaded } = await read(withFeed(`fields: { product_id: sku, name: "$\${x} {title}" }`))
    expect(feedOf(loaded).fields.name).toEqual({ from: { kind: 'template', template: `\${x} {title}` } })
  })
})

describe('where a token is corrected', () => {
  const reference = withFeed('').replace('abc', `"\${TOKEN:-preset}"`)
  const renewalOf = async (text: string, given: Parameters<typeof read>[1] = {}) => {
    const { loaded, folder } = await read(text, given)
    return only(loaded).api.productsToken.renewal?.replaceAll(folder, '<folder>')
  }
  const files = { '.env': 'TOKEN=of-the-file\n' }
  const inFile = 'in <folder>/.env (variable TOKEN), then run catalogd reload'

  it('is the file that sets its variable, or the environment, or the configuration', async () => {
    expect(await renewalOf(reference, { files })).toBe(inFile)
    expect(await renewalOf(reference, { env: { TOKEN: 'a' } })).toBe(
      'in the environment of catalogd (variable TOKEN), then restart it',
    )
    expect(await renewalOf(reference, { files, env: { TOKEN: 'a' } })).toBe(
      'in the environment of catalogd (variable TOKEN, which counts before the one in <folder>/.env), then restart it',
    )
    const place =
      /^at <folder>\/catalogd\.yaml:3:\d+ catalogs\.main\.api\.productsToken, then run catalogd reload$/
    expect(await renewalOf(reference)).toMatch(place)
    expect(await renewalOf(withFeed(''), { files, env: { TOKEN: 'a' } })).toMatch(place)
  })
})

describe('productsTokenFile', () => {
  it('is read again at every use, without its line end', async () => {
    await using folder = await tempDir('config')
    const file = folder.join('catalogd.yaml')
    await writeFile(file, withFeed('').replace('productsToken: abc', 'productsTokenFile: ./token'))
    const { config } = await readConfig({ file, env: {} })
    const [catalog] = config.catalogs.values()
    const token = catalog?.api.productsToken
    if (token === undefined) throw new Error('no token')

    expect(token.available).toBe(false)
    expect(token.renewal).toContain(folder.join('token'))
    expect(failureOf(token).message).toContain(`${folder.join('token')} cannot be read (ENOENT)`)
    for (const [content, expected] of [
      ['first\n', 'first'],
      ['second\r\n', 'second'],
      [' third', ' third'],
    ] as const) {
      await writeFile(folder.join('token'), content)
      expect(token.value()).toBe(expected)
      expect(token.available).toBe(true)
    }
    await writeFile(folder.join('token'), 'secret-a\nsecret-b\n')
    expect(failureOf(token).message).toContain('has several lines')
    expect(failureOf(token).message).not.toContain('secret')
    await writeFile(folder.join('token'), '\n')
    expect(failureOf(token).message).toContain('is empty')
  })
})

describe('consents', () => {
  const text = `catalogs:
  main:
    api: { url: https://api.example, emailToken: e }
    consents: { concurrency: 2, timeout: 5s, horizon: 1m, callsPerSecond: 7, path: /v1/customers/consent }
    feeds:
      letters:
        kind: consents
        drop: ./letters
        fields: { email: Mail, consent: { column: S, when: { A: true }, otherwise: false } }
`

  it('have feeds of their own kind, a rate of their own, and the feed of the command', async () => {
    const { loaded, folder } = await read(text)
    const { api, consents, feeds } = only(loaded)
    expect(api.emailToken.value()).toBe('e')
    expect(consents).toMatchObject({ concurrency: 2, timeoutMs: 5_000, horizonMs: 60_000, callsPerSecond: 7 })
    expect(consents.path).toBe('/v1/customers/consent')
    expect([...consents.feeds.keys()]).toEqual(['letters', 'consent-command'])
    expect(feedOf(loaded)).toMatchObject({
      kind: 'consents',
      dropDir: join(folder, 'letters'),
      files: [{ pattern: '*', mode: 'delta' }],
      fields: { consent: { when: { A: true }, otherwise: false } },
    })
    expect([...feeds.keys()]).toEqual(['letters'])
  })

  it('print as they load', async () => {
    const { loaded } = await read(text)
    const again = await read(printConfig(loaded))
    const { feeds, consents } = only(again.loaded)
    expect([[...feeds], { ...consents, feeds: [...consents.feeds] }]).toEqual([
      [...only(loaded).feeds],
      { ...only(loaded).consents, feeds: [...only(loaded).consents.feeds] },
    ])
  })

  it('are there with a token alone, and are not without', async () => {
    const withToken = await read(withFeed('').replace('abc', 'abc, emailTokenFile: ./none'))
    expect([...only(withToken.loaded).consents.feeds.keys()]).toEqual(['consent-command'])
    for (const token of ['', `, emailToken: "\${API_EMAIL_TOKEN:-}"`]) {
      const { loaded } = await read(withFeed('').replace('abc', `abc${token}`))
      const { consents, api } = only(loaded)
      expect(consents).toMatchObject({
        concurrency: 4,
        timeoutMs: 30_000,
        horizonMs: 120_000,
        callsPerSecond: 100,
        path: '/api/v1/customers/consent',
      })
      expect(consents.feeds.size).toBe(0)
      expect(api.emailToken.available).toBe(false)
    }
  })
})

describe('stack and intent', () => {
  it('are asked for where they are used', async () => {
    const { loaded } = await read(`stack: { url: "http://127.0.0.1:1", accessTokenFile: ./token }
intent: { url: "\${INTENT_URL}", token: t, partnerId: p, shopify: "true", country: US }
${withFeed('')}`)
    const { stack, intent } = loaded.config
    expect(stack.url.value().href).toBe('http://127.0.0.1:1/')
    expect(stack.accessToken.available).toBe(false)
    expect(failureOf(stack.accessToken).message).toContain('stack.accessTokenFile: ')
    expect(failureOf(stack.name).message).toMatch(/:1:1 stack\.name: is missing$/)
    expect(failureOf(intent.url).message).toContain('INTENT_URL is not set')
    expect([intent.token.value(), intent.partnerId.value()]).toEqual(['t', 'p'])
    expect([intent.shopify, intent.country, intent.locale]).toEqual([true, 'US', undefined])
  })

  it('may be left out', async () => {
    const { stack, intent } = (await read(withFeed(''))).loaded.config
    expect(failureOf(stack.url).message).toContain('stack.url: is missing')
    expect(intent).toMatchObject({ shopify: false, country: undefined, locale: undefined })
    expect([intent.url, intent.token, intent.partnerId].map(({ available }) => available)).not.toContain(true)
  })
})

describe('the commented example', () => {
  it('loads without any variable set', async () => {
    const file = new URL('../../config/catalogd.example.yaml', import.meta.url)
    const { loaded } = await read(await readFile(file, 'utf8'))
    expect([...only(loaded).feeds.keys()]).toEqual(['products', 'stock'])
    expect(only(loaded).api.url.available).toBe(false)
  })

  it('shows only what is correct in what is commented out', async () => {
    const file = new URL('../../config/catalogd.example.yaml', import.meta.url)
    const text = await readFile(file, 'utf8')
    const uncommented = text.replaceAll(/^( *)# ((?: {2})*[a-z][a-z_A-Z]*:(?: |$))/gm, '$1$2')
    expect(uncommented).not.toBe(text)
    const { loaded } = await read(uncommented)
    expect(only(loaded).delivery.callBytes).toBe(2_000_000)
    const fields = [...only(loaded).feeds.values()].map((feed) => Object.keys(feed.fields))
    expect(fields[0]).toContain('custom_fields')
    expect(fields[2]).toEqual(['email', 'consent'])
    expect(loaded.config.intent.shopify).toBe(true)
    expect(loaded.config.intent.country).toBe('US')
  })
})
