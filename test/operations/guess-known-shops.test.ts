import { readFile } from 'node:fs/promises'
import { parse as parseCsv } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { guessText } from './guess-support.ts'

const given = { shopUrl: 'https://shop.example', currency: 'EUR' }

/** A fixture of a preset without one of its columns; with `isSold` only the rows of which it holds. */
async function exportWithout(fixture: string, column: string, isKept = (_: Record<string, string>) => true) {
  const text = await readFile(new URL(`../presets/fixtures/${fixture}`, import.meta.url), 'utf8')
  const records: Record<string, string>[] = parseCsv(text, { columns: true })
  const names = Object.keys(records[0] ?? {})
  expect(names).toContain(column)
  const kept = names.filter((name) => name !== column)
  const rows = [kept, ...records.filter(isKept).map((record) => kept.map((name) => record[name] ?? ''))]
  return rows.map((row) => `${row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}\n`).join('')
}

describe('exports of known shops without a column', () => {
  it.each([
    ['woocommerce-en.csv', 'ID', 'url', 'https://shop.example/?s={SKU}&post_type=product'],
    ['magento-simple.csv', 'url_key', 'url', { where: { store_view_code: '' } }],
    ['woocommerce-en.csv', 'Parent', 'group', { optional: true }],
    ['woocommerce-en.csv', 'Type', '', undefined],
    ['woocommerce-en.csv', 'SKU', '', undefined],
  ])('%s without %s is recognised, and %s is to be looked at', async (fixture, column, key, value) => {
    const text = await exportWithout(fixture, column, ({ SKU }) => SKU !== '')
    const { rules, products } = await guessText(text, given)
    expect(rules.preset?.value).toBe(fixture.replace(/-.*/, ''))
    if (typeof value === 'string') expect(rules[key]?.value).toBe(value)
    else if (value) expect(rules[key]?.value).toMatchObject(value)
    expect(rules[key]).toMatchObject({ open: true, comment: expect.stringContaining(`lacks "${column}"`) })
    expect(products.filter((product) => product !== undefined).length).toBeGreaterThan(3)
  })

  it('have the id that is left', async () => {
    const text = await exportWithout('woocommerce-en.csv', 'ID', ({ Type }) => Type === 'simple')
    const { products } = await guessText(text, given)
    expect(products[0]).toMatchObject({ product_id: expect.stringMatching(/\w/), name: expect.any(String) })
    expect(products.map((product) => product?.url)).toEqual(
      products.map((product) => `https://shop.example/?s=${product?.product_id}&post_type=product`),
    )
  })

  it('are not taken for a shop by fewer columns', async () => {
    const plain = 'SKU,Name,Price\nA1,Lamp,10.00\nA2,Mug,12.00\n'
    expect((await guessText(plain, given)).rules).not.toHaveProperty('preset')
  })
})
