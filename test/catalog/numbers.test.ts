import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, issueOf, mapCell, recordOf, valueRule } from './support.ts'

type Locale = Pick<FieldRule, 'decimal' | 'thousands'>

const indian: Locale = { thousands: ',' }
const german: Locale = { decimal: ',', thousands: '.' }

describe('price cells', () => {
  it.each<[string, Locale, number]>([
    ['6900', {}, 6900],
    ['14.99', {}, 14.99],
    ['14.99 USD', {}, 14.99],
    ['15.00 EUR', {}, 15],
    ['7900.00 SEK', {}, 7900],
    ['49SEK', {}, 49],
    ['$399.00', {}, 399],
    ['CHF 12.50', {}, 12.5],
    ['CHF\u00a012.50', {}, 12.5],
    ['12.50\u202f€', {}, 12.5],
    ['kr 49', {}, 49],
    ['49 kr.', {}, 49],
    ['Rs.129', {}, 129],
    ['Rs. 129.50', {}, 129.5],
    ['US$ 5', {}, 5],
    ['$ 5 USD', {}, 5],
    ['12.50 zł', {}, 12.5],
    ['.50', {}, 0.5],
    ['$.50', {}, 0.5],
    ['007.10', {}, 7.1],
    ['0', {}, 0],
    ['-5', {}, -5],
    ['-$5.00', {}, -5],
    ['$ -5.00', {}, -5],
    ['−5.00 €', {}, -5],
    ['-0', {}, 0],
    ['₹1,29,900', indian, 129900],
    ['₹58,990', indian, 58990],
    ['₹1,245.50', indian, 1245.5],
    ['12,34,56,789', indian, 123456789],
    ['1,299,900.5', indian, 1299900.5],
    ['12,50', { decimal: ',' }, 12.5],
    ['24,34', { decimal: ',' }, 24.34],
    ['1.299,50 €', german, 1299.5],
    ['1.299', german, 1299],
    ['1 299,50', { decimal: ',', thousands: ' ' }, 1299.5],
    ['1\u00a0299\u202f000,50 kr', { decimal: ',', thousands: ' ' }, 1299000.5],
    ["1'299.50", { thousands: "'" }, 1299.5],
    ['1’299.50', { thousands: "'" }, 1299.5],
    ['4,417,08', { decimal: ',', thousands: ',' }, 4417.08],
    ['4,417', { decimal: ',', thousands: ',' }, 4417],
    ['417,0', { decimal: ',', thousands: ',' }, 417],
    ['1,29,900', { decimal: ',', thousands: ',' }, 129900],
    ['417', { decimal: ',', thousands: ',' }, 417],
    ['1.299', { decimal: '.', thousands: '.' }, 1299],
    ['12 345,67', { decimal: ',', thousands: ' ' }, 12345.67],
    ['12\u2009345,67 €', { decimal: ',', thousands: ' ' }, 12345.67],
    ['12\u2007345,67', { decimal: ',', thousands: ' ' }, 12345.67],
    ['EUR 12,90', german, 12.9],
    ['12,90\u00a0€', german, 12.9],
    ['€12,90', german, 12.9],
    ['USD 1,234.5', indian, 1234.5],
    ['₹1,599.00', indian, 1599],
    ['1 299 kr', { thousands: ' ' }, 1299],
    ['kr\u00a01\u00a0299:-', { thousands: ' ' }, 1299],
    ['299:-', {}, 299],
    ['1.234,-', german, 1234],
    ['1.234,- €', german, 1234],
    ['€ 1.234,--', german, 1234],
    ['CHF 12.–', {}, 12],
    ['12,=', german, 12],
    ['kr. 1.299,50', german, 1299.5],
    ['R$ 1.299,50', german, 1299.5],
    ['Rp1.299.000', german, 1299000],
    ['S$12.90', {}, 12.9],
    ['CHF 1ʼ234.50', { thousands: "'" }, 1234.5],
    ['1´234.50', { thousands: "'" }, 1234.5],
    ['\u200e12.50\u00a0€', {}, 12.5],
    ['\ufeff1\u200b299', {}, 1299],
    ['-1.299,-', german, -1299],
  ])('%j under %j is %d', (cell, locale, expected) => {
    const value = mapCell('price', cell, { rule: locale })
    expect(value).toBe(expected)
  })

  it.each<[string, Locale, string, string]>([
    ['12,50', {}, 'number-locale', 'set decimal: ","'],
    ['12,500', {}, 'number-locale', 'thousands: ","'],
    ['1.299,50', {}, 'number-locale', 'set decimal: "," and thousands: "."'],
    ['1,299.50', {}, 'number-locale', 'set decimal: "." and thousands: ","'],
    ['1.299.000', {}, 'number-locale', 'set thousands: "."'],
    ['4,417,08', {}, 'number-locale', 'set both decimal and thousands to ","'],
    ['1 299', {}, 'number-locale', 'set thousands: " "'],
    ['12,50', indian, 'number-locale', 'set decimal: ","'],
    ['1,2345', indian, 'number-locale', 'decimal'],
    ['0,125', indian, 'number-locale', 'decimal'],
    ['1,29,90', indian, 'number-locale', 'both'],
    ['1.5.5', {}, 'number-locale', '"."'],
    ['12.', { decimal: '.' }, 'not-a-number', 'digits'],
    ['1e5', {}, 'not-a-number', 'write the digits out'],
    ['1.5E+3', {}, 'not-a-number', 'scientific'],
    ['free', {}, 'not-a-number', 'when'],
    ['12 kg', {}, 'not-a-number', 'no number'],
    ['(12.50)', {}, 'not-a-number', 'no number'],
    ['12.50-', {}, 'not-a-number', 'no number'],
    ['1.234,-', {}, 'number-locale', 'set decimal: "," and thousands: "."'],
    ['299:50', {}, 'not-a-number', 'no number'],
    ['12,90 €*', german, 'not-a-number', 'no number'],
    ['12,90 €/kg', german, 'not-a-number', 'no number'],
    ['1 299', german, 'number-locale', 'thousands: " "'],
    ['12 to 15', {}, 'not-a-number', 'no number'],
    ['EUR 12 SEK', {}, 'not-a-number', 'no number'],
    ['1234567890123456.5', {}, 'number-too-long', '15 digits'],
    ['Infinity', {}, 'not-a-number', 'no number'],
    ['0x1f', {}, 'not-a-number', 'no number'],
  ])('%j under %j is refused as %s and says %j', (cell, locale, code, words) => {
    const issue = issueOf('price', cell, locale)
    expect(issue).toMatchObject({
      field: 'price',
      code,
      severity: 'reject',
      productId: 'P1',
      record: 1,
      line: 2,
    })
    expect(issue.message).toContain(words)
    expect(issue.message).toContain('(column "cell")')
    expect(issue.message).toContain(cell)
  })

  it('takes JSON numbers as they are', () => {
    expect(mapCell('price', 12.5, { rule: german })).toBe(12.5)
    expect(issueOf('price', true).code).toBe('not-a-number')
    expect(issueOf('price', { amount: 5 }).code).toBe('not-a-number')
    expect(issueOf('price', Number.POSITIVE_INFINITY).code).toBe('not-a-number')
  })

  it('reads back every amount that a locale writes', () => {
    const locales: [string, Locale][] = [
      ['en-US', indian],
      ['en-IN', indian],
      ['de-DE', german],
      ['fr-FR', { decimal: ',', thousands: ' ' }],
      ['de-CH', { thousands: "'" }],
    ]
    fc.assert(
      fc.property(
        fc.integer({ min: -1e11, max: 1e11 }),
        fc.constantFrom(...locales),
        (cents, [tag, locale]) => {
          const amount = cents / 100
          const text = new Intl.NumberFormat(tag, { minimumFractionDigits: 2 }).format(amount)
          expect(mapCell('price', text, { rule: locale })).toBe(amount + 0)
          const money = new Intl.NumberFormat(tag, { style: 'currency', currency: 'SEK' }).format(amount)
          expect(mapCell('price', money, { rule: locale })).toBe(amount + 0)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('never makes a number of another size out of an arbitrary text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[\d., ']{1,12}$/), (text) => {
        const value = mapCell('price', text, { rule: indian })
        if (typeof value === 'number') expect(value).toBe(Number(text.trim().replaceAll(',', '')))
      }),
      { numRuns: 500 },
    )
  })
})

describe('numbers of other kinds', () => {
  it.each<[string, unknown, Locale, unknown]>([
    ['inventory_level', '12', {}, 12],
    ['inventory_level', '12.0', {}, 12],
    ['inventory_level', '1,200', indian, 1200],
    ['inventory_level', '-3', {}, -3],
    ['inventory_level', 12, {}, 12],
    ['rating_value', '4.2', {}, '4.2'],
    ['rating_value', '4.0', {}, '4.0'],
    ['rating_value', '4,2', { decimal: ',' }, '4.2'],
    ['rating_value', 4.2, {}, '4.2'],
    ['review_count', '2,255', indian, '2255'],
    ['review_count', 2255, {}, '2255'],
    ['review_count', '12.0', {}, '12'],
  ])('%s of %j under %j is %j', (field, cell, locale, expected) => {
    expect(mapCell(field, cell, { rule: locale })).toBe(expected)
  })

  it.each([
    ['inventory_level', '12.5', 'not-an-integer'],
    ['inventory_level', 12.5, 'not-an-integer'],
    ['inventory_level', '5 EUR', 'not-a-number'],
    ['review_count', '1.5', 'not-an-integer'],
    ['review_count', '2,255', 'number-locale'],
    ['rating_value', 'Get', 'not-a-number'],
    ['inventory_level', 1e300, 'not-a-number'],
    ['inventory_level', 2 ** 53, 'number-too-long'],
  ])('%s refuses %j as %s', (field, cell, code) => {
    expect(issueOf(field, cell).code).toBe(code)
  })
})

it.each(['price', 'inventory_level'])(
  'a million digits are no %s, and take no minutes to find out',
  (field) => {
    expect(issueOf(field, '9'.repeat(1_000_000)).code).toBe('not-a-number')
  },
)

describe('currencies in price cells', () => {
  const columns = ['id', 'price', 'was', 'currency']
  const fields = { product_id: columnRule('id'), price: columnRule('price'), list_price: columnRule('was') }

  it('rejects a code that contradicts the currency of the record', () => {
    const bound = bindTo(columns, { ...fields, price_currency_code: columnRule('currency') })
    const { patch, issues } = bound.map(recordOf(['P1', '12.50 EUR', 'SEK 99', 'sek']))
    expect(patch).toBeUndefined()
    expect(issues.map(({ field, code }) => [field, code])).toEqual([['price', 'currency-mismatch']])
    expect(issues[0]?.message).toContain('EUR')
    expect(issues[0]?.message).toContain('SEK')
  })

  it.each([
    ['EUR', 'EUR', []],
    ['usd', 'USD', []],
    ['€', 'EUR', []],
    ['US$', 'USD', []],
    ['$', '$', ['currency-unknown']],
    ['US Dollar', 'US Dollar', ['currency-unknown']],
  ])('the currency %s is sent as %s', (cell, sent, codes) => {
    const bound = bindTo(columns, { ...fields, price_currency_code: columnRule('currency') })
    const { patch, issues } = bound.map(recordOf(['P1', '12.50', '99', cell]))
    expect(patch?.set.price_currency_code).toBe(sent)
    expect(issues.map(({ code, severity }) => [code, severity])).toEqual(codes.map((code) => [code, 'warn']))
  })

  it.each([
    ['£1.90', 'EUR', 1],
    ['£1.90', 'GBP', 0],
    ['9,90 zł', 'EUR', 1],
    ['₺9,90', 'TRY', 0],
    ['9,90 Kč', 'PLN', 1],
    ['£1,90 EUR', 'EUR', 1],
    // These are signs of several currencies.
    ['$9,90', 'EUR', 0],
    ['9,90 kr', 'EUR', 0],
    ['9,90 kr', 'SEK', 0],
  ])('takes %s as %s: %d issues', (price, currency, count) => {
    const read: FieldRule = { ...columnRule('price'), decimal: price.includes(',') ? ',' : '.' }
    const bound = bindTo(columns, { ...fields, price: read, price_currency_code: columnRule('currency') })
    expect(bound.map(recordOf(['P1', price, '', currency])).issues).toHaveLength(count)
  })

  it('leaves the meaning of a sign to when', () => {
    const currency: FieldRule = { ...columnRule('price'), part: 'currency', when: { '£': 'EGP' } }
    const bound = bindTo(columns, { ...fields, price_currency_code: currency })
    expect(bound.map(recordOf(['P1', '£5', '£6', ''])).patch?.set.price_currency_code).toBe('EGP')
    expect(bound.map(recordOf(['P1', '£5', '€6', ''])).issues).toMatchObject([
      { field: 'list_price', code: 'currency-mismatch' },
    ])
  })

  it('holds against a constant too, and says nothing where the record has no currency', () => {
    const constant = bindTo(columns, { ...fields, price_currency_code: valueRule('USD') })
    expect(constant.map(recordOf(['P1', '12.50 USD', '13.00', ''])).issues).toEqual([])
    expect(constant.map(recordOf(['P1', '12.50 eur', '13.00', ''])).issues).toHaveLength(1)
    expect(bindTo(columns, fields).map(recordOf(['P1', '12.50 EUR', '13 SEK', ''])).issues).toEqual([])
  })
})
