import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { productSchema } from '../../src/api/contract/product.ts'
import { mergePatch } from '../../src/catalog/merge.ts'
import { rankFields } from '../../src/catalog/ranks.ts'
import { composeDocument } from '../../src/catalog/stored-form.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import type { RecordIssue } from '../../src/records/model.ts'
import { bindTo, columnRule, feedOf, recordOf, templateRule, valueRule } from './support.ts'

const root = fileURLToPath(new URL('../../../shared/feeds/', import.meta.url))

function rowsOf(file: string): { columns: string[]; rows: string[][] } {
  const [columns = [], ...rows] = parse(readFileSync(root + file), { bom: true }) as string[][]
  return { columns, rows }
}

/** Maps every row, composes what came through, and holds it against the contract. */
function mapFile(file: string, fields: Record<string, FieldRule>) {
  const { columns, rows } = rowsOf(file)
  const bound = bindTo(columns, fields)
  const feed = feedOf(fields)
  const ranks = rankFields(new Map([[feed.name, feed]]))
  const issues: RecordIssue[] = []
  const documents: Record<string, unknown>[] = []
  for (const [index, row] of rows.entries()) {
    const mapped = bound.map(recordOf(row, index + 1))
    issues.push(...mapped.issues)
    if (!mapped.patch) continue
    expect(bound.idReader.read(bound.idReader.indices.map((place) => row[place]))).toBe(
      mapped.patch.productId,
    )
    const state = mergePatch({ state: undefined, patch: mapped.patch, feed: feed.name, ranks })
    const composed = composeDocument(state, mapped.patch.productId)
    if (composed.kind !== 'complete')
      throw new Error(`${mapped.patch.productId} lacks ${composed.missing.join()}`)
    documents.push(productSchema.parse(JSON.parse(composed.bytes.toString())))
  }
  return { rows, columns, issues, documents }
}

describe.skipIf(!existsSync(`${root}amazon`))('an Indian marketplace export', () => {
  const extract = (column: string, regex: string, rule: Partial<FieldRule> = {}): FieldRule => ({
    ...columnRule(column),
    pattern: { regex, result: undefined },
    ...rule,
  })
  const fields: Record<string, FieldRule> = {
    product_id: extract('link', '/dp/(?<id>[A-Z0-9]{10})'),
    name: columnRule('name'),
    url: extract('link', '^.*/dp/[A-Z0-9]{10}'),
    image_url: columnRule('image'),
    availability: valueRule('InStock'),
    price: { ...columnRule('discount_price', 'actual_price'), thousands: ',' },
    price_currency_code: valueRule('INR'),
    list_price: { ...columnRule('actual_price'), thousands: ',' },
    categories: {
      from: { kind: 'template', template: '{main_category} > {sub_category}' },
      separator: '>',
      split: '|',
    },
    // Some rows hold words where the rating belongs.
    rating_value: extract('ratings', '^([0-9.]*)'),
    review_count: extract('no_of_ratings', '^([0-9,]*)', { thousands: ',' }),
  }
  const files = existsSync(`${root}amazon`) ? readdirSync(`${root}amazon`) : []

  it.each(files)('%s maps without a reject, except rows that have no price', (file) => {
    const { rows, columns, issues, documents } = mapFile(`amazon/${file}`, fields)
    const [sale, regular] = [columns.indexOf('discount_price'), columns.indexOf('actual_price')]
    const priced = rows.filter((row) => row[sale] || row[regular])
    expect(issues.map(({ code, field }) => `${field} ${code}`)).toEqual(
      Array(rows.length - priced.length).fill('price required-empty'),
    )
    const amount = (text = '') => Number(text.slice(1).replaceAll(',', ''))
    expect(documents.map((document) => document.price)).toEqual(
      priced.map((row) => amount(row[sale] || row[regular])),
    )
    expect(documents.map((document) => document.product_id)).toEqual(
      priced.map((row) => /\/dp\/(.{10})/.exec(row[columns.indexOf('link')] ?? '')?.[1]),
    )
  })
})

describe.skipIf(!existsSync(`${root}shopify`))('a shop export, row by row', () => {
  const fields: Record<string, FieldRule> = {
    product_id: templateRule('{Handle}-{Option1 Value}'),
    name: columnRule('Title', 'Handle'),
    url: templateRule('https://shop.example/products/{Handle}'),
    image_url: { ...columnRule('Image Src'), empty: 'keep' },
    availability: {
      ...columnRule('Variant Inventory Qty'),
      when: { '<=0': 'OutOfStock', '': 'OutOfStock' },
      otherwise: 'InStock',
    },
    price: { ...columnRule('Variant Price'), empty: 'keep' },
    price_currency_code: valueRule('USD'),
    list_price: columnRule('Variant Compare At Price'),
    brand: columnRule('Vendor'),
    tag1: { ...columnRule('Tags'), split: ',' },
    inventory_level: columnRule('Variant Inventory Qty'),
  }

  it.each(['shopify/apparel.csv', 'shopify/jewelery.csv'])(
    '%s maps without a reject, except rows without a variant',
    (file) => {
      const { columns, rows } = rowsOf(file)
      const bound = bindTo(columns, fields)
      const option = columns.indexOf('Option1 Value')
      for (const [index, row] of rows.entries()) {
        const { patch, issues } = bound.map(recordOf(row, index + 1))
        expect(issues.map(({ field, code }) => [field, code])).toEqual(
          row[option] ? [] : [['product_id', 'required-empty']],
        )
        if (!patch) continue
        expect(patch.set.price).toBe(Number(row[columns.indexOf('Variant Price')]))
        expect(patch.set.url).toBe(`https://shop.example/products/${row[0]}`)
      }
    },
  )
})
