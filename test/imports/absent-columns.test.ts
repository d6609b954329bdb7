import { describe, expect, it } from 'vitest'
import { header, openImports, row } from './harness.ts'

const fields = header
  .split(',')
  .map((column) => `${column}: ${column}`)
  .join(', ')
const config = `products:
  drop: ./drop
  files: { full: "*.{ndjson,json,xml}", delta: "*.delta" }
  fields: { ${fields}, list_price: list_price }`

const twenty = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, '0')}`)

type Item = Record<string, string | undefined>

/** The products at another price each time, so that no record is known. */
function items(ids: readonly string[], price: string, change: (item: Item, index: number) => Item) {
  return ids.map((id, index) => {
    const cells = row(id, { price }).split(',')
    return change(Object.fromEntries(header.split(',').map((column, place) => [column, cells[place]])), index)
  })
}

const formats: Record<string, (items: readonly Item[]) => string> = {
  ndjson: (list) => list.map((item) => `${JSON.stringify(item)}\n`).join(''),
  json: (list) => JSON.stringify(list),
  xml: (list) => {
    const elements = (item: Item) => Object.entries(item).map(([name, text]) => `<${name}>${text}</${name}>`)
    return `<items>${list.map((item) => `<item>${elements(item).join('')}</item>`).join('')}</items>`
  },
}

const renamed = ({ description, ...item }: Item): Item => ({ ...item, text: description })
const same = (item: Item) => item

describe.each(Object.entries(formats))('a full file of %s', (name, format) => {
  const options = { name: `products.${name}` }

  it('is held where no record has what most products had', async () => {
    await using box = await openImports(config)
    await box.import('products', format(items(twenty, '10', same)), options)
    const report = await box.import('products', format(items(twenty, '11', renamed)), options)
    expect(report).toMatchObject({
      outcome: 'held',
      reason:
        'no record has "description" (for description), and 20 of 20 products have it from the files before',
      hint: expect.stringContaining(`approve ${report.sequence}`),
    })
    expect(await box.document('p07')).toMatchObject({ price: 10, description: 'text' })
    await box.approve(report.sequence, 'products')
    const after = await box.document('p07')
    expect(after).toMatchObject({ price: 11 })
    expect(after).not.toHaveProperty('description')
  })

  it('is imported where few products had it, and says so', async () => {
    await using box = await openImports(config)
    const onSale = (item: Item, index: number) => (index < 3 ? { ...item, list_price: '20' } : item)
    await box.import('products', format(items(twenty, '10', onSale)), options)
    expect(await box.document('p00')).toMatchObject({ list_price: 20 })
    const report = await box.import('products', format(items(twenty, '11', same)), options)
    const warnings = ['no record has "list_price" (for list_price)']
    expect(report).toMatchObject({ outcome: 'imported', warnings })
    expect(await box.document('p00')).not.toHaveProperty('list_price')
  })

  it('makes no difference to a delta file', async () => {
    await using box = await openImports(config)
    await box.import('products', format(items(twenty, '10', same)), options)
    const delta = { mode: 'delta', name: `products.${name}.delta` } as const
    const report = await box.import('products', format(items(twenty, '11', renamed)), delta)
    expect(report).toMatchObject({ outcome: 'imported', warnings: [] })
    expect(await box.document('p07')).toMatchObject({ price: 11, description: 'text' })
  })

  it('is imported where records are known: they may have it', async () => {
    await using box = await openImports(config)
    const one = (item: Item, index: number) => (index === 0 ? { ...item, list_price: '20' } : item)
    await box.import('products', format(items(twenty, '10', one)), options)
    const changed = items(twenty, '10', (item, index) =>
      index === 5 ? { ...item, price: '9' } : one(item, index),
    )
    const report = await box.import('products', format(changed), options)
    expect(report).toMatchObject({ outcome: 'imported', skipped: { records: 19 }, warnings: [] })
  })
})
