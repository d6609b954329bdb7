import { describe, expect, it } from 'vitest'
import { checkRule } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import type { ParsedRecord } from '../../src/records/model.ts'
import { bindTo, columnRule, issueOf, mapCell, recordOf, templateRule } from './support.ts'

describe('default', () => {
  it.each<[string, unknown, Partial<FieldRule>, unknown]>([
    ['brand', '', { default: 'Own' }, 'Own'],
    ['brand', 'Acme', { default: 'Own' }, 'Acme'],
    ['brand', 'none', { when: { none: '' }, default: 'Own' }, 'Own'],
    ['price_currency_code', '12.90', { part: 'currency', default: 'SEK' }, 'SEK'],
    ['price_currency_code', '12.90 EUR', { part: 'currency', default: 'SEK' }, 'EUR'],
    ['price', '', { default: '7.5' }, 7.5],
    ['tag1', '', { default: 'a|b' }, ['a', 'b']],
  ])('%s of %j with %j is %j', (field, cell, rule, expected) => {
    expect(mapCell(field, cell, { rule })).toEqual(expected)
  })

  it('takes the place of nothing that is wrong', () => {
    expect(issueOf('price', 'free', { default: 1 }).code).toBe('not-a-number')
  })

  it('speaks for columns that may be absent, and only for those', () => {
    const rule = { ...columnRule('stock'), default: 'InStock' }
    const fields = { product_id: columnRule('id'), availability: rule }
    expect(() => bindTo(['id'], fields)).toThrow('missing')
    const bound = bindTo(['id'], { ...fields, availability: { ...rule, optional: true } })
    expect(bound.map(recordOf(['a'])).patch?.set).toEqual({ availability: 'InStock' })
  })

  it('must fit the field', () => {
    expect(checkRule('price', { ...columnRule('c'), default: 'free' })[0]).toMatch(/^default: found .*free/)
    expect(checkRule('product_id', { ...columnRule('c'), default: 'x' })).toHaveLength(1)
  })
})

describe('placeholders that may be empty', () => {
  const columns = ['id', 'slug', 'In stock?']
  const read = (template: string, cells: readonly unknown[], named = columns) =>
    bindTo(named, { product_id: columnRule('id'), brand: templateRule(template) }).map(recordOf(cells)).patch
      ?.set.brand
  it.each([
    ['{id}-{slug?}.html', ['7', 'cup', ''], '7-cup.html'],
    ['{id}-{slug?}.html', ['7', '', ''], '7-.html'],
    ['{id}-{slug}.html', ['7', '', ''], undefined],
    ['{id}-{absent?}.html', ['7', '', ''], '7-.html'],
    ['{id?}', ['7', '', ''], '7'],
    ['{slug?}', ['7', '', ''], undefined],
    // A column whose own name ends so is meant as it stands.
    ['{id} {In stock?}', ['7', '', '1'], '7 1'],
    ['{id} {In stock?}', ['7', '', ''], undefined],
    ['{id} {In stock??}', ['7', '', ''], '7'],
  ])('%s of %j is %j', (template, cells, expected) => {
    expect(read(template, cells)).toBe(expected)
  })

  it('holds a file without a column that must be there', () => {
    expect(() => read('{id}-{absent}', ['7'])).toThrow('absent')
  })
})

describe('patterns in when', () => {
  const rule: Partial<FieldRule> = {
    when: {
      '/stock/': 'InStock',
      out: 'Discontinued',
      '/^no /': 'OutOfStock',
      '>5': 'InStock',
      '/^(?i)HID/': '',
    },
    otherwise: 'Invisible',
  }
  it.each([
    ['no stock', 'InStock'],
    ['no more', 'OutOfStock'],
    ['out', 'Discontinued'],
    ['6', 'InStock'],
    ['4', 'Invisible'],
  ])('%s is %s', (cell, expected) => {
    expect(mapCell('availability', cell, { rule })).toBe(expected)
  })

  it('come after exact keys and comparisons, and may say that a cell is empty', () => {
    const prices: Partial<FieldRule> = { when: { '/./': 1, '3': 2, '<3': 4 } }
    expect(['3', '2', '9'].map((cell) => mapCell('price', cell, { rule: prices }))).toEqual([2, 4, 1])
    expect(mapCell('brand', 'hidden', { rule: { when: { '/^(?i)HID/': '' } } })).toBe('cleared')
  })

  it('must be expressions that RE2 knows', () => {
    expect(checkRule('brand', { ...columnRule('c'), when: { '/(?=a)/': 'x' } })[0]).toMatch(/RE2 refuses/)
  })
})

describe('elements', () => {
  it.each<[string, string, FieldRule['elements'], unknown]>([
    ['categories', 'Root/A/B,Root/C,Root', { regex: '^Root(?:/(.*))?$', result: undefined }, ['A/B', 'C']],
    ['tag1', 'a:1,b', { regex: '^(?<key>[^:]+):', result: '{key}!' }, ['a!', 'b']],
    [
      'alternate_image_urls',
      '/a.jpg,https://cdn.example/b.jpg',
      { regex: '^/(?<path>.*)', result: 'https://shop.example/media/{path}' },
      ['https://shop.example/media/a.jpg', 'https://cdn.example/b.jpg'],
    ],
  ])('%s of %j with %j is %j', (field, cell, elements, expected) => {
    expect(mapCell(field, cell, { rule: { split: ',', ...(elements ? { elements } : {}) } })).toEqual(
      expected,
    )
  })

  it('belong to lists', () => {
    const elements = { regex: 'a', result: undefined }
    expect(checkRule('brand', { ...columnRule('c'), elements })).toEqual([
      'elements has an effect only on a list field',
    ])
  })
})

describe('above', () => {
  const rule: Partial<FieldRule> = { above: 'price' }
  it.each([
    ['20', '10', 20],
    ['10', '10', undefined],
    ['5', '10', undefined],
    ['', '10', undefined],
  ])('a list price of %s beside a price of %s is %s', (list, price, expected) => {
    const fields = {
      product_id: columnRule('id'),
      price: columnRule('price'),
      list_price: { ...columnRule('list'), ...rule },
    }
    for (const mode of ['full', 'delta'] as const) {
      const { patch } = bindTo(['id', 'list', 'price'], fields, mode).map(recordOf(['a', list, price]))
      expect(patch?.set.list_price).toBe(expected)
      // An empty cell of a delta says nothing, an amount does.
      const isCleared = expected === undefined && (mode === 'full' || list !== '')
      expect(patch?.clear).toEqual(isCleared ? ['list_price'] : [])
    }
  })

  it.each(['full', 'delta'] as const)('counts in members, and goes with a price that changes: %s', (mode) => {
    const price: FieldRule = {
      ...columnRule('sale', 'price'),
      during: { sale: { kind: 'interval', column: 'when' } },
    }
    const list: FieldRule = { ...columnRule('price'), ...rule }
    const each = {
      kind: 'each',
      each: 'rows',
      key: undefined,
      item: { id: columnRule('id'), price, list_price: list },
    } as const
    const fields = {
      product_id: columnRule('id'),
      price,
      list_price: list,
      skus: { from: each },
    }
    const bound = bindTo(['id', 'price', 'sale', 'when'], fields, mode)
    const cells = ['a', '10', '7', '2026-03-01T00:00Z/2026-03-02T00:00Z']
    const from = Date.parse('2026-03-01T00:00Z')
    const { patch } = bound.map(recordOf(cells), from - 1)
    expect(patch?.set).toEqual({ price: 10, skus: [{ id: 'a', price: 10 }] })
    expect(patch?.later).toEqual([
      {
        at: from,
        set: { price: 7, list_price: 10, skus: [{ id: 'a', price: 7, list_price: 10 }] },
        clear: [],
      },
      { at: from + 86_400_000, set: { price: 10, skus: [{ id: 'a', price: 10 }] }, clear: ['list_price'] },
    ])
  })

  it('belongs to list_price', () => {
    expect(checkRule('price', { ...columnRule('c'), ...rule })).toEqual([
      'above has an effect only on list_price',
    ])
  })
})

describe('columns of the record in rules of rows', () => {
  const columns = ['id', 'status', 'qty']
  const rows = (...cells: string[][]): ParsedRecord => ({
    ...recordOf(cells[0] ?? []),
    rows: cells.map((one, index) => recordOf(one, index + 1)),
  })
  const bound = bindTo(columns, {
    product_id: columnRule('id'),
    availability: {
      ...templateRule('{../status}|{../absent?}|{qty?}'),
      rows: 'any',
      when: { '/^draft/': 'Invisible', '/\\|0?$/': 'OutOfStock' },
      otherwise: 'InStock',
    },
  })
  it.each([
    [
      [
        ['a', 'active', '0'],
        ['a', '', '3'],
      ],
      'InStock',
    ],
    [
      [
        ['a', 'active', '0'],
        ['a', '', '0'],
      ],
      'OutOfStock',
    ],
    [
      [
        ['a', 'draft', '5'],
        ['a', '', '3'],
      ],
      'Invisible',
    ],
  ])('%j is %s', (cells, expected) => {
    expect(bound.map(rows(...cells)).patch?.set.availability).toBe(expected)
  })

  it('counts for a record of one row too', () => {
    expect(bound.map(recordOf(['a', 'active', '1'])).patch?.set.availability).toBe('InStock')
  })
})

it('reads years of two digits as of this century', () => {
  const rule = { date: 'M/D/YY' }
  expect(mapCell('date_published', '3/1/26', { rule })).toBe('2026-03-01')
  expect(issueOf('date_published', '03/01/2026', rule).code).toBe('not-a-date')
  expect(issueOf('date_published', '3/1/126', rule).code).toBe('not-a-date')
})
