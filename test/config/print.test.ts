import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { productFields } from '../../src/api/contract/product.ts'
import { locateConfig } from '../../src/config/environment.ts'
import { configJsonSchema, configJsonSchemaText } from '../../src/config/json-schema.ts'
import { describeConfig, printConfig } from '../../src/config/print.ts'
import { logLevelOf } from '../../src/lib/log.ts'
import { read, withFeed } from './support.ts'

const everything = `
redis: \${REDIS_URL}
console: { listen: 127.0.0.1:8480, token: s3cret-console }
alerts: { url: https://hooks.example/services/s3cret-path?x=s3cret }
stack: { url: https://stack.example, accessToken: s3cret-stack, name: shop }
intent: { url: https://intent.example, token: "\${API_LIM_TOKEN}", partnerId: p }
${withFeed(
  `files: { full: "*_full.csv", delta: "*_delta.csv" }
done: "*.ok"
fields: { product_id: sku, price: { column: Price, decimal: "," }, custom_fields: { entries: { a: b, "0": c } } }
owns: [price]`,
  'delivery: { timeout: 5s }',
).replace('abc', `\${TOKEN}, emailToken: "\${EMAIL_TOKEN}"`)}
  alerts:
    api: { url: "https://api.example", productsToken: s3cret-file }
    feeds:
      fields: { drop: ./b, mode: delta }
`
const env = {
  REDIS_URL: 'redis://me:s3cret@cache:6379/0',
  TOKEN: 's3cret-token',
  API_LIM_TOKEN: 's3cret-lim',
}

describe('printConfig', () => {
  it('shows what counts and no secret', async () => {
    const { loaded, folder } = await read(everything, { env })
    const printed = printConfig(loaded)
    expect(printed).not.toContain('s3cret')
    for (const shown of [
      'redis: redis://********@cache:6379/0',
      'token: "********"',
      'url: https://hooks.example/********',
      'accessToken: "********"',
      'productsToken: "********"',
      `emailToken: \${EMAIL_TOKEN}`,
      `state: ${folder}/state`,
      `drop: ${folder}/drop`,
      'timeout: 5s',
      'horizon: 2m',
      'mode: delta',
    ]) {
      expect(printed).toContain(shown)
    }
    expect(JSON.stringify(describeConfig(loaded))).not.toContain('s3cret')
  })

  it('loads again to the same configuration', async () => {
    const first = await read(everything, { env })
    const second = await read(printConfig(first.loaded), { env })
    const comparable = ({ loaded }: typeof first) =>
      JSON.parse(
        JSON.stringify(
          [...loaded.config.catalogs.values()].map(({ api, feeds, ...rest }) => ({
            ...rest,
            url: api.url.value(),
            feeds: [...feeds.values()],
          })),
        ),
      )
    expect(comparable(second)).toEqual(comparable(first))
  })

  it('names variables that are not set', async () => {
    const { loaded } = await read(withFeed('').replace('abc', `\${TOKEN}`))
    expect(printConfig(loaded)).toContain(`productsToken: \${TOKEN}\n`)
  })
})

describe('the JSON Schema', () => {
  it('is committed as it is generated', async () => {
    const file = new URL('../../config/catalogd.schema.json', import.meta.url)
    // To bring it up to date: npm run -s catalogd -- config schema > config/catalogd.schema.json
    expect(await readFile(file, 'utf8')).toBe(configJsonSchemaText(productFields))
  })

  it('knows the keys of every level, the product fields and references to the environment', () => {
    const schema = JSON.stringify(configJsonSchema(productFields))
    for (const part of [
      '"callBytes"',
      '"productsTokenFile"',
      '"thousands"',
      '"supplier_cost"',
      '"additionalProperties":false',
    ]) {
      expect(schema).toContain(part)
    }
    expect(schema).toContain('{"type":"string","pattern":"\\\\$\\\\{"}')
    expect(schema).not.toContain('__schema')
  })
})

describe('the environment', () => {
  it('chooses the log level', () => {
    expect(logLevelOf(undefined, 'warn')).toBe('warn')
    expect(logLevelOf('', 'warn')).toBe('warn')
    expect(logLevelOf('DEBUG', 'warn')).toBe('debug')
    expect(() => logLevelOf('loud', 'warn')).toThrow('CATALOGD_LOG is "loud", expected one of trace,')
  })

  it('names the configuration', () => {
    expect(locateConfig({ CATALOGD_CONFIG: '/etc/c.yaml' }, '/')).toBe('/etc/c.yaml')
    expect(() => locateConfig({}, '/nowhere')).toThrow(
      'neither config/catalogd.yaml nor catalogd.yaml exists in /nowhere',
    )
  })
})
