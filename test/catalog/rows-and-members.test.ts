import { describe, expect, it } from 'vitest'
import { checkRule } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import type { ParsedRecord } from '../../src/records/model.ts'
import { Repeated } from '../../src/records/repeated.ts'
import { bindTo, columnRule, recordOf, templateRule } from './support.ts'

const columns = ['id', 'title', 'sku', 'qty', 'price', 'image', 'kind']

/** The rows as grouping gives them: each column's first cell that is not empty, and all rows. */
function groupOf(...rows: string[][]): ParsedRecord {
  const cells = columns.map(
    (_, place) => rows.map((row) => row[place] ?? '').find((cell) => cell !== '') ?? '',
  )
  return {
    record: 1,
    line: 2,
    cells,
    rows: rows.map((row, index) => ({ record: index + 1, line: index + 2, cells: row })),
  }
}

const shirt = groupOf(
  ['P1', 'Shirt', '', '', '', 'https://i.example/0.jpg', 'parent'],
  ['P1', '', 'S-RED', '0', '20', 'https://i.example/1.jpg', 'variant'],
  ['P1', '', 'S-BLUE', '3', '12.50', 'https://i.example/2.jpg', 'variant'],
  ['P1', '', '', '', '', 'https://i.example/1.jpg', 'image'],
)
const variants = { kind: { values: ['variant'], not: false } }

function read(field: string, rule: FieldRule, record: ParsedRecord = shirt): unknown {
  const { patch, issues } = bindTo(columns, { product_id: columnRule('id'), [field]: rule }).map(record)
  if (!patch) return issues.map(({ code, message }) => `${code}: ${message}`)
  return patch.set[field as keyof typeof patch.set] ?? 'cleared'
}

describe('whose cells count of a record of several rows', () => {
  const stock: Partial<FieldRule> = { when: { '<=0': 'OutOfStock' }, otherwise: 'InStock' }
  it.each<[string, string, Partial<FieldRule>, unknown]>([
    ['price', 'price', {}, 20],
    ['price', 'price', { rows: 'last', where: variants }, 12.5],
    ['price', 'price', { rows: 'min' }, 12.5],
    ['price', 'price', { rows: 'max' }, 20],
    ['inventory_level', 'qty', { rows: 'sum' }, 3],
    ['review_count', 'qty', { rows: 'sum' }, '3'],
    ['price', 'price', { rows: 'sum' }, 32.5],
    ['brand', 'title', { rows: 'first' }, 'Shirt'],
    ['brand', 'sku', { rows: 'first' }, 'cleared'],
    ['brand', 'sku', { where: { qty: { values: ['', '0'], not: true } } }, 'S-BLUE'],
    ['brand', 'sku', { where: { kind: { values: ['nothing'], not: false } } }, 'cleared'],
    [
      'alternate_image_urls',
      'image',
      { rows: 'all', where: variants },
      ['https://i.example/1.jpg', 'https://i.example/2.jpg'],
    ],
    ['tag1', 'image', { rows: 'all' }, ['0', '1', '2'].map((name) => `https://i.example/${name}.jpg`)],
    ['availability', 'qty', { rows: 'any', ...stock }, 'InStock'],
    ['availability', 'qty', stock, 'OutOfStock'],
    ['brand', 'image', { prefer: variants }, 'https://i.example/1.jpg'],
    ['brand', 'image', { prefer: { kind: { values: ['offer'], not: false } } }, 'https://i.example/0.jpg'],
    ['inventory_level', 'qty', { rows: 'sum', prefer: { sku: { values: ['S-RED'], not: false } } }, 0],
    [
      'availability',
      'qty',
      { rows: 'any', ...stock, where: { '../kind': { values: ['parent'], not: false } }, prefer: variants },
      'InStock',
    ],
    [
      'availability',
      'qty',
      {
        rows: 'any',
        ...stock,
        where: { '../kind': { values: ['hidden'], not: false } },
        default: 'Invisible',
      },
      'Invisible',
    ],
  ])('%s of %s with %j is %j', (field, column, rule, expected) => {
    expect(read(field, { ...columnRule(column), ...rule })).toEqual(expected)
  })

  it('adds decimals without the noise of binary fractions', () => {
    const record = groupOf(['P1', '', '', '', '0.1'], ['P1', '', '', '', '0.2'])
    expect(read('price', { ...columnRule('price'), rows: 'sum' }, record)).toBe(0.3)
  })

  it('says in which row a value is wrong', () => {
    const record = groupOf(['P1', '', '', '', '5'], ['P1', '', '', '', 'five'])
    expect(read('price', { ...columnRule('price'), rows: 'min' }, record)).toEqual([
      expect.stringMatching(/^not-a-number: price: found .*five.*\(row at line 3\) \(column "price"\)$/),
    ])
  })

  describe('a list price', () => {
    const low = columnRule('price')
    const regular: FieldRule = { ...columnRule('qty'), rows: 'price' }
    const sold = groupOf(['P1', '', 'A', '100', '60'], ['P1', '', 'B', '50', '50'], ['P1', '', 'C', '', '70'])
    const both = (price: FieldRule, listPrice: FieldRule, record = sold) => {
      const fields = { product_id: columnRule('id'), price, list_price: listPrice }
      const { patch } = bindTo(columns, fields).map(record)
      return [patch?.set.price, patch?.set.list_price ?? 'none']
    }

    it('is of the row whose price counts, not the least of all', () => {
      expect(both({ ...low, rows: 'min' }, { ...regular, above: 'price' })).toEqual([50, 'none'])
      expect(both({ ...low, rows: 'min' }, regular)).toEqual([50, 50])
      expect(both({ ...low, rows: 'max' }, regular)).toEqual([70, 'none'])
      expect(both({ ...low, rows: 'first' }, regular)).toEqual([60, 100])
      expect(both({ ...low, rows: 'last' }, regular)).toEqual([70, 'none'])
      expect(both(low, regular)).toEqual([60, 100])
      expect(both({ ...low, where: { sku: { values: ['B'], not: false } } }, regular)).toEqual([50, 50])
    })

    it('is the first where no row gave the price, and the own one of a record of one row', () => {
      expect(both({ from: { kind: 'value', value: 5 } }, regular)).toEqual([5, 100])
      expect(both({ ...low, rows: 'sum' }, regular)).toEqual([180, 100])
      expect(both({ ...low, rows: 'min' }, regular, recordOf(['P2', '', 'A', '9', '5']))).toEqual([5, 9])
    })

    it('is none where rows give no price', () => {
      const priceless = groupOf(['P1', '', 'A', '100', ''], ['P1', '', 'B', '50', ''])
      const delta = bindTo(
        columns,
        { product_id: columnRule('id'), price: { ...low, rows: 'min' }, list_price: regular },
        'delta',
      )
      expect(delta.map(priceless).patch?.set).toEqual({})
    })

    it('counts only where the row does', () => {
      const other = { ...regular, where: { sku: { values: ['A'], not: false } } }
      expect(both({ ...low, rows: 'min' }, other)).toEqual([50, 'none'])
    })
  })

  it('takes a record of one row for its own only row', () => {
    const record = recordOf(['P1', 'x', 'S', '3', '5', '', 'parent'])
    expect(read('price', { ...columnRule('price'), rows: 'min' }, record)).toBe(5)
    expect(read('price', { ...columnRule('price'), empty: 'clear', where: variants }, record)).toEqual([
      expect.stringContaining('required-empty'),
    ])
  })

  it.each([
    ['name', { rows: 'min' }, 'rows: min has an effect only on numbers'],
    ['name', { rows: 'all' }, 'rows: all has an effect only on a list field'],
    ['price', { rows: 'any' }, 'rows: any has an effect only on availability'],
    ['price', { rows: 'price' }, 'rows: price has an effect only on list_price'],
    ['product_id', { rows: 'first' }, 'rows has no effect on product_id, which every row must have'],
    ['product_id', { where: variants }, 'where has no effect on product_id, which every row must have'],
  ] as const)('%s with %j is refused', (field, rule, problem) => {
    expect(checkRule(field, { ...columnRule('c'), ...rule })).toEqual([problem])
  })
})

describe('members', () => {
  const each = (
    item: Record<string, FieldRule>,
    part: Partial<FieldRule> = {},
    key?: FieldRule,
    list = 'rows',
  ): FieldRule => ({
    from: { kind: 'each', each: list, key, item },
    ...part,
  })
  const item = {
    name: templateRule('{../title} {sku}'),
    id: columnRule('sku'),
    price: columnRule('price'),
    inventory_level: columnRule('qty'),
    availability: { ...columnRule('qty'), when: { '<=0': 'OutOfStock' }, otherwise: 'InStock' },
    custom_fields: { from: { kind: 'entries', entries: { art: columnRule('kind') } } } as FieldRule,
  }

  it('are one SKU for each row that counts', () => {
    expect(read('skus', each(item, { where: variants }))).toEqual([
      {
        id: 'S-RED',
        name: 'Shirt S-RED',
        price: 20,
        availability: 'OutOfStock',
        inventory_level: 0,
        custom_fields: { art: 'variant' },
      },
      {
        id: 'S-BLUE',
        name: 'Shirt S-BLUE',
        price: 12.5,
        availability: 'InStock',
        inventory_level: 3,
        custom_fields: { art: 'variant' },
      },
    ])
    expect(read('skus', each(item, { where: { kind: { values: ['other'], not: false } } }))).toBe('cleared')
  })

  it('of a record of one row is itself', () => {
    const record = recordOf(['P2', 'Cap', 'C-1', '1', '5', '', 'variant'])
    expect(read('skus', each({ id: columnRule('sku'), name: columnRule('../title') }), record)).toEqual([
      { id: 'C-1', name: 'Cap' },
    ])
  })

  it('are XML elements with attributes', () => {
    const red = { '@name': 'S-RED', '#text': 'Red' }
    const blue = { '@name': 'S-BLUE', '#text': 'Blue' }
    const rule = each({ id: columnRule('@name'), name: columnRule('#text') }, {}, undefined, 'sku')
    const of = (sku: unknown, texts: unknown) => {
      const cells = ['P1', 'Shirt', texts, '', '', '', '']
      return read('skus', rule, { ...recordOf(cells), source: { id: 'P1', sku } })
    }
    expect(of(Repeated.of(red, blue), Repeated.of('Red', 'Blue'))).toEqual([
      { id: 'S-RED', name: 'Red' },
      { id: 'S-BLUE', name: 'Blue' },
    ])
    expect(of(red, 'Red')).toEqual([{ id: 'S-RED', name: 'Red' }])
  })

  it('with one id twice are reported, and both go out', () => {
    const record = groupOf(['P1', '', 'A', '', '5'], ['P1', '', 'A', '', '6'], ['P1', '', 'B', '', '7'])
    const rule = each({ id: columnRule('sku'), price: columnRule('price') })
    const { patch, issues } = bindTo(columns, { product_id: columnRule('id'), skus: rule }).map(record)
    expect(patch?.set.skus).toEqual([
      { id: 'A', price: 5 },
      { id: 'A', price: 6 },
      { id: 'B', price: 7 },
    ])
    expect(issues).toEqual([
      expect.objectContaining({
        code: 'repeated-key',
        severity: 'warn',
        message: 'skus: found the id "A" more than once: both go out',
      }),
    ])
  })

  it('are variations by their keys, each with its own currency', () => {
    const rule = each({ price: columnRule('price') }, { where: variants }, columnRule('sku'))
    expect(read('variations', rule)).toEqual({ 'S-BLUE': { price: 12.5 }, 'S-RED': { price: 20 } })
    const money = groupOf(['P1', '', 'EU', '', '5 EUR'], ['P1', '', 'US', '', '6 USD'])
    const currency: FieldRule = { ...columnRule('price'), part: 'currency' }
    const both = each({ price: columnRule('price'), price_currency_code: currency }, {}, columnRule('sku'))
    expect(read('variations', both, money)).toEqual({
      EU: { price_currency_code: 'EUR', price: 5 },
      US: { price_currency_code: 'USD', price: 6 },
    })
    const wrong = each(
      { price: columnRule('price'), price_currency_code: { from: { kind: 'value', value: 'EUR' } } },
      {},
      columnRule('sku'),
    )
    expect(read('variations', wrong, money)).toEqual([
      expect.stringContaining('currency-mismatch: variations.US: found an amount in USD'),
    ])
  })

  it('say where one is wrong', () => {
    const record = groupOf(['P1', '', 'A', '', '5'], ['P1', '', 'B', '', 'x'])
    expect(read('skus', each({ id: columnRule('sku'), price: columnRule('price') }), record)).toEqual([
      expect.stringMatching(/^not-a-number: skus\[1\]\.price: found .*"x".*\(row at line 3\)$/),
    ])
    const keyless = each({ price: columnRule('price') }, {}, columnRule('title'))
    expect(read('variations', keyless, groupOf(['P1', '', 'A', '', '5']))).toEqual([
      expect.stringContaining('key-empty'),
    ])
  })

  it.each<[string, unknown, unknown]>([
    [
      'a list',
      [
        { sku: 'A', price: 5, of: { size: 'L' } },
        { sku: 'B', price: '6.50' },
      ],
      [
        { id: 'A', price: 5, custom_fields: { size: 'L', of: 'Cap' } },
        { id: 'B', price: 6.5, custom_fields: { of: 'Cap' } },
      ],
    ],
    [
      'repeated elements',
      Repeated.from([{ sku: 'A' }, { sku: 'B' }]),
      [
        { id: 'A', custom_fields: { of: 'Cap' } },
        { id: 'B', custom_fields: { of: 'Cap' } },
      ],
    ],
    ['one element', { sku: 'A' }, [{ id: 'A', custom_fields: { of: 'Cap' } }]],
    ['JSON', '[{"sku":"A"}]', [{ id: 'A', custom_fields: { of: 'Cap' } }]],
    ['nothing', '', 'cleared'],
    ['an empty list', [], 'cleared'],
    ['a text', 'A, B', [expect.stringContaining('not-objects: skus: found ')]],
    ['texts', ['A'], [expect.stringContaining('not-objects')]],
  ])('are those of %s in a column', (_, cell, expected) => {
    const rule = each(
      {
        id: columnRule('sku'),
        price: columnRule('price'),
        custom_fields: {
          from: { kind: 'entries', entries: { size: columnRule('of.size'), of: columnRule('../title') } },
        },
      },
      {},
      undefined,
      'kind',
    )
    expect(read('skus', rule, { record: 1, line: 2, cells: ['P1', 'Cap', '', '', '', '', cell] })).toEqual(
      expected,
    )
  })

  it('need the columns that they read, unless these are optional', () => {
    const rule = each({ id: columnRule('sku'), name: columnRule('../headline') })
    expect(() => bindTo(columns, { product_id: columnRule('id'), skus: rule })).toThrow('"column":"headline"')
    const optional = { ...columnRule('../headline'), optional: true }
    expect(read('skus', each({ id: columnRule('sku'), name: optional }, { where: variants }))).toEqual([
      { id: 'S-RED' },
      { id: 'S-BLUE' },
    ])
    const list = each({ id: columnRule('sku') }, {}, undefined, 'children')
    expect(() => bindTo(columns, { product_id: columnRule('id'), skus: list })).toThrow('"column":"children"')
    expect(
      bindTo(columns, { product_id: columnRule('id'), skus: { ...list, optional: true } }).map(shirt).patch,
    ).toEqual({
      productId: 'P1',
      set: {},
      clear: [],
    })
  })

  it.each<[string, FieldRule, string]>([
    ['skus', each({ idd: columnRule('a') }), 'item idd: idd is no field of a SKU; did you mean id?'],
    ['skus', each({ id: columnRule('a') }, {}, columnRule('b')), 'key has no effect on skus'],
    ['variations', each({ price: columnRule('a') }), 'each makes variations only with key'],
    ['variations', each({ name: columnRule('a') }, {}, columnRule('b')), 'name is no field of a variation'],
    ['custom_fields', each({ id: columnRule('a') }), 'each belongs to skus and variations only'],
    [
      'skus',
      each({ price: { ...columnRule('a'), rows: 'min' } }),
      'item price: rows has no effect in a member',
    ],
    [
      'skus',
      each({ name: { ...columnRule('a'), decimal: ',', date: 'YYYY' } }),
      'item name: date has an effect only',
    ],
  ])('%s is refused: %#', (field, rule, problem) => {
    expect(checkRule(field, rule).join()).toContain(problem)
  })
})

describe('whose elements count of lists in a record of one row', () => {
  const prices = Repeated.from(['20', '12.50', null])
  const stock: Partial<FieldRule> = { when: { '<=0': 'OutOfStock' }, otherwise: 'InStock' }
  const record = recordOf(['P1', Repeated.from(['Cup', 'Mug']), '', Repeated.from(['0', '3', '0']), prices])
  it.each<[string, string, Partial<FieldRule>, unknown]>([
    ['price', 'price', { rows: 'min' }, 12.5],
    ['price', 'price', { rows: 'first' }, 20],
    ['inventory_level', 'qty', { rows: 'sum' }, 3],
    ['availability', 'qty', { rows: 'any', ...stock }, 'InStock'],
    ['brand', 'title', { rows: 'first' }, 'Cup'],
    ['brand', 'title', { rows: 'first', where: { sku: { values: ['x'], not: false } } }, 'cleared'],
    ['tag1', 'title', { rows: 'all' }, ['Cup', 'Mug']],
    ['price', 'title', { rows: 'min' }, [expect.stringMatching(/not-a-number: .*"Cup".*\(element 1\)/)]],
  ])('%s of %s with %j is %j', (field, column, rule, expected) => {
    expect(read(field, { ...columnRule(column), ...rule }, record)).toEqual(expected)
  })

  it('takes the list price of the element that gave the price', () => {
    const fields = {
      product_id: columnRule('id'),
      price: { ...columnRule('price'), rows: 'min' as const },
      list_price: { ...columnRule('was'), rows: 'price' as const, above: 'price' as const },
    }
    const was = (...amounts: (string | null)[]) => {
      const cells = ['P1', prices, Repeated.from(amounts)]
      return bindTo(['id', 'price', 'was'], fields).map(recordOf(cells)).patch?.set.list_price
    }
    expect(was('30', '15', '9')).toBe(15)
    expect(was('30', null, null)).toBeUndefined()
    expect(was('30')).toBeUndefined()
  })
})
