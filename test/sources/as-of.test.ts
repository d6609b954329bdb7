import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { compileCellTime, compileNameTime } from '../../src/sources/as-of.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, linesOf, startSources } from './support/setup.ts'

const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())

it.each([
  ['_(?<stamp>.+)\\.csv', 'p_20261120.csv', '2026-11-19T23:00:00.000Z'],
  ['_(?<stamp>.+)\\.csv', 'p_2026-07-20T03-30.csv', '2026-07-20T01:30:00.000Z'],
  ['_(?<stamp>.+)\\.csv', 'p_20261120033015.csv', '2026-11-20T02:30:15.000Z'],
  ['_(?<stamp>.+)\\.csv', 'p_2026-11-20T03:30:15Z.csv', '2026-11-20T03:30:15.000Z'],
  ['_(?<stamp>.+)\\.csv', 'p_2026-11-20T03:30:15+02:00.csv', '2026-11-20T01:30:15.000Z'],
  ['_(?<stamp>.+)\\.csv', 'p_1763600000.csv', '2025-11-20T00:53:20.000Z'],
  ['_(?<stamp>.+)\\.csv', 'p_1763600000123.csv', '2025-11-20T00:53:20.123Z'],
  ['_(?<stamp>.+)\\.csv', 'p_20261320.csv', undefined],
  ['_(?<stamp>.+)\\.csv', 'p.csv', undefined],
  ['(?P<day>\\d\\d)\\.(?P<month>\\d\\d)\\.(?P<year>\\d\\d)', 'p 20.11.26.csv', '2026-11-19T23:00:00.000Z'],
  [
    '(?<year>\\d{4})(?<month>\\d\\d)(?<day>\\d\\d)-(?<hour>\\d\\d)',
    'p20261120-07',
    '2026-11-20T06:00:00.000Z',
  ],
])('a name: %s of %s', (regex, name, expected) => {
  expect(iso(compileNameTime({ from: 'name', regex, zone: 'Europe/Berlin' })?.(name))).toBe(expected)
})

it.each([
  [undefined, '2026-11-20T03:30:00+01:00', '2026-11-20T02:30:00.000Z'],
  [undefined, ' 2026-11-20 ', '2026-11-20T00:00:00.000Z'],
  ['DD.MM.YYYY HH:mm', '20.11.2026 03:30', '2026-11-20T03:30:00.000Z'],
  ['unix', '1763600000', '2025-11-20T00:53:20.000Z'],
  ['DD.MM.YYYY', '2026-11-20', undefined],
  [undefined, 'yesterday', undefined],
])('a cell by the form %s: %s', (date, cell, expected) => {
  expect(iso(compileCellTime({ from: 'column', column: 'at', date, zone: 'UTC' })(cell))).toBe(expected)
})

it('files found together are accepted by what their names say, then by mtime and name', async () => {
  await using dir = await tempDir()
  const [stateDir, dropDir] = [dir.join('state', 'main'), dir.join('drop')]
  const names = ['p_20261122.csv', 'p_20261120.csv', 'p_20261121.csv', 'undated.csv']
  for (const [index, name] of names.entries()) {
    await drop(dropDir, name, name)
    // Written in another order than their names say.
    const at = index === 3 ? Date.parse('2026-11-20T12:00:00Z') / 1000 : 1000 + index
    await utimes(join(dropDir, name), at, at)
  }
  const asOf = { from: 'name', regex: '_(?<stamp>\\d{8})', zone: 'UTC' } as const
  await using sources = await startSources({ stateDir, feeds: [feedNamed('products', dropDir, { asOf })] })
  expect(await sources.names(4)).toEqual([
    'p_20261120.csv',
    'undated.csv',
    'p_20261121.csv',
    'p_20261122.csv',
  ])
  const lines = await linesOf(stateDir)
  expect(lines.map(({ isDated }) => isDated)).toEqual([true, undefined, true, true])
  expect(lines[0]?.asOf).toBe('2026-11-20T00:00:00.000Z')
  expect(lines[1]?.asOf).toBe(lines[1]?.acceptedAt)
})
