import { describe, expect, it } from 'vitest'
import { checkRule, compileMapping } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { bindTo, columnRule, feedOf, issueOf, mapCell, recordOf, templateRule, valueRule } from './support.ts'

describe('where a value comes from', () => {
  const columns = ['sku', 'sale', 'regular', 'handle', 'name']

  it('takes the first column that is not empty', () => {
    const bound = bindTo(columns, { product_id: columnRule('sku'), price: columnRule('sale', 'regular') })
    const price = (...cells: unknown[]) => bound.map(recordOf(['P1', ...cells, '', ''])).patch?.set.price
    expect(price('10', '12')).toBe(10)
    expect(price(' \u00a0', '12')).toBe(12)
    expect(price(null, '12')).toBe(12)
    expect(bound.map(recordOf(['P1', '', '', '', ''])).issues[0]?.code).toBe('required-empty')
  })

  it('goes on to the next column where nothing is left of a cell', () => {
    const notZero = { pattern: { regex: '^(?:0+(?:[.,]0+)?$)?(.*)$', result: undefined } }
    const notSaid = { when: { 'n/a': '', '': 'OutOfStock' }, otherwise: 'InStock' }
    const bound = bindTo(columns, {
      product_id: columnRule('sku'),
      price: { ...columnRule('sale', 'regular'), ...notZero },
      availability: { ...columnRule('handle', 'name'), ...notSaid },
    })
    const set = (...cells: string[]) => bound.map(recordOf(['P1', ...cells])).patch?.set
    expect(set('0.00', '12', 'n/a', 'yes')).toEqual({ price: 12, availability: 'InStock' })
    expect(set('10', '12', '', '')).toEqual({ price: 10, availability: 'OutOfStock' })
    expect(bound.map(recordOf(['P1', '0', '0', 'n/a', ''])).issues.map(({ field }) => field)).toEqual([
      'availability',
      'price',
    ])
  })

  it('fills a template, and has nothing when a part is empty', () => {
    const rule = templateRule('https://shop.example/{handle}?name={{{name}}}')
    const bound = bindTo(columns, { product_id: templateRule('{sku}-{handle}'), description: rule })
    const { patch } = bound.map(recordOf(['P1', '', '', ' shirt ', 'x']))
    expect(patch?.productId).toBe('P1-shirt')
    expect(patch?.set.description).toBe('https://shop.example/shirt?name={x}')
    expect(bound.map(recordOf(['P1', '', '', 'shirt', ''])).patch?.clear).toEqual(['description'])
    expect(bound.map(recordOf(['P1', '', '', { a: 1 }, 'x'])).issues.map(({ code }) => code)).toEqual([
      'not-text',
      'not-text',
    ])
  })

  it('sets a constant in every record', () => {
    const bound = bindTo(columns, {
      product_id: columnRule('sku'),
      tag1: valueRule(['a', 'b']),
      price: valueRule('15.00 EUR'),
    })
    expect(bound.map(recordOf(['P1'])).patch?.set).toEqual({ price: 15, tag1: ['a', 'b'] })
  })

  it('trims cells unless told not to', () => {
    expect(mapCell('name', '\ufeff x\u00a0')).toBe('x')
    expect(mapCell('name', ' x ', { rule: { trim: false } })).toBe(' x ')
  })

  it('makes text of NDJSON scalars only where nothing is lost', () => {
    expect(mapCell('brand', 7)).toBe('7')
    expect(mapCell('brand', true)).toBe('true')
    expect(issueOf('brand', 2 ** 60).code).toBe('not-text')
    expect(issueOf('brand', ['a']).code).toBe('not-text')
    expect(mapCell('brand', null)).toBe('cleared')
    expect(mapCell('brand', undefined)).toBe('cleared')
  })
})

describe('patterns', () => {
  const pattern = (regex: string, result?: string): Partial<FieldRule> => ({ pattern: { regex, result } })

  it.each<[string, string, string | undefined, string]>([
    ['x/dp/B0BRKXTSBT/ref', '/dp/(?<id>[A-Z0-9]{10})', undefined, 'B0BRKXTSBT'],
    ['abc-12', '[0-9]+', undefined, '12'],
    ['red:XL', '(?P<colour>\\w+):(?<size>\\w+)', '{size} in {colour}', 'XL in red'],
    ['abc-12', '([a-z]+)-([0-9]+)', undefined, 'abc'],
    ['shirt', '^(?<what>\\w+)(, (?<colour>\\w+))?', '{colour} {what}', 'shirt'],
    ['shirt, red', '^(?<what>\\w+)(, (?<colour>\\w+))?', '{colour?} {what}', 'red shirt'],
    ['5 | kg', '^(?<count>\\d*) \\| (?<unit>\\w*)', '{count?}{unit?}', '5kg'],
    [' | kg', '^(?<count>\\d*) ?\\| (?<unit>\\w*)', '{count}{unit}', 'kg'],
  ])('of %j %j with result %j takes %j', (cell, regex, result, expected) => {
    expect(mapCell('name', cell, { rule: pattern(regex, result) })).toBe(expected)
  })

  it('rejects the record when nothing matches, and takes an empty group as empty', () => {
    const issue = issueOf('name', 'nothing here', pattern('[0-9]+'))
    expect(issue.code).toBe('pattern-mismatch')
    expect(issue.message).toContain('nothing here')
    expect(mapCell('brand', 'Get', { rule: pattern('^([0-9.]*)') })).toBe('cleared')
    const path = pattern('^/(?<path>.*)|^(?<other>-)', 'https://x.example/{path}{other?}')
    expect(mapCell('brand', '/', { rule: path })).toBe('cleared')
  })

  it('gives the rest of the rule what it found', () => {
    expect(
      mapCell('price', 'now 1.299,50 only', {
        rule: { ...pattern('[0-9.,]+'), decimal: ',', thousands: '.' },
      }),
    ).toBe(1299.5)
    const rule = { ...pattern('stock: (.*)'), when: { '<=0': 'OutOfStock' }, otherwise: 'InStock' }
    expect(mapCell('availability', 'stock: 0', { rule })).toBe('OutOfStock')
    expect(mapCell('availability', 'stock: 3', { rule })).toBe('InStock')
  })

  it.each([
    ['(a)\\1', undefined, /RE2 refuses/],
    ['(?=a)', undefined, /RE2 refuses/],
    ['(', undefined, /RE2 refuses/],
    ['(?<a>x)', '{b}', /group b.*named groups: a/],
    ['(?<a>x)', '{a?}{b?}', /group b,.*named groups: a/],
    ['x', '{b', /counterpart/],
  ])('%j with result %j is refused when configured', (regex, result, words) => {
    expect(checkRule('name', { ...columnRule('c'), ...pattern(regex, result) }).join()).toMatch(words)
  })

  it('stays linear on what makes backtracking engines hang', () => {
    const cell = `${'a'.repeat(50_000)}b`
    expect(issueOf('name', cell, pattern('^(a+)+$')).code).toBe('pattern-mismatch')
  })
})

describe('when and otherwise', () => {
  const when = {
    '0': 'OutOfStock',
    'sold out': 'OutOfStock',
    '': 'Invisible',
    '<0': 'Discontinued',
    '>=100': 'InStock',
  }

  it.each<[unknown, string]>([
    ['0', 'OutOfStock'],
    [0, 'OutOfStock'],
    [' sold out ', 'OutOfStock'],
    ['', 'Invisible'],
    [null, 'Invisible'],
    ['-5', 'Discontinued'],
    ['100', 'InStock'],
    ['250.5', 'InStock'],
  ])('%j becomes %s', (cell, expected) => {
    expect(mapCell('availability', cell, { rule: { when } })).toBe(expected)
  })

  it('rejects what no key names, and says which key to add', () => {
    const issue = issueOf('availability', 'backorder', { when })
    expect(issue.code).toBe('when-unmatched')
    expect(issue.message).toContain('add the key "backorder" to when, or otherwise')
    expect(mapCell('availability', 'backorder', { rule: { when, otherwise: 'InStock' } })).toBe('InStock')
  })

  it('does not take an empty cell for "anything else"', () => {
    const rule = { when: { '0': 'OutOfStock' }, otherwise: 'InStock' }
    expect(issueOf('availability', '', rule).code).toBe('required-empty')
    expect(mapCell('availability', '', { rule, mode: 'delta' })).toBe('silent')
  })

  it('compares in the locale of the rule, first configured comparison first', () => {
    const rule = {
      when: { '<=1': 'few', '<=10': 'some' },
      otherwise: 'many',
      decimal: ',',
      thousands: '.',
    } as const
    expect(mapCell('brand', '0,5', { rule })).toBe('few')
    expect(mapCell('brand', '5', { rule })).toBe('some')
    expect(mapCell('brand', '1.000', { rule })).toBe('many')
    expect(mapCell('brand', 'none', { rule })).toBe('many')
    expect(mapCell('brand', 0.5, { rule })).toBe('few')
  })

  it('takes no number that it cannot compare for anything else', () => {
    const rule = { when: { '<=0': 'OutOfStock', '/,5$/': 'OutOfStock' }, otherwise: 'InStock' }
    const issue = issueOf('availability', '0,00', rule)
    expect(issue).toMatchObject({ code: 'number-locale', remedy: 'set decimal: ","' })
    expect(mapCell('availability', '0,5', { rule })).toBe('OutOfStock')
    expect(mapCell('availability', '10+', { rule })).toBe('InStock')
    for (const text of ['0 pcs', '+0', '0e0', 'ca. 0'])
      expect(mapCell('availability', text, { rule })).toBe('OutOfStock')
    const atLeastOne = { when: { '>= 1': 'InStock' }, otherwise: 'OutOfStock' }
    for (const text of ['0 pcs', '0'])
      expect(mapCell('availability', text, { rule: atLeastOne })).toBe('OutOfStock')
    expect(mapCell('availability', 'many', { rule })).toBe('InStock')
  })

  it('takes an outcome of nothing as an empty cell, and outcomes through the kind of the field', () => {
    expect(mapCell('brand', 'n/a', { rule: { when: { 'n/a': '' }, otherwise: 'x' } })).toBe('cleared')
    expect(mapCell('price', 'free', { rule: { when: { free: 0 }, otherwise: 1 } })).toBe(0)
    expect(mapCell('review_count', 'x', { rule: { when: { x: 12 } } })).toBe('12')
  })

  it('refuses outcomes that do not fit the field when configured', () => {
    expect(checkRule('price', { ...columnRule('c'), when: { a: 'cheap' }, otherwise: '1,5' })).toHaveLength(2)
  })
})

describe('empty cells', () => {
  it.each<['full' | 'delta', 'keep' | 'clear' | undefined, unknown]>([
    ['full', undefined, 'cleared'],
    ['full', 'keep', 'silent'],
    ['full', 'clear', 'cleared'],
    ['delta', undefined, 'silent'],
    ['delta', 'keep', 'silent'],
    ['delta', 'clear', 'cleared'],
  ])('in a %s file with empty: %s are %s', (mode, empty, expected) => {
    expect(mapCell('brand', '', { rule: empty ? { empty } : {}, mode })).toBe(expected)
    const required = mapCell('price', '', { rule: empty ? { empty } : {}, mode })
    if (expected === 'silent') expect(required).toBe('silent')
    else expect(required).toMatchObject([{ code: 'required-empty', field: 'price' }])
  })
})

describe('columns of a file', () => {
  const fields = {
    product_id: columnRule('sku'),
    price: columnRule('Sale', 'Price'),
    url: templateRule('https://x.example/{handle}'),
  }
  const mapping = compileMapping({ feed: feedOf(fields), mode: 'full' })

  it('are named with the most similar one when they are missing', () => {
    const binding = mapping.bind(['SKU', 'Prize', 'x'])
    expect(binding).toEqual({
      kind: 'missing-columns',
      missingColumns: [
        { column: 'sku', field: 'product_id', suggestion: 'SKU' },
        { column: 'handle', field: 'url' },
        { column: 'Sale', field: 'price' },
        { column: 'Price', field: 'price', suggestion: 'Prize' },
      ],
    })
  })

  it('may lack all but one of alternatives', () => {
    const binding = mapping.bind(['handle', 'Price', 'sku'])
    if (binding.kind !== 'bound') throw new Error('not bound')
    const { patch } = binding.bound.map(recordOf(['h', '5', 'P1']), 0)
    expect(patch).toEqual({ productId: 'P1', set: { url: 'https://x.example/h', price: 5 }, clear: [] })
  })

  it('say nothing when they are missing and an operator approved', () => {
    const binding = mapping.bindLeniently(['sku', 'handle'])
    if (binding.kind !== 'bound') throw new Error('not bound')
    const { patch, issues } = binding.bound.map(recordOf(['P1', 'h']), 0)
    expect(issues).toEqual([])
    expect(patch).toEqual({ productId: 'P1', set: { url: 'https://x.example/h' }, clear: [] })
    expect(mapping.bindLeniently(['handle']).kind).toBe('missing-columns')
  })

  it('are known before a file is', () => {
    expect(mapping.fields).toEqual(['url', 'price'])
    expect([...mapping.neededColumns].sort()).toEqual(['Price', 'Sale', 'handle', 'sku'])
  })

  it('map themselves where no fields are configured', () => {
    const implicit = compileMapping({ feed: feedOf({}), mode: 'full' })
    expect(implicit.bind(['name', 'price']).kind).toBe('missing-columns')
    const binding = implicit.bind(['product_id', 'price', 'brand', 'other', 'catalogd_reason'])
    if (binding.kind !== 'bound') throw new Error('not bound')
    expect(binding.bound.map(recordOf(['P1', '5', '', 'x', 'y']), 0).patch).toEqual({
      productId: 'P1',
      set: { price: 5 },
      clear: ['brand'],
    })
    expect(binding.bound.map(recordOf(['P1', '', '', '', '']), 0).issues[0]?.code).toBe('required-empty')
    // An NDJSON record without the key leaves the field to other feeds.
    expect(binding.bound.map(recordOf(['P1', undefined, undefined]), 0).patch).toEqual({
      productId: 'P1',
      set: {},
      clear: ['brand'],
    })
  })
})

describe('ids', () => {
  it('are the same for the first pass and for mapping', () => {
    const rule = {
      ...templateRule('{b}/dp/{a}'),
      pattern: { regex: '/dp/(?<id>[A-Z0-9]{3})', result: undefined },
    }
    const bound = bindTo(['x', 'a', 'y', 'b'], { product_id: rule })
    expect(bound.idReader.indices).toEqual([3, 1])
    const cells = ['', ' ABC ', '', 'q']
    expect(bound.idReader.read(bound.idReader.indices.map((index) => cells[index]))).toBe('ABC')
    expect(bound.map(recordOf(cells)).patch?.productId).toBe('ABC')
    expect(bound.idReader.read(['q', ''])).toBeUndefined()
    expect(bound.idReader.read(['q', 'ab'])).toBeUndefined()
  })

  it('are needed in every record, whatever the mode', () => {
    const bound = bindTo(['id', 'p'], { product_id: columnRule('id'), price: columnRule('p') }, 'delta')
    const { patch, issues } = bound.map(recordOf([' ', 'x'], 7))
    expect(patch).toBeUndefined()
    expect(issues.map(({ field, code, record, productId }) => ({ field, code, record, productId }))).toEqual([
      { field: 'product_id', code: 'required-empty', record: 7, productId: undefined },
      { field: 'price', code: 'not-a-number', record: 7, productId: undefined },
    ])
  })
})

describe('rules that are wrong whatever a file holds', () => {
  it.each<[string, FieldRule, RegExp]>([
    ['prise', columnRule('c'), /did you mean price/],
    ['zzz', columnRule('c'), /no field of a product$/],
    ['name', { ...columnRule('c'), split: '|' }, /split has an effect only on a list/],
    ['tag1', { ...columnRule('c'), separator: '>' }, /separator has an effect only on categories/],
    ['categories', { ...columnRule('c'), slash: '-' }, /slash has an effect only/],
    ['categories', { ...columnRule('c'), separator: '>', slash: '/' }, /slash cannot hold/],
    ['tag1', { ...columnRule('c'), split: '' }, /split cannot be empty/],
    ['categories', { ...columnRule('c'), split: '|', separator: ' | ' }, /split and separator are both "\|"/],
    ['name', { ...columnRule('c'), date: 'unix' }, /date has an effect only/],
    ['date_published', { ...columnRule('c'), date: 'DD.MM.YYY' }, /must hold YYYY/],
    ['date_published', { ...columnRule('c'), date: 'MM/YYYY' }, /must hold YYYY/],
    ['name', { ...columnRule('c'), otherwise: 'x' }, /otherwise has an effect only beside when/],
    ['name', columnRule(), /no column/],
    ['name', valueRule(''), /cannot be empty/],
    ['price', valueRule('12,50'), /set decimal/],
    ['url', valueRule('shop'), /https/],
    ['product_id', valueRule('1'), /one product/],
    ['product_id', templateRule('x'), /one product/],
    ['name', templateRule('a {} b'), /no name/],
    ['name', templateRule('a } b'), /counterpart/],
    ['skus', { from: { kind: 'entries', entries: { a: columnRule('c') } } }, /custom_fields only/],
    ['custom_fields', { from: { kind: 'entries', entries: {} } }, /no entry/],
    ['custom_fields', { from: { kind: 'entries', entries: { a: templateRule('{') } } }, /entry a: template/],
  ])('%s', (field, rule, words) => {
    expect(checkRule(field, rule).join('; ')).toMatch(words)
  })

  it('stop the mapping with all of them at once', () => {
    const fields = { product_id: columnRule('id'), price: valueRule('a'), url: valueRule('b') }
    const compile = () => compileMapping({ feed: feedOf(fields), mode: 'full' })
    expect(compile).toThrow(ConfigError)
    expect(compile).toThrow(/fields\.price.*fields\.url/)
    expect(() => compileMapping({ feed: feedOf({ price: columnRule('p') }), mode: 'full' })).toThrow(
      /product_id/,
    )
  })

  it('have none where all is well', () => {
    expect(checkRule('categories', { ...columnRule('c'), split: ';', separator: ' > ', slash: '-' })).toEqual(
      [],
    )
    expect(checkRule('supplier_cost', { ...columnRule('c'), decimal: ',', empty: 'keep' })).toEqual([])
  })
})
