import { describe, expect, it } from 'vitest'
import { checkRule } from '../../src/catalog/mapping.ts'
import type { FeedMode } from '../../src/config/model.ts'
import type { FieldRule } from '../../src/config/rule-model.ts'
import { bindTo, columnRule, recordOf } from './support.ts'

const columns = ['id', 'name 1', 'value 1', 'name 2', 'value 2', 'Meta: a', 'Meta: b', 'attributes']
const entries = (rules: Record<string, FieldRule>): FieldRule => ({
  from: { kind: 'entries', entries: rules },
})
const attributes = entries({
  '{name 1}': columnRule('value 1'),
  '{name 2}': columnRule('value 2'),
  fixed: columnRule('id'),
})
const meta: FieldRule = { from: { kind: 'matching', regex: '^Meta: (?<name>.+)$' } }
const pairs: FieldRule = { ...columnRule('attributes'), pairs: { separator: ',', equals: '=' } }

function mapCells(rule: FieldRule, cells: readonly unknown[], mode: FeedMode = 'full') {
  const { patch, issues } = bindTo(columns, { product_id: columnRule('id'), custom_fields: rule }, mode).map(
    recordOf(['P1', ...cells]),
  )
  return patch
    ? (patch.set.custom_fields ?? (patch.clear.length > 0 ? 'cleared' : 'silent'))
    : issues.map(({ message }) => message)
}

describe('custom fields', () => {
  it('are called by cells, in order and without those that have no name', () => {
    expect(JSON.stringify(mapCells(attributes, ['Size', 'L', 'Colour', 'red']))).toBe(
      '{"Colour":"red","Size":"L","fixed":"P1"}',
    )
    expect(mapCells(attributes, ['', 'L', 'Colour', ''])).toEqual({ fixed: 'P1' })
    expect(mapCells(attributes, ['Size', 'L', 'Size', 'M'])).toEqual({ Size: 'L', fixed: 'P1' })
    expect(mapCells(attributes, ['__proto__', 'L'])).toEqual([
      expect.stringContaining('custom_fields.__proto__: found a reserved name'),
    ])
    expect(mapCells(entries({ '{{x}}': columnRule('value 1') }), ['', 'L'])).toEqual({ '{x}': 'L' })
  })

  it('are all columns whose names match', () => {
    expect(mapCells(meta, ['', '', '', '', ' 1 ', '2'])).toEqual({ a: '1', b: '2' })
    expect(mapCells(meta, ['', '', '', '', '', '2'])).toEqual({ b: '2' })
    expect(mapCells(meta, [])).toBe('cleared')
    expect(mapCells({ from: { kind: 'matching', regex: '^Other (?<name>.+)$' } }, [])).toBe('silent')
    const source = { id: 'P1', 'Meta: x': 7, 'Meta: a': '', other: 1 }
    const bound = bindTo(['id'], { product_id: columnRule('id'), custom_fields: meta })
    expect(bound.map({ ...recordOf(['P1']), source }).patch?.set.custom_fields).toEqual({ x: '7' })
    const without = { ...recordOf(['P1']), source: { id: 'P1' } }
    expect(bound.map(without).patch?.clear).toEqual(['custom_fields'])
    const delta = bindTo(['id'], { product_id: columnRule('id'), custom_fields: meta }, 'delta')
    expect(delta.map(without).patch?.clear).toEqual([])
  })

  it.each<[string, unknown]>([
    ['colour=red,size=L', { colour: 'red', size: 'L' }],
    [' colour = red , size=', { colour: 'red' }],
    ['note="a, b=c ""quoted""",size=L', { note: 'a, b=c "quoted"', size: 'L' }],
    ['note=first, second,size=L', { note: 'first, second', size: 'L' }],
    ['width=5",height=7"', { width: '5"', height: '7"' }],
    ['size="L" or "M",x=1', { size: '"L" or "M"', x: '1' }],
    ['note="never closed,size=L', { note: '"never closed', size: 'L' }],
    ['formula=a=b', { formula: 'a=b' }],
    ['colour=red,,size=L, ,', { colour: 'red', size: 'L' }],
    ['note=a,,b,size=L', { note: 'a,,b', size: 'L' }],
    ['', 'cleared'],
    ['a=,b=', 'cleared'],
    ['no pair', [expect.stringContaining('found "no pair", expected a name')]],
    ['=5', [expect.stringContaining('expected a name')]],
    ['__proto__=5', [expect.stringContaining('reserved name')]],
  ])('are the pairs of %j', (cell, expected) => {
    expect(mapCells(pairs, ['', '', '', '', '', '', cell])).toEqual(expected)
  })

  it('come from several rules, the first of which counts', () => {
    const rule: FieldRule = { from: { kind: 'parts', parts: [pairs, meta, attributes] } }
    expect(mapCells(rule, ['a', 'L', 'new', 'N', 'A', 'B', 'b=pair'])).toEqual({
      a: 'A',
      b: 'pair',
      fixed: 'P1',
      new: 'N',
    })
    expect(mapCells({ from: { kind: 'parts', parts: [pairs, meta] } }, [])).toBe('cleared')
    const bound = bindTo(columns, { product_id: columnRule('id'), custom_fields: rule }, 'delta')
    expect(bound.map(recordOf(['P1', 'a', '', '', '', 'A', '', 'b=pair'])).patch).toEqual({
      productId: 'P1',
      set: { custom_fields: { a: 'A', b: 'pair', fixed: 'P1' } },
      clear: [],
      keepEntries: { allBut: [] },
    })
  })

  it.each<[string, FieldRule, unknown[], unknown]>([
    ['a column that matches and is empty', meta, ['', '', '', '', 'A', ''], { a: 'A' }],
    ['an entry without a name', attributes, ['', '', 'Colour', 'red'], { Colour: 'red', fixed: 'P1' }],
    [
      'pairs without a cell',
      { from: { kind: 'parts', parts: [pairs, entries({ a: columnRule('Meta: a') })] } },
      ['', '', '', '', 'A'],
      { a: 'A' },
    ],
  ])('stay in a delta that does not name them: %s', (_, rule, cells, custom_fields) => {
    const bound = bindTo(columns, { product_id: columnRule('id'), custom_fields: rule }, 'delta')
    expect(bound.map(recordOf(['P1', ...cells])).patch).toMatchObject({
      set: { custom_fields },
      keepEntries: { allBut: [] },
    })
  })

  it('go in a delta where their own rule clears them, whatever others keep', () => {
    const fixed = entries({ fixed: { ...columnRule('value 1'), empty: 'clear' } })
    const rule: FieldRule = { from: { kind: 'parts', parts: [fixed, meta] } }
    const bound = bindTo(columns, { product_id: columnRule('id'), custom_fields: rule }, 'delta')
    const patchOf = (a: string) => bound.map(recordOf(['P1', '', '', '', '', a, ''])).patch
    expect(patchOf('A')).toMatchObject({
      set: { custom_fields: { a: 'A' } },
      keepEntries: { allBut: ['fixed'] },
    })
    expect(patchOf('')).toMatchObject({ set: { custom_fields: {} }, keepEntries: { allBut: ['fixed'] } })
  })

  it('stay in a delta of objects that does not name them', () => {
    const delta = bindTo(['id'], { product_id: columnRule('id'), custom_fields: meta }, 'delta')
    const source = { id: 'P1', 'Meta: x': 7 }
    expect(delta.map({ ...recordOf(['P1']), source }).patch).toMatchObject({
      set: { custom_fields: { x: '7' } },
      keepEntries: { allBut: [] },
    })
  })

  it.each<[FieldRule, string]>([
    [{ from: { kind: 'matching', regex: '^Meta: (.+)$' } }, 'has no group called name'],
    [{ from: { kind: 'matching', regex: '(' } }, 'RE2 refuses'],
    [entries({ '{a': columnRule('b') }), 'entry {a: its name: "{" at character 1 has no counterpart'],
    [{ from: { kind: 'parts', parts: [entries({})] } }, 'no entry is given'],
  ])('are refused: %j', (rule, problem) => {
    expect(checkRule('custom_fields', rule).join()).toContain(problem)
    expect(checkRule('name', rule).join()).toMatch(/belong to custom_fields only/)
  })
})
