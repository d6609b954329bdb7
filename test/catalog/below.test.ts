import { describe, expect, it } from 'vitest'
import { checkRule } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, recordOf, valueRule } from './support.ts'

const columns = ['id', 'sale', 'price', 'span']
const rule: FieldRule = { ...columnRule('sale', 'price'), below: 'price' }

function read(cells: readonly unknown[], parts: Partial<FieldRule> = {}, now = '2026-03-05') {
  const bound = bindTo(columns, { product_id: columnRule('id'), price: { ...rule, ...parts } })
  return bound.map(recordOf(['P1', ...cells]), Date.parse(now))
}

describe('a number above the limit in another column', () => {
  it.each<[readonly unknown[], Partial<FieldRule>, unknown]>([
    [['30', '25'], {}, 25],
    [['20', '25'], {}, 20],
    [['25.00', '25'], {}, 25],
    [['', '25'], {}, 25],
    [['30', ''], {}, 30],
    [[30, 25], {}, 25],
    [['1.030,00 €', '250,00 €'], { decimal: ',', thousands: '.' }, 250],
    [['sale 30', 'list 25'], { pattern: { regex: '[0-9]+', result: undefined } }, 25],
    [['30 EUR', '25 EUR'], { part: 'amount' }, 25],
    // What the rule takes for no price is no limit.
    [['30', '0'], { when: { '0': '', '30': 30 } }, 30],
    [['30', 'x'], { when: { x: '', '30': 30 } }, 30],
    [['30', 'none'], { pattern: { regex: '^(?:none)?(.*)$', result: undefined } }, 30],
    [['30', '25'], { less: { percent: 'off?' } }, 25],
    [['30', '25'], columnRule('sale'), undefined],
    [['30', '25'], { ...columnRule('sale', 'price'), below: 'price?' }, 25],
    [['30', '25'], { below: 'absent?' }, 30],
  ])('of %j with %j comes to %j', (cells, parts, expected) => {
    const { patch, issues } = read([...cells, ''], { empty: 'keep', ...parts })
    expect(issues).toEqual([])
    expect(patch?.set.price).toBe(expected)
  })

  it('needs a limit that can be read', () => {
    expect(read(['30', 'on request', '']).issues).toMatchObject([
      { code: 'not-a-number', value: 'on request' },
    ])
  })

  it('is said to be wrong once, though several fields read it', () => {
    const fields = { product_id: columnRule('id'), price: rule, list_price: columnRule('price') }
    const of = (...cells: string[]) =>
      bindTo(columns, fields)
        .map(recordOf(['P1', ...cells, '']))
        .issues.map(({ field, value }) => [field, value])
    expect(of('30', 'on request')).toEqual([['price', 'on request']])
    expect(of('', 'on request')).toEqual([['price', 'on request']])
    expect(of('cheap', 'on request')).toEqual([
      ['price', 'cheap'],
      ['list_price', 'on request'],
    ])
    const priced = { ...fields, price_currency_code: valueRule('SEK') }
    const other = bindTo(columns, priced).map(recordOf(['P1', '9 EUR', '10 EUR', '']))
    expect(other.issues.map(({ field }) => field)).toEqual(['price', 'list_price'])
  })

  it('counts neither now nor when its time comes', () => {
    const during: FieldRule['during'] = { sale: { kind: 'interval', column: 'span' } }
    const span = '2026-03-01/2026-03-31'
    expect(read(['30', '25', span], { during }).patch).toMatchObject({ set: { price: 25 } })
    expect(read(['30', '25', span], { during }, '2026-01-01').patch?.later).toBeUndefined()
    expect(read(['20', '25', span], { during }, '2026-01-01').patch?.later).toMatchObject([
      { set: { price: 20 } },
      { set: { price: 25 } },
    ])
  })

  it('does not count in its row', () => {
    const rowsOf = (...all: string[][]) => all.map((cells, index) => recordOf(['P1', ...cells, ''], index))
    const read = (parts: Partial<FieldRule>, rows: ReturnType<typeof rowsOf>) =>
      bindTo(columns, { product_id: columnRule('id'), price: { ...rule, rows: 'min', ...parts } }).map({
        ...recordOf(rows[0]?.cells ?? []),
        rows,
      }).patch?.set.price
    expect(read({}, rowsOf(['10', '40'], ['30', '35']))).toBe(10)
    expect(read({}, rowsOf(['50', '40'], ['60', '35']))).toBe(35)
    // Against that of the record.
    expect(read({ ...columnRule('sale'), below: '../price' }, rowsOf(['45', '40'], ['30', '20']))).toBe(30)
  })

  it.each(['price', 'price?', '../price'])('does not count in a member of a list, against %s', (below) => {
    const item = { id: columnRule('code'), price: { ...columnRule('sale', 'price'), below } }
    const skus: FieldRule = { from: { kind: 'each', each: 'offers', key: undefined, item } }
    const offers = [
      { code: 'A', sale: '30', price: '25' },
      { code: 'B', sale: '20', price: '25' },
    ]
    const bound = bindTo(['id', 'offers', 'price'], { product_id: columnRule('id'), skus })
    expect(bound.map(recordOf(['P1', offers, '25'])).patch?.set.skus).toMatchObject([
      { id: 'A', price: 25 },
      { id: 'B', price: 20 },
    ])
  })

  it('needs its column, unless that is marked', () => {
    const of = (below: string) => () =>
      bindTo(['id', 'sale'], { product_id: columnRule('id'), price: { ...rule, below } })
    expect(of('price')).toThrow(/price/)
    expect(of('price?')).not.toThrow()
  })

  it('is for numbers that are read', () => {
    const problem = 'below has an effect only on numbers that are read'
    expect(checkRule('brand', { ...columnRule('c'), below: 'd' })).toEqual([problem])
    expect(checkRule('price', { from: { kind: 'value', value: 5 }, below: 'd' })).toEqual([problem])
  })
})
