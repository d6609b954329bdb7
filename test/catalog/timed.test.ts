import { describe, expect, it } from 'vitest'
import { checkRule } from '../../src/catalog/mapping.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, recordOf } from './support.ts'

const columns = ['id', 'price', 'sale', 'span', 'from', 'until']
const interval: FieldRule = {
  ...columnRule('sale', 'price'),
  during: { sale: { kind: 'interval', column: 'span' } },
}
const ends: FieldRule = {
  ...columnRule('sale', 'price'),
  during: { sale: { kind: 'ends', from: 'from', until: 'until' } },
}
const at = (time: string) => Date.parse(time)

function mapAt(time: string, rule: FieldRule, cells: Partial<Record<string, string>>) {
  const list: Record<string, FieldRule> = {
    product_id: columnRule('id'),
    price: rule,
    list_price: columnRule('price'),
    brand: columnRule('id'),
  }
  const values: Record<string, string | undefined> = { id: 'P1', price: '10', sale: '8', ...cells }
  const { patch, issues } = bindTo(columns, list).map(
    recordOf(columns.map((column) => values[column] ?? '')),
    at(time),
  )
  if (!patch) return issues.map(({ code }) => code)
  const { set, later } = patch
  return [
    set.price,
    ...(later ?? []).map((then) =>
      [new Date(then.at).toISOString().slice(0, 16), then.set, then.clear].flat(),
    ),
  ]
}

describe('a cell that counts for a time', () => {
  const span = '2026-03-01T13:00-0800/2026-03-11T15:30-0800'
  const begins = ['2026-03-01T21:00', { price: 8 }]
  const ended = ['2026-03-11T23:30', { price: 10 }]

  it.each<[string, unknown]>([
    ['2026-03-01T20:59:59Z', [10, begins, ended]],
    ['2026-03-01T21:00:00Z', [8, ended]],
    ['2026-03-11T23:29:59Z', [8, ended]],
    ['2026-03-11T23:30:00Z', [10]],
  ])('at %s, with what will be', (time, expected) => {
    expect(mapAt(time, interval, { span })).toEqual(expected)
  })

  it.each<[string, Partial<FieldRule>, string, unknown]>([
    ['', {}, '2026-01-01T00:00Z', [8]],
    ['/2026-01-31', {}, '2026-01-31T23:59:59Z', [8, ['2026-02-01T00:00', { price: 10 }]]],
    ['2026-02-01/', {}, '2026-01-31T23:00Z', [10, ['2026-02-01T00:00', { price: 8 }]]],
    [
      '2026-02-01 08:00/2026-02-02 24:00',
      { zone: 'Europe/Berlin' },
      '2026-02-01T07:00Z',
      [8, ['2026-02-02T23:00', { price: 10 }]],
    ],
    [
      '2026-03-28/2026-03-29',
      { zone: 'Europe/Berlin' },
      '2026-03-29T00:00Z',
      [8, ['2026-03-29T22:00', { price: 10 }]],
    ],
    ['2026-02-01T00:00:00+05:30/', {}, '2026-01-31T18:29Z', [10, ['2026-01-31T18:30', { price: 8 }]]],
    [
      '01/02/2026/03/02/2026',
      { date: 'DD/MM/YYYY' },
      '2026-02-03T00:00Z',
      [8, ['2026-02-04T00:00', { price: 10 }]],
    ],
    [
      '1 Feb 2026 08:05/',
      { date: 'D MMM YYYY HH:mm' },
      '2026-02-01T08:04Z',
      [10, ['2026-02-01T08:05', { price: 8 }]],
    ],
    [
      '1770000000/1780000000',
      { date: 'unix' },
      '2026-02-02T02:40Z',
      [8, ['2026-05-28T20:26', { price: 10 }]],
    ],
    ['soon', {}, '2026-01-01T00:00Z', ['not-a-time']],
    ['2026-02-30/', {}, '2026-01-01T00:00Z', ['not-a-time']],
    ['2026-02-03/2026-02-01', {}, '2026-01-01T00:00Z', ['not-a-time']],
    ['2026-02-01T25:00/', {}, '2026-01-01T00:00Z', ['not-a-time']],
    ['01.02.2026/', {}, '2026-01-01T00:00Z', ['not-a-time']],
  ])('in the interval %j with %j at %s', (cell, part, time, expected) => {
    expect(mapAt(time, { ...interval, ...part }, { span: cell })).toEqual(expected)
  })

  it('between the ends of two columns', () => {
    const until = { from: '2026-02-01', until: '2026-02-02' }
    expect(mapAt('2026-01-01T00:00Z', ends, until)).toEqual([
      10,
      ['2026-02-01T00:00', { price: 8 }],
      ['2026-02-03T00:00', { price: 10 }],
    ])
    expect(mapAt('2026-02-01T00:00Z', ends, { until: '2026-02-02' })).toEqual([
      8,
      ['2026-02-03T00:00', { price: 10 }],
    ])
    expect(mapAt('2026-02-01T00:00Z', ends, { until: 'x' })).toEqual(['not-a-time'])
  })

  it('needs no time when it is empty, and changes nothing where the value stays the same', () => {
    expect(mapAt('2026-01-01T00:00Z', interval, { sale: '', span: 'nonsense' })).toEqual([10])
    expect(mapAt('2026-01-01T00:00Z', interval, { sale: '10', span: '2026-02-01/' })).toEqual([10])
  })

  it('is wrong now when it is wrong later', () => {
    expect(mapAt('2026-01-01T00:00Z', interval, { sale: 'x', span: '2026-02-01/' })).toEqual(['not-a-number'])
  })

  it('clears what need not be there, and keeps what must', () => {
    const rule: FieldRule = { ...columnRule('sale'), during: { sale: { kind: 'interval', column: 'span' } } }
    const bound = bindTo(columns, {
      product_id: columnRule('id'),
      list_price: rule,
      price: { ...rule, empty: 'keep' },
    })
    const { patch } = bound.map(recordOf(['P1', '', '8', '/2026-01-31', '', '']), at('2026-01-01'))
    expect(patch).toEqual({
      productId: 'P1',
      set: { list_price: 8, price: 8 },
      clear: [],
      later: [{ at: at('2026-02-01'), set: {}, clear: ['list_price'] }],
    })
  })

  it('may lie in members, and in rows', () => {
    const item = { id: columnRule('id'), price: interval }
    const bound = bindTo(columns, {
      product_id: columnRule('id'),
      skus: { from: { kind: 'each', each: 'rows', key: undefined, item } },
    })
    const { patch } = bound.map(recordOf(['P1', '10', '8', '/2026-01-31', '', '']), at('2026-01-01'))
    expect(patch?.set.skus).toEqual([{ id: 'P1', price: 8 }])
    expect(patch?.later).toEqual([
      { at: at('2026-02-01'), set: { skus: [{ id: 'P1', price: 10 }] }, clear: [] },
    ])
    const row = (record: number, sale: string) => recordOf(['P1', '10', sale, '/2026-01-31', '', ''], record)
    const lowest = bindTo(columns, { product_id: columnRule('id'), price: { ...interval, rows: 'min' } })
    const grouped = lowest.map({ ...row(1, '8'), rows: [row(1, '8'), row(2, '7')] }, at('2026-01-01'))
    expect([grouped.patch?.set.price, grouped.patch?.later?.[0]?.set.price]).toEqual([7, 10])
  })

  it('does not need the column of its times when it is optional', () => {
    const without = ['id', 'price', 'sale']
    const fields = { product_id: columnRule('id'), price: { ...interval, optional: true } }
    expect(bindTo(without, fields).map(recordOf(['P1', '10', '8'])).patch?.set.price).toBe(8)
    expect(() => bindTo(without, { ...fields, price: interval })).toThrow('"column":"span"')
  })

  it.each<[Partial<FieldRule>, string]>([
    [{ zone: 'Mars/Base' }, 'zone: found "Mars/Base", expected a time zone'],
    [{ date: 'DD.MM' }, 'date: "DD.MM" must hold'],
    [{ date: 'DD.MM.YYYY HH' }, 'date: "DD.MM.YYYY HH" must hold'],
  ])('%j is refused', (part, problem) => {
    expect(checkRule('price', { ...interval, ...part }).join()).toContain(problem)
  })
})

describe('a list price with a time beside a price without one', () => {
  const timed: Partial<FieldRule> = { during: { sale: { kind: 'interval', column: 'span' } } }
  const fields = (list: Partial<FieldRule>, price: Partial<FieldRule> = {}): Record<string, FieldRule> => ({
    product_id: columnRule('id'),
    price: { ...columnRule('price'), ...price },
    list_price: { ...columnRule('sale'), ...timed, ...list },
  })
  const span = '2026-03-01/2026-03-31'
  const rowOf = (price: string, was: string) => ['P1', price, was, span, '', '']
  const now = at('2026-02-01')

  it('is held against that price when its time comes', () => {
    const of = (was: string) =>
      bindTo(columns, fields({ above: 'price' })).map(recordOf(rowOf('30', was)), now).patch?.later
    expect(of('10')).toBeUndefined()
    expect(of('40')).toMatchObject([{ set: { list_price: 40 } }, { clear: ['list_price'] }])
  })

  it('is then of the row that gives the price, too', () => {
    const rows = [rowOf('30', '99'), rowOf('20', '25')].map((cells, index) => recordOf(cells, index + 1))
    const record = { ...recordOf(rowOf('30', '99')), rows }
    const { patch } = bindTo(columns, fields({ rows: 'price' }, { rows: 'min' })).map(record, now)
    expect(patch?.later).toMatchObject([{ set: { list_price: 25 } }, { clear: ['list_price'] }])
  })
})

describe('times in a form of their own', () => {
  const read = (span: string, date: string) =>
    bindTo(columns, { product_id: columnRule('id'), price: { ...interval, date } }).map(
      recordOf(['P1', '10', '8', span, '', '']),
      at('2026-03-05'),
    )

  it.each([
    ['3/1/26 / 3/9/26', 'M/D/YY', 8],
    ['2026-03-01/2026-03-09', 'M/D/YY', 8],
    ['2026-03-01T00:00Z/2026-03-04', 'M/D/YY', 10],
  ])('%s with %s, beside ISO 8601: %d', (span, date, price) => {
    expect(read(span, date).patch?.set.price).toBe(price)
  })

  it.each([
    // Which of the two is the month?
    ['01/03/2026 / 05/03/2026', 'M/D/YY'],
    // No second reading for what has the form, but is no day.
    ['2026-03-15/2026-03-20', 'YYYY-DD-MM'],
  ])('%s is none of %s', (span, date) => {
    const [issue] = read(span, date).issues
    expect(issue).toMatchObject({ code: 'not-a-time', severity: 'reject' })
    expect(issue?.remedy).toContain('set date: to its form')
  })
})
