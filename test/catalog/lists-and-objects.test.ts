import { describe, expect, it } from 'vitest'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, issueOf, mapCell, recordOf, valueRule } from './support.ts'

describe('categories', () => {
  it.each<[unknown, Partial<FieldRule>, string[]]>([
    ['Home/Kitchen', {}, ['Home/Kitchen']],
    [' Home / Kitchen | Sale ', {}, ['Home/Kitchen', 'Sale']],
    ['/Home/Kitchen/', {}, ['/Home/Kitchen']],
    ['Home > Kitchen', { separator: '>' }, ['Home/Kitchen']],
    ['Home>Kitchen', { separator: ' > ' }, ['Home/Kitchen']],
    ['Home > Kitchen > , Sale', { separator: '>', split: ',' }, ['Home/Kitchen', 'Sale']],
    ['Home &gt; Kitchen', { separator: '&gt;' }, ['Home/Kitchen']],
    ['Audio/Video > HiFi', { separator: '>', slash: ' & ' }, ['Audio & Video/HiFi']],
    ['["A/B","C"]', {}, ['A/B', 'C']],
    [['A > B', ' ', 'C'], { separator: '>' }, ['A/B', 'C']],
    ['Home | Kitchen', { separator: '|' }, ['Home/Kitchen']],
    ['Home | Kitchen, Sale', { separator: ' | ', split: ',' }, ['Home/Kitchen', 'Sale']],
    ['["A | B","C"]', { separator: '|' }, ['A/B', 'C']],
    [['A | B', 'C'], { separator: '|' }, ['A/B', 'C']],
  ])('%j under %j are %j', (cell, rule, expected) => {
    expect(mapCell('categories', cell, { rule })).toEqual(expected)
  })

  it.each<[string, Partial<FieldRule>, string, string]>([
    ['Home > Kitchen', {}, 'category-separator', 'set separator: ">"'],
    ['Home &gt; Kitchen', {}, 'category-separator', 'set separator: "&gt;"'],
    ['A:B > C', { separator: ':' }, 'category-separator', 'set separator: ">"'],
    ['Audio/Video > HiFi', { separator: '>' }, 'category-slash', 'set slash'],
  ])('%j under %j are refused as %s', (cell, rule, code, words) => {
    const issue = issueOf('categories', cell, rule)
    expect(issue.code).toBe(code)
    expect(issue.message).toContain(words)
  })
})

describe('lists', () => {
  it.each<[string, unknown, Partial<FieldRule>, unknown]>([
    ['tag1', 'a| b ||c', {}, ['a', 'b', 'c']],
    ['tag1', 'a, b', { split: ',' }, ['a', 'b']],
    ['tag1', '["a", 5]', {}, ['a', '5']],
    ['tag1', '[Sale] a|b [new]', {}, ['[Sale] a', 'b [new]']],
    ['tag1', '["a"]', { split: ',' }, ['["a"]']],
    ['tag1', ' | ', {}, 'cleared'],
    ['tag1', [], {}, []],
    ['tag1', 5, {}, ['5']],
    [
      'alternate_image_urls',
      'https://a.example/1|https://a.example/2',
      {},
      ['https://a.example/1', 'https://a.example/2'],
    ],
  ])('%s of %j under %j is %j', (field, cell, rule, expected) => {
    expect(mapCell(field, cell, { rule })).toEqual(expected)
  })

  it('name the element that the contract refuses', () => {
    const issue = issueOf('alternate_image_urls', 'https://a.example/1|a b')
    expect(issue.code).toBe('contract')
    expect(issue.message).toMatch(/^alternate_image_urls\[1\]: .*"a b".*\(column "cell"\)$/)
    expect(issueOf('tag1', '["a]').code).toBe('not-json')
    expect(issueOf('tag1', ['a', {}]).code).toBe('not-text')
    expect(issueOf('tag1', { a: 1 }).code).toBe('not-a-list')
  })
})

describe('dates', () => {
  it.each<[unknown, string | undefined, string]>([
    ['2026-02-28', undefined, '2026-02-28'],
    ['2026-02-28T23:59:59+09:00', undefined, '2026-02-28'],
    ['2026-02-28 10:00', undefined, '2026-02-28'],
    ['28.2.2026', 'D.M.YYYY', '2026-02-28'],
    ['02/28/2026 9:05 PM', 'MM/DD/YYYY', '2026-02-28'],
    ['20240229', 'YYYYMMDD', '2024-02-29'],
    ['3 Feb 2026', 'D MMM YYYY', '2026-02-03'],
    ['Sept. 3, 2026', 'MMM D, YYYY', '2026-09-03'],
    ['03-MARCH-2026 07:15:09', 'DD-MMMM-YYYY HH:mm:ss', '2026-03-03'],
    ['2026-02-28T00:00:00', 'DD.MM.YYYY', '2026-02-28'],
    ['1767225599', 'unix', '2025-12-31'],
    [1767225600, 'unix', '2026-01-01'],
  ])('%j under %s is %s', (cell, date, expected) => {
    expect(mapCell('date_published', cell, { rule: date === undefined ? {} : { date } })).toBe(expected)
  })

  it.each<[unknown, string | undefined]>([
    ['28.02.2026', undefined],
    ['2026-02-30', undefined],
    ['2025-02-29', undefined],
    ['2026-13-01', undefined],
    ['2026-02-28x', undefined],
    [20260228, undefined],
    ['1.1.26', 'D.M.YYYY'],
    ['2026-02-30', 'DD.MM.YYYY'],
    ['2026-02-13', 'YYYY-DD-MM'],
    ['3 Okt 2026', 'D MMM YYYY'],
    ['3 Feb 2026', 'D MMM YYYY HH:mm'],
    ['soon', 'unix'],
  ])('%j under %s is none', (cell, date) => {
    expect(issueOf('date_published', cell, date === undefined ? {} : { date }).code).toBe('not-a-date')
  })
})

describe('objects', () => {
  it('have one form whatever the order of their keys', () => {
    const skus = '[{"price":"9.50","custom_fields":{"b":1,"a":true},"name":"x","id":7,"availability":null}]'
    expect(JSON.stringify(mapCell('skus', skus))).toBe(
      '[{"id":"7","name":"x","price":9.5,"custom_fields":{"a":"true","b":"1"}}]',
    )
    const variations =
      '{"US":{"price":5},"EU":{"price":"1.299,50 EUR","availability":"InStock","price_currency_code":"EUR"}}'
    const rule = { decimal: ',', thousands: '.' } as const
    expect(JSON.stringify(mapCell('variations', variations, { rule }))).toBe(
      '{"EU":{"price_currency_code":"EUR","availability":"InStock","price":1299.5},"US":{"price":5}}',
    )
  })

  it('take numbers and booleans as the texts that custom fields must be', () => {
    expect(mapCell('custom_fields', '{"b":1.5,"a":true,"c":null,"d":""}')).toEqual({
      a: 'true',
      b: '1.5',
      d: '',
    })
    expect(mapCell('custom_fields', { a: 'x' })).toEqual({ a: 'x' })
    expect(mapCell('variations', [])).toEqual({})
  })

  it.each<[string, unknown, string, RegExp]>([
    ['skus', 'nonsense', 'not-json', /no valid JSON/],
    ['skus', '{"id":"1"}', 'contract', /^skus: /],
    ['skus', '[{"id":"1","colour":"red"}]', 'contract', /skus\[0\]\.colour/],
    ['skus', '[{"id":"1","price":"12,50"}]', 'number-locale', /^skus\[0\]\.price: .*set decimal/],
    ['skus', '[5]', 'contract', /skus\[0\]/],
    [
      'variations',
      '{"EU":{"price":"5 SEK","price_currency_code":"EUR"}}',
      'currency-mismatch',
      /^variations\.EU: .*SEK.*EUR/,
    ],
    ['variations', '[1]', 'contract', /^variations: /],
    ['custom_fields', '{"a":{"b":1}}', 'contract', /custom_fields\.a/],
    ['custom_fields', '{"__proto__":"x"}', 'contract', /reserved/],
    ['custom_fields', '5', 'contract', /^custom_fields: /],
  ])('%s of %j is refused as %s', (field, cell, code, words) => {
    const issue = issueOf(field, cell)
    expect(issue.code).toBe(code)
    expect(issue.message).toMatch(words)
  })

  it('hold the currency of the record for skus', () => {
    const fields = {
      product_id: columnRule('id'),
      skus: columnRule('skus'),
      price_currency_code: valueRule('EUR'),
    }
    const { issues } = bindTo(['id', 'skus'], fields).map(recordOf(['P1', '[{"id":"1","price":"5 SEK"}]']))
    expect(issues.map(({ field, code }) => [field, code])).toEqual([['skus', 'currency-mismatch']])
  })
})

describe('entries of custom_fields', () => {
  const entries = {
    colour: columnRule('c'),
    size: { ...columnRule('s'), when: { L: 'Large' }, otherwise: 'Other' },
  }
  const fields = {
    product_id: columnRule('id'),
    custom_fields: { from: { kind: 'entries', entries } } as FieldRule,
  }

  it('are set together, sorted', () => {
    const bound = bindTo(['id', 's', 'c'], fields)
    expect(JSON.stringify(bound.map(recordOf(['P1', 'L', 'red'])).patch?.set.custom_fields)).toBe(
      '{"colour":"red","size":"Large"}',
    )
    expect(bound.map(recordOf(['P1', '', 'red'])).patch).toEqual({
      productId: 'P1',
      set: { custom_fields: { colour: 'red' } },
      clear: [],
    })
    expect(bound.map(recordOf(['P1', '', ''])).patch?.clear).toEqual(['custom_fields'])
  })

  it('that are empty in a delta say nothing', () => {
    const bound = bindTo(['id', 's', 'c'], fields, 'delta')
    expect(bound.map(recordOf(['P1', '', 'red'])).patch).toMatchObject({
      set: { custom_fields: { colour: 'red' } },
      keepEntries: ['size'],
    })
    expect(bound.map(recordOf(['P1', '', ''])).patch).toEqual({ productId: 'P1', set: {}, clear: [] })
  })

  it('stay in a delta, too, where a rule of their own finds them empty', () => {
    const parts = Object.entries(entries).map(([key, rule]) => ({
      from: { kind: 'entries', entries: { [key]: rule } } as const,
    }))
    const custom_fields: FieldRule = { from: { kind: 'parts', parts } }
    const bound = bindTo(['id', 's', 'c'], { product_id: columnRule('id'), custom_fields }, 'delta')
    expect(bound.map(recordOf(['P1', '', 'red'])).patch).toMatchObject({
      set: { custom_fields: { colour: 'red' } },
      keepEntries: ['size'],
    })
    expect(bound.map(recordOf(['P1', '', ''])).patch).toEqual({ productId: 'P1', set: {}, clear: [] })
  })
})

describe('issues', () => {
  const fields = {
    product_id: columnRule('id'),
    name: columnRule('n'),
    url: columnRule('u'),
    price: columnRule('p'),
    supplier_cost: columnRule('cost'),
  }
  const bound = bindTo(['id', 'n', 'u', 'p', 'cost'], fields)

  it('are reported all at once, with field, column, value and remedy', () => {
    const { patch, issues } = bound.map(recordOf(['P1', '', 'shop', '12,50', 'cheap'], 3))
    expect(patch).toBeUndefined()
    expect(issues.map(({ field }) => field)).toEqual(['name', 'url', 'price', 'supplier_cost'])
    expect(issues[1]?.message).toMatch(
      /^url: found the text "shop", expected .*; start it with https:\/\/.*\(column "u"\)$/,
    )
  })

  it('never show a supplier cost', () => {
    const cells = ['12,34', 'x1234', '1e1234', '12341234123412341234', { a: '1234' }, '12.34.1234']
    for (const cell of cells) {
      const [issue] = bound.map(recordOf(['P1', 'n', 'https://x.example', '1', cell])).issues
      expect(issue?.field).toBe('supplier_cost')
      expect(issue?.message).not.toMatch(/12,?34/)
    }
    const when = issueOf('supplier_cost', '1234', { when: { x: 1 } })
    expect(when.message).not.toContain('1234')
    expect(
      issueOf('supplier_cost', '1234', { pattern: { regex: 'x', result: undefined } }).message,
    ).not.toContain('1234')
  })

  it('cut long values', () => {
    expect(issueOf('price', 'x'.repeat(5_000)).message.length).toBeLessThan(300)
  })

  it('only warn of availabilities that nobody knows', () => {
    const warned = bindTo(['id', 'a', 's'], {
      product_id: columnRule('id'),
      availability: columnRule('a'),
      skus: columnRule('s'),
    }).map(recordOf(['P1', 'in stock', '[{"id":"1","availability":"sold out"}]']))
    expect(warned.patch?.set.availability).toBe('in stock')
    expect(warned.issues.map(({ field, severity }) => [field, severity])).toEqual([
      ['availability', 'warn'],
      ['skus', 'warn'],
    ])
  })
})

it.each<[unknown, Partial<FieldRule>, unknown]>([
  [
    'https://a.example/f,w_8/1.jpg,https://a.example/2.jpg',
    { split: ',' },
    ['https://a.example/f,w_8/1.jpg', 'https://a.example/2.jpg'],
  ],
  [
    'https://a.example/1.jpg, https://a.example/f,w_8/2.jpg,',
    { split: ',' },
    ['https://a.example/1.jpg', 'https://a.example/f,w_8/2.jpg'],
  ],
  [['https://a.example/f,w_8/1.jpg'], { split: ',' }, ['https://a.example/f,w_8/1.jpg']],
  [
    '/a/1.jpg,b/2.jpg',
    { split: ',', elements: { regex: '^/?(?<p>.+)$', result: 'https://a.example/{p}' } },
    ['https://a.example/a/1.jpg', 'https://a.example/b/2.jpg'],
  ],
  [
    'https://a.example/1.jpg https://a.example/2.jpg',
    { split: ' ' },
    ['https://a.example/1.jpg', 'https://a.example/2.jpg'],
  ],
])('the addresses in %j with %j are %j', (cell, rule, list) => {
  expect(mapCell('alternate_image_urls', cell, { rule })).toEqual(list)
})
