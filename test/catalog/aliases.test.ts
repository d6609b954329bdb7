import { describe, expect, it } from 'vitest'
import { compileMapping } from '../../src/catalog/mapping.ts'
import type { FeedConfig } from '../../src/config/model.ts'
import { columnRule, feedOf, recordOf, templateRule } from './support.ts'

const aliases = { 'Variant Price': ['Price'], 'Body (HTML)': ['Description'], Handle: ['URL handle'] }
const fields = {
  product_id: columnRule('Handle'),
  price: columnRule('Variant Price'),
  description: columnRule('Body (HTML)'),
  name: templateRule('{Handle} {Body (HTML)}'),
}

function bind(columns: readonly string[], feed: Partial<FeedConfig> = { aliases }) {
  return compileMapping({ feed: feedOf(fields, feed), mode: 'full' }).bind(columns)
}

function read(columns: readonly string[], cells: readonly unknown[]) {
  const binding = bind(columns)
  if (binding.kind !== 'bound') return binding.missingColumns.map(({ column }) => column)
  const { bound } = binding
  const id = bound.idReader.read(bound.idReader.indices.map((index) => cells[index]))
  const { patch, issues } = bound.map(recordOf(cells), 0)
  return { id, issues, ...patch?.set }
}

describe('other names of columns', () => {
  it.each([
    [['Handle', 'Variant Price', 'Body (HTML)']],
    [['URL handle', 'Price', 'Description']],
    [['url_handle', 'price', 'DESCRIPTION']],
    [['URL-Handle', 'variant  price', 'body (html)']],
  ])('finds %j', (columns) => {
    expect(read(columns, ['shirt', '12.50', 'Warm'])).toEqual({
      id: 'shirt',
      issues: [],
      name: 'shirt Warm',
      price: 12.5,
      description: 'Warm',
    })
  })

  it('looks nowhere else where the column is there, even when it is empty', () => {
    const columns = ['Handle', 'Variant Price', 'Price', 'Body (HTML)', 'Description']
    expect(read(columns, ['shirt', '12', '99', '-', 'x'])).toMatchObject({ price: 12, description: '-' })
    expect(read(columns, ['shirt', '', '99', '-', 'x'])).toMatchObject({
      issues: [{ code: 'required-empty' }],
    })
  })

  it('prefers a name as it is written to one that is written alike', () => {
    const columns = ['Handle', 'variant price', 'Price', 'Body (HTML)']
    expect(read(columns, ['shirt', '1', '2', '-'])).toMatchObject({ price: 2 })
  })

  it('asks objects for every name, and takes the first that is there, record by record', () => {
    const mapping = compileMapping({ feed: feedOf(fields, { aliases }), mode: 'full' })
    const columns = mapping.neededColumns
    expect(columns).toEqual(['Handle', 'URL handle', 'Body (HTML)', 'Description', 'Variant Price', 'Price'])
    expect(read(columns, [undefined, 'shirt', 'Warm', undefined, undefined, 5])).toMatchObject({
      id: 'shirt',
      name: 'shirt Warm',
      price: 5,
    })
    expect(read(columns, ['own', 'other', 'B', 'no', 4, 5])).toMatchObject({ id: 'own', price: 4 })
  })

  it('finds nothing for a column without other names, and names the column that is missing', () => {
    expect(read(['Handle', 'Cost', 'Description'], [])).toEqual(['Variant Price'])
    const binding = bind(['handle', 'Variant Price', 'Body (HTML)'], {})
    expect(binding).toMatchObject({ kind: 'missing-columns' })
  })
})
