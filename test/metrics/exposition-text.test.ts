import { expect, it } from 'vitest'
import { parseExposition } from './exposition-text.ts'

const family = (type: string, ...samples: string[]) =>
  `# HELP x_total All\n# TYPE x_total ${type}\n${samples.join('\n')}\n`
const histogram = (...samples: string[]) => `# HELP h All\n# TYPE h histogram\n${samples.join('\n')}\n`

it.each([
  ['x_total 1\n', 'without a family'],
  [family('counter', 'x_total 1', 'x_total 1'), 'twice'],
  [family('gauge', 'x_total 1'), '_total'],
  [family('counter', 'x_total -1'), 'below zero'],
  [family('counter', 'x_total{a="1",a="2"} 1'), 'no sample'],
  [family('counter', 'x_total{a="\n"} 1'), 'no sample'],
  [family('counter', 'y_total 1'), 'not of x_total'],
  [family('counter', 'x_total one'), 'no sample'],
  [histogram('h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1', 'h_sum 1', 'h_count 1'), 'do not add up'],
  [histogram('h_bucket{le="1"} 1', 'h_sum 1', 'h_count 1'), 'do not add up'],
  ['# HELP wait_ms All\n# TYPE wait_ms gauge\nwait_ms 1\n', 'no base unit'],
  ['# HELP d All\n# TYPE d gauge\nd{quantile="0.5"} 1\n', 'quantile is for summaries'],
])('%j breaks the format: %s', (text, why) => {
  expect(() => parseExposition(text, 'text')).toThrow(why)
})

it('needs the end that OpenMetrics asks for', () => {
  const text = '# HELP x All\n# TYPE x counter\nx_total 1\n'
  expect(() => parseExposition(text, 'openmetrics')).toThrow('# EOF')
  expect([...parseExposition(`${text}# EOF\n`, 'openmetrics').keys()]).toEqual(['x'])
})
