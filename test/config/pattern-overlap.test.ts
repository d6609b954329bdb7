import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { patternsOverlap } from '../../src/config/pattern-overlap.ts'

describe('patternsOverlap', () => {
  it.each([
    ['*.csv', '*.csv', true],
    ['*', 'products.csv', true],
    ['a*', '*b', true],
    ['*.csv', '*.csv.gz', true],
    ['*.{csv,tsv}', '*.tsv', true],
    ['p?.csv', 'pp.csv', true],
    ['[ab].csv', 'b.csv', true],
    ['!(stock).csv', 'stock.csv', true],
    ['*_full.csv', '*_delta.csv', false],
    ['full_*', 'delta_*', false],
    ['*.{csv,tsv}', '*.xml', false],
    ['p?.csv', 'ppp.csv', false],
    ['*.csv', '*.ndjson', false],
  ])('%s and %s: %s', (a, b, expected) => {
    expect(patternsOverlap(a, b)).toBe(expected)
    expect(patternsOverlap(b, a)).toBe(expected)
  })

  it('never overlooks a name that both match', () => {
    const part = fc.constantFrom<[string, string[]][]>(
      ['a', ['a', '?', '*', '{a,b}', '[ab]', 'a*']],
      ['_full', ['_full', '*', '*ull', '_{full,delta}', '?full']],
      ['.csv', ['.csv', '*', '.*', '.{tsv,csv}', '.c?v']],
    )
    const forms = fc.array(part, { minLength: 1, maxLength: 4 }).chain((parts) => {
      const pattern = fc
        .tuple(...parts.map(([, tokens]) => fc.constantFrom(...tokens)))
        .map((all) => all.join(''))
      return fc.record({ file: fc.constant(parts.map(([text]) => text).join('')), a: pattern, b: pattern })
    })
    fc.assert(
      fc.property(forms, ({ file, a, b }) => {
        fc.pre(picomatch(a)(file) && picomatch(b)(file))
        expect(patternsOverlap(a, b)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it('stays quick for patterns that branch', () => {
    const many = '{a,b}'.repeat(20)
    expect(patternsOverlap(`${many}*`, `*${many}`)).toBe(true)
  })
})
