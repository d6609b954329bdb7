import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SaxesParser } from 'saxes'
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

/** Lines and columns were looked up in the files: an ampersand stands where `&amp;` should. */
const broken: Record<string, string> = {
  'prisjakt/Produkter_Prisjakt11_XMl.txt': 'line 365, column 91: found &',
  'prisjakt/Produkter_Prisjakt12_XMl.txt': 'line 365, column 91: found &',
  'prisjakt/Produkter_Prisjakt13_XMl.txt': 'line 365, column 91: found &',
}

/** Texts of every element by its name, counted with a parser that reads the whole file. */
function elementsOf(text: string, recordName: string): { records: number; ids: string[] } {
  const parser = new SaxesParser()
  const found = { records: 0, ids: [] as string[] }
  let isId = false
  let isRecord = false
  parser.on('opentag', ({ name }) => {
    if (name === recordName) {
      found.records += 1
      isRecord = true
    }
    isId = isRecord && /^(g:)?id$/.test(name)
    if (isId) found.ids.push('')
  })
  const add = (piece: string) => {
    if (isId) found.ids.push(`${found.ids.pop()}${piece}`)
  }
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', ({ name }) => {
    isId = false
    if (name === recordName) isRecord = false
  })
  parser.write(text).close()
  return found
}

describe.skipIf(!existsSync(feeds))('real XML feeds', () => {
  const names = ['google-merchant/history', 'prisjakt'].flatMap((folder) =>
    filesOf(folder).map((name) => `${folder}/${name}`),
  )

  it.each(names.filter((name) => !broken[name]))('%s', async (name) => {
    const { judgement, records, rejected } = await judgeAndRead(source(name), {
      neededColumns: ['g:id', 'id'],
    })
    const { path = '' } = judgement.dialect
    const expectedElements = elementsOf(readFileSync(source(name).path, 'utf8'), path.split('/').at(-1) ?? '')
    expect(records.length).toBeGreaterThan(0)
    expect([records.length, rejected.length]).toEqual([expectedElements.records, 0])
    expect(records.map(({ cells }) => cells[0] ?? cells[1])).toEqual(expectedElements.ids)
  })

  it.each(Object.entries(broken))('%s is refused whole', async (name, message) => {
    await expect(judgeAndRead(source(name))).rejects.toMatchObject({
      code: 'not-well-formed',
      message: expect.stringContaining(message),
    })
  })
})
