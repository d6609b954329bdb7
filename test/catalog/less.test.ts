import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRule } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, recordOf } from './support.ts'

const columns = ['id', 'price', 'percent', 'off', 'from', 'until']
const less = { percent: 'percent', amount: 'off' }

function read(cells: Partial<Record<string, unknown>>, rule: Partial<FieldRule> = {}, now = '2026-03-05') {
  const list: Record<string, FieldRule> = {
    product_id: columnRule('id'),
    price: { ...columnRule('price'), less, ...rule },
    list_price: { ...columnRule('price'), above: 'price', decimal: rule.decimal ?? '.' },
  }
  const values: Partial<Record<string, unknown>> = { id: 'P1', price: '49', ...cells }
  const record = recordOf(columns.map((column) => values[column] ?? ''))
  const { patch, issues } = bindTo(columns, list).map(record, Date.parse(now))
  return { prices: patch && [patch.set.price, patch.set.list_price], later: patch?.later, issues }
}

describe('what is taken off a price', () => {
  it.each<[Partial<Record<string, unknown>>, Partial<FieldRule>, unknown]>([
    [{}, {}, [49, undefined]],
    [{ percent: '0', off: '0.00' }, {}, [49, undefined]],
    [{ percent: '5' }, {}, [46.55, 49]],
    [{ percent: '33.33 %' }, {}, [32.67, 49]],
    [{ percent: 5 }, {}, [46.55, 49]],
    [{ off: '4.50' }, {}, [44.5, 49]],
    [{ off: '€ 4.50' }, {}, [44.5, 49]],
    [{ off: '49' }, {}, [0, 49]],
    [{ off: '4.50', percent: '10' }, {}, [44.5, 49]],
    [{ off: '0.00', percent: '10' }, {}, [44.1, 49]],
    [
      { percent: '12,5', off: '1,10', price: '1,00' },
      { decimal: ',', less: { percent: 'percent' } },
      [0.88, 1],
    ],
    [{ percent: '10', price: '1.05' }, {}, [0.95, 1.05]],
    [{ percent: '50', price: '1.005' }, {}, [0.503, 1.005]],
    [{ percent: '0.5', price: '0.129' }, {}, [0.128, 0.129]],
    [{ off: 1.125, price: 5000.5 }, { decimal: ',', thousands: '.' }, [4999.38, 5000.5]],
    [{ percent: '7' }, { less: { percent: 'Rebate?' } }, [49, undefined]],
    [{ percent: '10' }, { less: { percent: 'percent?' } }, [44.1, 49]],
  ])('%j with %j comes to %j', (cells, rule, expected) => {
    expect(read(cells, rule)).toMatchObject({ prices: expected, issues: [] })
  })

  it.each<[Partial<Record<string, unknown>>, string, unknown]>([
    [
      { percent: '120' },
      'price: found the text "120" in column "percent", expected a percentage from 0 to 100; correct',
      '120',
    ],
    [{ percent: '-5' }, 'expected a percentage from 0 to 100', '-5'],
    [{ percent: 'ten' }, 'expected a percentage from 0 to 100', 'ten'],
    [{ percent: ['5'] }, 'expected a percentage from 0 to 100', '["5"]'],
    [{ off: '1,50' }, 'found the text "1,50" in column "off", expected an amount to take off', '1,50'],
    [{ off: '50' }, 'price: found 49, of which the discount leaves -1; correct', undefined],
  ])('%j rejects the record: %s', (cells, message, value) => {
    const { prices, issues } = read(cells)
    expect(prices).toBeUndefined()
    expect(issues).toEqual([
      expect.objectContaining({
        code: 'not-a-discount',
        severity: 'reject',
        message: expect.stringMatching(message),
        value,
      }),
    ])
  })

  it('is of the currency of the price', () => {
    const rule: FieldRule = { ...columnRule('price'), less: { amount: 'off' } }
    const currency: FieldRule = { from: { kind: 'value', value: 'EUR' } }
    const fields = { product_id: columnRule('id'), price: rule, price_currency_code: currency }
    const mapOff = (off: string) =>
      bindTo(columns, fields)
        .map(recordOf(['P1', '50.00 EUR', '', off, '', '']))
        .issues.map(({ code }) => code)
    expect(mapOff('5.00 EUR')).toEqual([])
    expect(mapOff('5.00 USD')).toEqual(['currency-mismatch'])
  })

  it('is exact to half a cent', () => {
    const cents = fc.integer({ min: 1, max: 99_999_999 })
    fc.assert(
      fc.property(cents, fc.integer({ min: 0, max: 100 }), (price, percent) => {
        const text = (price / 100).toFixed(2)
        const exact = (BigInt(price) * BigInt(100 - percent) * 10n) / 100n
        const expected = Number((exact + 5n) / 10n) / 100
        expect(read({ price: text, percent: String(percent) }).prices?.[0]).toBe(expected)
      }),
    )
  })

  it('counts in its time only, and changes when that begins and ends', () => {
    const during: FieldRule['during'] = {
      'percent?': { kind: 'ends', from: 'from?', until: 'until?' },
      'nothing?': { kind: 'ends', from: 'none?', until: undefined },
    }
    const cells = { percent: '10', from: '2026-03-04', until: '2026-03-06' }
    const ended = { at: Date.parse('2026-03-07'), set: { price: 49 }, clear: ['list_price'] }
    const begun = { at: Date.parse('2026-03-04'), set: { price: 44.1, list_price: 49 } }
    expect(read(cells, { during })).toMatchObject({ prices: [44.1, 49], later: [ended] })
    expect(read(cells, { during }, '2026-01-01')).toMatchObject({
      prices: [49, undefined],
      later: [begun, ended],
    })
    const open = { percent: '10', from: '0000-00-00', until: '0000-00-00 00:00:00' }
    expect(read(open, { during })).toMatchObject({ prices: [44.1, 49], issues: [] })
  })

  it('needs its columns, unless they are marked', () => {
    const of = (name: string) => () =>
      bindTo(columns, {
        product_id: columnRule('id'),
        price: { ...columnRule('price'), less: { amount: name } },
      })
    expect(of('Rebate')).toThrow(/Rebate/)
    expect(of('Rebate?')).not.toThrow()
  })

  it('is found in objects, which have no key with the mark', () => {
    const price: FieldRule = {
      ...columnRule('price'),
      less: { percent: 'off?' },
      during: { 'off?': { kind: 'ends', from: undefined, until: 'end?' } },
    }
    const item = { id: columnRule('code'), price }
    const skus: FieldRule = { from: { kind: 'each', each: 'offers', key: undefined, item } }
    const offers = [
      { code: 'A', price: 10, off: 50 },
      { code: 'B', price: 10, off: 50, end: '2026-01-01' },
    ]
    const bound = bindTo(['id', 'offers'], { product_id: columnRule('id'), skus })
    expect(bound.map(recordOf(['P1', offers]), Date.parse('2026-03-05')).patch?.set.skus).toMatchObject([
      { price: 5 },
      { price: 10 },
    ])
  })

  it('is for prices that are read', () => {
    const problem = 'less has an effect only on price and list_price that are read'
    expect(checkRule('inventory_level', { ...columnRule('c'), less })).toEqual([problem])
    expect(checkRule('price', { from: { kind: 'value', value: 5 }, less })).toEqual([problem])
  })
})
