import { describe, expect, it } from 'vitest'
import { describeCapacity } from './capacity.ts'
import { drawChart } from './chart.ts'
import { type Figure, type Report, verdictOf } from './suite/figure.ts'

const figure: Figure = {
  ...{
    id: 'first-load',
    name: 'first load',
    value: 1.5,
    unit: '×',
    better: 'more',
    goal: 2,
    acceptable: 1.3,
  },
  ours: { seconds: 2, cpuSeconds: 3, redisCpuSeconds: 1 },
  peer: { name: 'parse & send', seconds: 3, cpuSeconds: 3 },
}
const report: Report = {
  ...{
    at: '2026-11-23T12:00:00.000Z',
    commit: 'abc',
    machine: 'a machine',
    mode: 'quick',
    rows: 10_000,
    rounds: 3,
  },
  figures: [figure, { id: 'fill', name: 'calls', value: 98, unit: '%', better: 'more', goal: 97 }],
}

describe('a report of the bench', () => {
  it('is drawn as pairs of bars whose lengths are the seconds', () => {
    const chart = drawChart(report)
    const lengths = [...chart.matchAll(/<rect [^>]*width="([\d.]+)" height="17"/g)].map(([, width]) =>
      Number(width),
    )
    expect(lengths).toHaveLength(2)
    expect((lengths[0] ?? 0) / (lengths[1] ?? 0)).toBeCloseTo(2 / 3, 2)
    expect(chart).toContain('parse &amp; send')
  })

  it('tells a goal that is met from what is acceptable and what is not', () => {
    const verdicts = [2, 1.3, 1.2].map((value) => verdictOf({ ...figure, value }))
    expect(verdicts).toEqual(['met', 'acceptable', 'not met'])
    expect(verdictOf({ ...figure, better: 'less', value: 1.9 })).toBe('met')
  })

  it('is multiplied for many catalogs', () => {
    // 300 µs a product of 3 s for 10,000: a thousand million take 83 hours of a core.
    expect(describeCapacity(report)).toContain('300 µs of CPU a product | 83 hours of one core')
  })
})
