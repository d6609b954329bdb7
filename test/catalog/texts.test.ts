import { describe, expect, it } from 'vitest'
import { checkRule, compileMapping } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { Repeated } from '../../src/records/repeated.ts'
import { bindTo, columnRule, feedOf, issueOf, mapCell, recordOf } from './support.ts'

describe('optional columns', () => {
  it('say nothing when they are absent, and follow empty when they are empty', () => {
    const fields = { product_id: columnRule('id'), brand: { ...columnRule('brand'), optional: true } }
    expect(bindTo(['id'], fields).map(recordOf(['P1'])).patch).toEqual({
      productId: 'P1',
      set: {},
      clear: [],
    })
    expect(bindTo(['id', 'brand'], fields).map(recordOf(['P1', ''])).patch?.clear).toEqual(['brand'])
    expect(
      compileMapping({ feed: feedOf({ ...fields, brand: columnRule('brand') }), mode: 'full' }).bind(['id'])
        .kind,
    ).toBe('missing-columns')
  })
})

describe('repeated elements', () => {
  const warned = (cell: unknown) => {
    const { patch, issues } = bindTo(['id', 'c'], {
      product_id: columnRule('id'),
      price: columnRule('c'),
    }).map(recordOf(['P1', cell]))
    return { price: patch?.set.price, issues: issues.map(({ code, severity }) => [code, severity]) }
  }
  it('stand for one value: the last, with a warning where they differ', () => {
    expect(warned(Repeated.from(['5', '5', '']))).toEqual({ price: 5, issues: [] })
    expect(warned(Repeated.from(['34.99 USD', '49.99 USD']))).toEqual({
      price: 49.99,
      issues: [['repeated-value', 'warn']],
    })
    expect(warned(Repeated.from(['', ' ']))).toMatchObject({
      price: undefined,
      issues: [['required-empty', 'reject']],
    })
    expect(warned(['5', '5']).issues).toEqual([['not-a-number', 'reject']])
  })

  it('are lists where a list is wanted', () => {
    expect(mapCell('tag1', Repeated.from(['a', '', 'b|c']))).toEqual(['a', 'b|c'])
    expect(mapCell('tag1', Repeated.from(['a', 'b|c']), { rule: { split: '|' } })).toEqual(['a', 'b', 'c'])
    expect(mapCell('categories', Repeated.from(['A > B', 'C']), { rule: { separator: '>' } })).toEqual([
      'A/B',
      'C',
    ])
  })

  it('and elements with attributes give their text', () => {
    expect(mapCell('name', { '@lang': 'de', '#text': 'Hemd' })).toBe('Hemd')
    expect(mapCell('name', Repeated.from([{ '@lang': 'de', '#text': 'Hemd' }]))).toBe('Hemd')
    expect(mapCell('tag1', Repeated.from([{ '#text': 'a' }, 'b']))).toEqual(['a', 'b'])
    expect(issueOf('name', { de: 'Hemd' }).code).toBe('not-text')
  })
})

describe('splitting', () => {
  it('leaves escaped marks alone', () => {
    const rule = { split: ',', unescape: '\\' }
    expect(mapCell('tag1', 'a\\, b, c\\,,d\\', { rule })).toEqual(['a, b', 'c,', 'd\\'])
    expect(mapCell('categories', 'A > B\\, C, D', { rule: { ...rule, separator: '>' } })).toEqual([
      'A/B, C',
      'D',
    ])
  })
})

describe('a cell of very many pieces', () => {
  // In time that grows with their square, the test would run into its limit.
  it('is read in one pass as pairs and as addresses', () => {
    const pairs = { pairs: { separator: ',', equals: '=' } }
    const commas = ','.repeat(5_000_000)
    expect(mapCell('custom_fields', `a=b${commas}x`, { rule: pairs })).toEqual({ a: `b${commas}x` })
    const marks = ',x'.repeat(1_000_000)
    const address = `https://x.example/a${marks}`
    expect(mapCell('alternate_image_urls', address, { rule: { split: ',' } })).toEqual([address])
  })
})

describe('HTML', () => {
  it.each<[string, string]>([
    ['plain', 'plain'],
    ['a\nb', 'a\nb'],
    ['Fish &amp; chips &eacute;', 'Fish & chips é'],
    ['5 < 6 &amp; 7\nmore', '5 < 6 & 7\nmore'],
    ['<p>One  two</p>\n<p>three<br/>four</p>', 'One two\nthree\nfour'],
    ['<div><ul><li>a<li><b>b</b> c</ul></div>end', '- a\n- b c\nend'],
    ['<script>x < y</script><style>p{}</style>t<!-- no -->', 't'],
    ['<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>', 'a b\nc'],
    // As shops export what they store escaped.
    ['&lt;p class=&quot;x&quot;&gt;Soft &amp;amp; warm&lt;/p&gt;&lt;p&gt;Red&lt;/p&gt;', 'Soft & warm\nRed'],
    ['5 &lt; 6 &gt; 4', '5 < 6 > 4'],
    ['<p>The tag &lt;b&gt;</p>', 'The tag <b>'],
    ['x&nbsp;&nbsp;y<span>z</span>', 'x yz'],
    ['<p>unclosed <b>bold', 'unclosed bold'],
  ])('%j reads %j', (html, text) => {
    expect(mapCell('description', html, { rule: { html: 'text' } })).toBe(text)
  })

  it('of any length is read in one pass, unless its elements lie too deep in each other', () => {
    const rule = { html: 'text' } as const
    const wide = '<div><b>a</b></div>'.repeat(2000)
    expect(mapCell('description', wide, { rule })).toBe('a\n'.repeat(2000).trim())
    expect(mapCell('description', `${'<b>'.repeat(500)}a<br>b`, { rule })).toBe('a\nb')
    for (const deep of ['<table>'.repeat(200_000), `${'<b>'.repeat(512)}</p>`, '&lt;b&gt;'.repeat(600)]) {
      expect(issueOf('description', `a${deep}b`, rule)).toMatchObject({
        code: 'html-too-deep',
        field: 'description',
        severity: 'reject',
        remedy: 'close them where they end, or leave out html: text',
      })
    }
    expect(issueOf('tag1', Repeated.from(['a', '<b>'.repeat(600)]), rule).code).toBe('html-too-deep')
  })

  it('of nothing but tags is empty', () => {
    expect(mapCell('description', '<p> </p>', { rule: { html: 'text' } })).toBe('cleared')
    expect(mapCell('tag1', '<b>a</b>|b', { rule: { html: 'text' } })).toEqual(['a', 'b'])
  })
})

describe('parts of money', () => {
  const currency = (cell: unknown, rule: Partial<FieldRule> = {}) =>
    mapCell('price_currency_code', cell, { rule: { part: 'currency', ...rule }, mode: 'delta' })

  it.each<[string, string]>([
    ['34.99 USD', 'USD'],
    ['usd 5', 'USD'],
    ['1.299,00 €', 'EUR'],
    ['₹1,599', 'INR'],
    ['£5', 'GBP'],
    ['12 zł', 'PLN'],
    ['R$ 5', 'BRL'],
    ['US$5', 'USD'],
    ['$ 5 CAD', 'CAD'],
    ['Rp 1.000', 'IDR'],
    ['1.299,- €', 'EUR'],
    ['12.50', 'silent'],
    ['', 'silent'],
  ])('%j has the currency %s', (cell, code) => {
    expect(currency(cell)).toBe(code)
  })

  it('asks what a sign means that several currencies share', () => {
    const issue = issueOf('price_currency_code', 'kr 49', { part: 'currency' })
    expect(issue.code).toBe('currency-ambiguous')
    expect(issue.message).toContain('set when: { "kr": … }')
    expect(currency('kr. 49', { when: { kr: 'DKK' } })).toBe('DKK')
    expect(currency('$5', { when: { $: 'USD', '': 'EUR' } })).toBe('USD')
    expect(currency('5', { when: { $: 'USD', '': 'EUR' } })).toBe('EUR')
    expect(currency('5 €', { when: { $: 'USD' } })).toBe('EUR')
    expect(currency('5 Rs.', { when: { $: 'USD' }, otherwise: 'INR' })).toBe('INR')
    expect(issueOf('price_currency_code', 'free', { part: 'currency' }).code).toBe('not-money')
  })

  it('gives the amount as plain digits', () => {
    expect(mapCell('brand', '1.299,00 €', { rule: { part: 'amount', decimal: ',', thousands: '.' } })).toBe(
      '1299.00',
    )
    expect(mapCell('inventory_level', '5 kr', { rule: { part: 'amount' } })).toBe(5)
    expect(issueOf('brand', '12,50 €', { part: 'amount' }).code).toBe('number-locale')
  })
})

describe('words for availability', () => {
  const words = (cell: unknown, rule: Partial<FieldRule> = {}) =>
    mapCell('availability', cell, { rule: { words: 'availability', ...rule } })

  it.each([
    [
      'InStock',
      'in stock|in_stock|In Stock|available|1|true|YES|https://schema.org/InStock|auf Lager|Sofort verfügbar|En stock|disponible|i lager|På lager|op voorraad|Disponibile|sí',
    ],
    [
      'OutOfStock',
      'out of stock|out_of_stock|sold out|0|false|no|preorder|pre-order|backorder|ausverkauft|nicht auf Lager|Épuisé|en rupture de stock|agotado|slutsåld|ej i lager|uitverkocht|esaurito|http://schema.org/SoldOut',
    ],
    ['Discontinued', 'discontinued|nicht mehr lieferbar|utgått'],
    ['Invisible', 'invisible|hidden'],
  ])('%s is %s', (expected, list) => {
    for (const word of list.split('|')) expect([word, words(word)]).toEqual([word, expected])
  })

  it('leave the first and the last word to the rule', () => {
    expect(words('preorder', { when: { preorder: 'InStock' } })).toBe('InStock')
    expect(words('in stock', { when: { preorder: 'InStock' } })).toBe('InStock')
    expect(words('maybe', { otherwise: 'OutOfStock' })).toBe('OutOfStock')
    expect(words(true)).toBe('InStock')
  })

  it.each(['maybe', '10', '-1', '1.0', 'in stock: 5'])('%j is none', (word) => {
    const issue = issueOf('availability', word, { words: 'availability' })
    expect(issue.code).toBe('availability-unknown-word')
    expect(issue.message).toContain('add it to when')
  })
})

describe('tables', () => {
  const lookup = { file: '/feeds/t.csv', key: 'id', value: 'path' }
  const readTable = () =>
    new Map([
      ['7', 'Home > Kitchen'],
      ['8', 'Garden'],
    ])
  const mapped = (field: string, cell: unknown, rule: Partial<FieldRule> = {}) => {
    const fields = { product_id: columnRule('id'), [field]: { ...columnRule('c'), lookup, ...rule } }
    const { patch, issues } = bindTo(['id', 'c'], fields, 'full', readTable).map(recordOf(['P1', cell]))
    return patch
      ? Object.values(patch.set).find((value) => value !== undefined)
      : issues.map(({ message }) => message)
  }
  it('replace a value, and each element of a list', () => {
    expect(mapped('brand', ' 8 ')).toBe('Garden')
    expect(mapped('brand', 8)).toBe('Garden')
    expect(mapped('categories', '7|8', { separator: '>' })).toEqual(['Home/Kitchen', 'Garden'])
    expect(mapped('tag1', '7,9', { split: ',' })).toEqual([
      expect.stringContaining(
        'found the text "9", which column "id" of t.csv does not hold; add a row for it',
      ),
    ])
  })
})

describe('what cannot have an effect', () => {
  it.each<[string, Partial<FieldRule>, string]>([
    ['price', { html: 'text' }, 'html has an effect only on texts'],
    ['tag1', { json: 'text' }, 'json has an effect only on texts'],
    ['tag1', { newline: '\\n' }, 'newline has an effect only on texts'],
    ['name', { words: 'availability' }, 'words has an effect only on availability'],
    ['price', { lookup: { file: 'f', key: 'k', value: 'v' } }, 'lookup has an effect only on texts'],
    ['price', { part: 'currency' }, 'part has an effect only on texts'],
    ['tag1', { part: 'amount' }, 'part has an effect only on numbers'],
    ['tag1', { unescape: '\\' }, 'unescape has an effect only beside split'],
    ['name', { pairs: { separator: ',', equals: '=' } }, 'pairs has an effect only on custom_fields'],
  ])('%s with %j is refused', (field, rule, problem) => {
    expect(checkRule(field, { ...columnRule('c'), ...rule }).join()).toContain(problem)
  })
})

it.each<[string, Partial<FieldRule>, string]>([
  ['["a","9\\" wide\\nb",null]', {}, 'a\n9" wide\nb'],
  [' "caf\\u00e9" ', {}, 'café'],
  ['[]', {}, 'cleared'],
  ['null', {}, 'cleared'],
  ['[Sale] shoes', {}, '[Sale] shoes'],
  ['["<p>a</p>"]', { html: 'text' }, 'a'],
])('the JSON of %j with %j is %j', (cell, rule, text) => {
  expect(mapCell('description', cell, { rule: { json: 'text', ...rule } })).toBe(text)
})

it('refuses objects in the JSON of a text', () => {
  expect(mapCell('description', '[{"a":1}]', { rule: { json: 'text' } })).toMatchObject([
    { message: expect.stringContaining('whose JSON holds more than texts') },
  ])
})

it.each<[string, Partial<FieldRule>, string]>([
  ['a\\nb', {}, 'a\nb'],
  ['\\na\\n', {}, 'a'],
  ['a\\n', { trim: false }, 'a\n'],
  ['\\n', {}, 'cleared'],
  ['C:\\\\new', {}, 'C:\\new'],
  ['<p>a</p>\\n<p>b</p>', { html: 'text' }, 'a\nb'],
  ['a~b', { newline: '~' }, 'a\nb'],
])('line ends of %j with %j are %j', (cell, rule, text) => {
  expect(mapCell('description', cell, { rule: { newline: '\\n', ...rule } })).toBe(text)
})
