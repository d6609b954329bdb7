import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { judgeAndRead } from './feed-file.ts'

const feeds = fileURLToPath(new URL('../../../shared/feeds', import.meta.url))
const spectrum = 'conformance/csv-spectrum'

function source(name: string) {
  const path = `${feeds}/${name}`
  return { path, bytes: statSync(path).size, name }
}

function filesOf(folder: string): string[] {
  return existsSync(`${feeds}/${folder}`) ? readdirSync(`${feeds}/${folder}`) : []
}

// The shared feeds are no part of the package: without them there is nothing to compare.
describe.skipIf(!existsSync(feeds))('the collection of CSV oddities', () => {
  it.each(filesOf(`${spectrum}/csvs`))('%s', async (name) => {
    const json = source(`${spectrum}/json/${name.replace('.csv', '.json')}`).path
    const { judgement, records, issues } = await judgeAndRead(source(`${spectrum}/csvs/${name}`))
    const objects = records.map(({ cells }) =>
      Object.fromEntries(judgement.columns.map((column, index) => [column, cells[index]])),
    )
    expect(objects).toEqual(JSON.parse(readFileSync(json, 'utf8')))
    expect(issues).toEqual([])
  })
})

/** Counted with another language's CSV library. */
const expected: Record<string, { records: number; columns: number; delimiter: string; encoding?: string }> = {
  'shopify/apparel.csv': { records: 22, columns: 46, delimiter: ',' },
  'shopify/jewelery.csv': { records: 41, columns: 46, delimiter: ',' },
  'woocommerce/sample_products.csv': { records: 24, columns: 55, delimiter: ',' },
  'prestashop/categories_import.csv': { records: 3, columns: 10, delimiter: ';' },
  'prestashop/combinations_import.csv': { records: 2, columns: 12, delimiter: ';' },
  'prestashop/manufacturers_import.csv': { records: 2, columns: 8, delimiter: ';' },
  'prestashop/products_import.csv': { records: 2, columns: 39, delimiter: ';' },
  'prestashop/suppliers_import.csv': { records: 2, columns: 8, delimiter: ';' },
  // Both have no header, so their first record counts as one.
  'utf16/ProductDescription.csv': { records: 761, columns: 4, delimiter: '\t', encoding: 'utf-16le' },
  'utf16/ProductModelProductDescriptionCulture.csv': { records: 761, columns: 4, delimiter: '\t' },
  ...Object.fromEntries(
    filesOf('amazon').map((name) => [`amazon/${name}`, { records: 100, columns: 9, delimiter: ',' }]),
  ),
}

describe.skipIf(!existsSync(feeds))('real feeds', () => {
  it.each(Object.entries(expected))('%s', async (name, { records, columns, delimiter, encoding }) => {
    const result = await judgeAndRead(source(name))
    expect(result.judgement.dialect).toMatchObject({ delimiter, encoding: encoding ?? 'utf-8' })
    expect(result.judgement.columns).toHaveLength(columns)
    expect(result.judgement.records).toBe(records)
    expect([result.records.length, result.rejected.length]).toEqual([records, 0])
  })
})
