import { chmod, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { compareConfigs } from '../../src/config/compare-configs.ts'
import { type LoadedConfig, readConfig } from '../../src/config/load.ts'
import { configSchema } from '../../src/config/schema.ts'
import { tempDir } from '../support/temp-dir.ts'

const text = `state: ./state
redis: { url: "", pendingBytes: 256MB }
console: { listen: "127.0.0.1:0", token: first }
alerts: { url: https://hooks.example/a }
catalogs:
  main:
    api: { url: https://api.example, productsToken: t }
    delivery: { callsPerSecond: 20 }
    feeds:
      shop: { drop: ./shop, fields: { product_id: sku } }
      stock: { drop: ./stock, mode: delta, transform: ./change.mjs }
  other:
    api: { url: https://api.example/other, productsToken: t, emailToken: e }
    feeds: { shop: { drop: ./other } }
`

/** What a reload of the text after these replacements would do. */
async function changesOf(...edits: [from: string, to: string][]) {
  await using dir = await tempDir('compare')
  const read = async (content: string): Promise<LoadedConfig> => {
    await writeFile(dir.join('catalogd.yaml'), content)
    return readConfig({ file: dir.join('catalogd.yaml'), env: {} })
  }
  await writeFile(dir.join('change.mjs'), 'export default (record) => record\n')
  const before = await read(text)
  const edited = edits.reduce((all, [from, to]) => {
    if (from === 'change.mjs') return all
    expect(all).toContain(from)
    return all.replace(from, to)
  }, text)
  for (const [from, to] of edits) if (from === 'change.mjs') await writeFile(dir.join(from), to)
  const { catalogs, deliveries, ...changes } = compareConfigs(before, await read(edited))
  return { ...changes, catalogs: [...catalogs], deliveries: [...deliveries] }
}

describe('a changed configuration', () => {
  const none = { paths: [], catalogs: [], deliveries: [], console: false }

  it.each([
    { edits: [], means: none },
    // Another spelling of the same.
    { edits: [['https://api.example,', 'https://api.example/,']], means: none },
    {
      edits: [['callsPerSecond: 20', 'callsPerSecond: 30']],
      means: { ...none, paths: ['catalogs.main.delivery.callsPerSecond'], deliveries: ['main'] },
    },
    {
      edits: [['callsPerSecond: 20', 'timeout: 10s']],
      means: { ...none, paths: ['catalogs.main.delivery.timeout'], catalogs: ['main'] },
    },
    {
      edits: [['productsToken: t, emailToken', 'productsToken: u, emailToken']],
      means: { ...none, paths: ['catalogs.other.api.productsToken'], catalogs: ['other'] },
    },
    {
      edits: [['product_id: sku', 'product_id: id']],
      means: { ...none, paths: ['catalogs.main.feeds.shop.fields.product_id'], catalogs: ['main'] },
    },
    {
      edits: [['change.mjs', 'export default () => undefined // another\n']],
      means: { ...none, paths: ['catalogs.main.transforms'], catalogs: ['main'] },
    },
    {
      edits: [['pendingBytes: 256MB', 'pendingBytes: 128MB']],
      means: { ...none, paths: ['redis.pendingBytes'], catalogs: ['main', 'other'] },
    },
    {
      edits: [['token: first', 'token: second']],
      means: { ...none, paths: ['console.token'], console: true },
    },
    { edits: [['hooks.example/a', 'hooks.example/b']], means: { ...none, paths: ['alerts.url'] } },
    {
      edits: [['  other:', '  third:']],
      means: { ...none, paths: ['catalogs.other', 'catalogs.third'], catalogs: ['other', 'third'] },
    },
  ] as { edits: [string, string][]; means: typeof none }[])(
    'of $means.paths concerns no other part',
    async ({ edits, means }) => {
      expect(await changesOf(...edits)).toEqual(means)
    },
  )

  it.each(Object.keys(configSchema.shape))('of %s is for a known part', async (key) => {
    await using dir = await tempDir('compare-key')
    await writeFile(dir.join('catalogd.yaml'), text)
    await writeFile(dir.join('change.mjs'), '')
    const loaded = await readConfig({ file: dir.join('catalogd.yaml'), env: {} })
    const input = { ...loaded.input, [key]: key === 'catalogs' ? {} : 'another' }
    const compare = () => compareConfigs(loaded, { ...loaded, input })
    if (key === 'traces') expect(compare).toThrow('restart catalogd')
    else expect(compare()).toHaveProperty('paths')
  })

  it('of the order of feeds counts, which says who writes a field', async () => {
    const shop = '      shop: { drop: ./shop, fields: { product_id: sku } }\n'
    const stock = '      stock: { drop: ./stock, mode: delta, transform: ./change.mjs }\n'
    expect(await changesOf([shop + stock, stock + shop])).toMatchObject({
      paths: ['catalogs.main.feeds'],
      catalogs: ['main'],
    })
  })

  it.each([
    { edit: ['state: ./state', 'state: ./other-state'], says: /:1:1 state: cannot change while .+ restart/ },
    { edit: ['redis: { url: ""', 'redis: { url: "redis://r"'], says: /:2:10 redis\.url: .+ restart/ },
    {
      edit: ['api.example/other', 'api.example/elsewhere'],
      says: /:13:12 catalogs\.other\.api\.url: names another endpoint.+catalogd adopt/,
    },
  ] as { edit: [string, string]; says: RegExp }[])('of $edit is refused with what to do', async (one) => {
    await expect(changesOf(one.edit)).rejects.toThrow(one.says)
  })
})

describe('the file .env beside the configuration', () => {
  const withToken = text.replace('productsToken: t }', `productsToken: "\${TOKEN}" }`)

  it('gives variables that the environment does not, and is to be private', async () => {
    await using dir = await tempDir('env-file')
    const file = dir.join('catalogd.yaml')
    await writeFile(file, withToken)
    await writeFile(dir.join('change.mjs'), '')
    await writeFile(dir.join('.env'), '# secrets\nexport TOKEN="of the file"\n')
    await chmod(dir.join('.env'), 0o644)
    const tokenOf = async (env: Record<string, string>) => {
      const { config, warnings } = await readConfig({ file, env })
      return { token: [...config.catalogs.values()][0]?.api.productsToken.value(), warnings }
    }
    expect(await tokenOf({})).toMatchObject({
      token: 'of the file',
      warnings: [/catalogd\.yaml holds secrets/, /\.env holds secrets/].map((says) =>
        expect.stringMatching(says),
      ),
    })
    expect(await tokenOf({ TOKEN: 'of the environment' })).toMatchObject({ token: 'of the environment' })
    await chmod(dir.join('.env'), 0o600)
    await chmod(file, 0o600)
    expect((await tokenOf({})).warnings).toEqual([])
  })
})
