import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/load.ts'
import { listPresets } from '../../src/config/preset-file.ts'
import { printConfig } from '../../src/config/print.ts'
import { ConfigProblemsError } from '../../src/config/problems.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

const ownPreset = `
mode: delta
format: { type: csv, delimiter: ";" }
drop: ./elsewhere
fields:
  product_id: Code
  name: Title
  url: "\${preset.shopUrl}/p/{Code}"
  brand: Maker
  price_currency_code: { value: "\${preset.currency}" }
  list_price: { column: Was, decimal: "\${preset.currency:-}" }
`

describe('a preset', () => {
  test('counts where the feed says nothing, and any line of it can be overridden', async () => {
    const { feed } = await load(`
        preset: ./own.yaml
        shopUrl: https://shop.example/
        currency: EUR
        format: { delimiter: "," }
        fields: { brand: none, name: Label, list_price: { column: Was } }`)
    expect(feed?.dropDir).toMatch(/drop$/)
    expect(feed?.format).toMatchObject({ type: 'csv', delimiter: ',' })
    expect(feed?.fields).toMatchObject({
      product_id: { from: { kind: 'columns', columns: ['Code'] } },
      name: { from: { kind: 'columns', columns: ['Label'] } },
      url: { from: { kind: 'template', template: 'https://shop.example/p/{Code}' } },
      price_currency_code: { from: { kind: 'value', value: 'EUR' } },
    })
    expect(feed?.fields).not.toHaveProperty('brand')
  })

  test('is printed resolved, and what is printed loads again', async () => {
    const first = await load(`
        preset: ./own.yaml
        shopUrl: https://shop.example
        currency: EUR
        fields: { brand: none, list_price: none }`)
    expect(first.printed).toContain('https://shop.example/p/{Code}')
    expect(first.printed).not.toMatch(/\b(preset|shopUrl|currency):/)
    await using dir = await tempDir('presets')
    await writeFile(dir.join('again.yaml'), first.printed)
    const again = await readConfig({ file: dir.join('again.yaml'), env })
    expect([...(again.config.catalogs.values().next().value?.feeds.values() ?? [])][0]?.fields).toEqual(
      first.feed?.fields,
    )
  })

  test('asks for what it needs, unless the feed has overridden where it needs it', async () => {
    await expect(load('\n        preset: ./own.yaml')).rejects.toThrow(/needs shopUrl[\s\S]*needs currency/)
    await load(`
        preset: ./own.yaml
        fields: { url: Link, price_currency_code: { value: SEK } }`)
  })

  test.each([
    ['preset: natve', /natve[\s\S]*native/],
    ['preset: ./missing.yaml', /missing\.yaml cannot be read \(ENOENT\)/],
    ['currency: EUR', /currency[\s\S]*only beside preset/],
    ['preset: native\n        kind: consents', /kind consents/],
  ])('is refused where it makes no sense: %s', async (lines, message) => {
    await expect(load(`\n        ${lines}`)).rejects.toThrow(message)
  })

  test.each(listPresets())('%s comes with the program and is valid', async (name) => {
    const { feed } = await load(`
        preset: ${name}
        shopUrl: https://shop.example
        currency: EUR`)
    expect(feed?.fields).toHaveProperty('product_id')
  })
})

const env = { CATALOG_API_URL: 'http://127.0.0.1:1', API_PRODUCTS_TOKEN: 'token' }

async function load(lines: string) {
  await using dir = await tempDir('presets')
  await writeFile(dir.join('own.yaml'), ownPreset)
  const file = await writeConfig(dir, lines)
  try {
    const loaded = await readConfig({ file, env })
    const [catalog] = loaded.config.catalogs.values()
    return { feed: catalog?.feeds.get('products' as FeedName), printed: printConfig(loaded) }
  } catch (error) {
    if (error instanceof ConfigProblemsError) throw new Error(JSON.stringify(error.problems))
    throw error
  }
}

async function writeConfig(dir: TempDir, lines: string): Promise<string> {
  const file = dir.join('catalogd.yaml')
  await writeFile(
    file,
    `
catalogs:
  main:
    api: { url: "http://127.0.0.1:1", productsToken: token }
    feeds:
      products:
        drop: ./drop${lines}
`,
  )
  return file
}
