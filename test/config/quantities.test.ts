import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDuration, parseDuration } from '../../src/config/duration.ts'
import { parseShare, parseSize } from '../../src/config/leaves.ts'

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['2s', 2000],
    ['1.5s', 1500],
    ['15m', 900_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    [' 2s ', 2000],
    ['0s', 0],
    [0, 0],
    ['0', 0],
  ])('%j is %d ms', (value, expected) => expect(parseDuration(value)).toBe(expected))

  it.each(['', '2', 2, '2 s', '-2s', '1.5ms', '2S', '2sec', '1h30m', '25d', 'NaNs', null, undefined, {}])(
    '%j is none',
    (value) => expect(parseDuration(value)).toBeUndefined(),
  )

  it('takes back what formatDuration writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (delayMs) => {
        expect(parseDuration(formatDuration(delayMs))).toBe(delayMs)
      }),
    )
    expect([0, 90_000, 3_600_000, 1500].map(formatDuration)).toEqual(['0s', '90s', '1h', '1500ms'])
  })
})

describe('parseSize', () => {
  it.each([
    [2_000_000, 2_000_000],
    ['2000000', 2_000_000],
    ['2MB', 2_000_000],
    ['2 MB', 2_000_000],
    ['1.5kB', 1500],
    ['1KB', 1000],
    ['16MiB', 16_777_216],
    ['3GB', 3_000_000_000],
    ['7B', 7],
  ])('%j is %d bytes', (value, expected) => expect(parseSize(value)).toBe(expected))

  it.each(['', '2mb', '1.5B', -1, 1.5, '-1', 'MB', '9e9', '99999999999GB', null])('%j is none', (value) =>
    expect(parseSize(value)).toBeUndefined(),
  )
})

describe('parseShare', () => {
  it.each([
    ['10%', 0.1],
    ['12.5%', 0.125],
    ['0', 0],
    [0.1, 0.1],
    ['100%', 1],
    [1, 1],
  ])('%j is %d', (value, expected) => expect(parseShare(value)).toBe(expected))

  it.each(['101%', 10, '10', -0.1, '', '%', 'a', Number.NaN, null])('%j is none', (value) =>
    expect(parseShare(value)).toBeUndefined(),
  )
})
