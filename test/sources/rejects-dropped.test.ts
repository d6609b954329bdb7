import { mkdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { tempDir } from '../support/temp-dir.ts'
import { drop, feedNamed, startSources } from './support/setup.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

it('rejects of a feed are dropped again under their own name, whatever its patterns and those of others are', async () => {
  await using dir = await tempDir('rejects')
  const folder = dir.join('drop')
  await mkdir(folder)
  const full = (pattern: string) => ({ files: [{ pattern, mode: 'full' as const }] })
  const feeds = [feedNamed('lists', folder, full('*.csv')), feedNamed('sheets', folder, full('*.xlsx'))]
  const later = [
    ['00000012-sheets.rejects.csv.gz', gzipSync('a')],
    ['00000013-lists.rejects.csv', 'b'],
    ['100000014-sheets.rejects.csv', 'c'],
    ['sheets.rejects.csv', 'd'],
    ['00000015-sheets.xlsx', 'e'],
  ] as const
  // Found by a scan, then by events.
  await drop(folder, '00000011-sheets.rejects.csv', '0')
  await drop(folder, '00000011-others.rejects.xml', '0')
  await using sources = await startSources({ stateDir: dir.join('state/main'), feeds })
  await sources.names(1)
  for (const [place, [name, content]] of later.entries()) {
    await drop(folder, name, content)
    await sources.names(place + 2)
  }
  expect(sources.accepted.map(({ name, feed, mode }) => `${name} ${feed} ${mode}`)).toEqual([
    '00000011-sheets.rejects.csv sheets delta',
    '00000012-sheets.rejects.csv.gz sheets delta',
    '00000013-lists.rejects.csv lists full',
    '100000014-sheets.rejects.csv sheets delta',
    'sheets.rejects.csv lists full',
    '00000015-sheets.xlsx sheets full',
  ])
  expect([...sources.notices.values()].join()).toContain(
    '00000011-others.rejects.xml (matches none of: *.csv)',
  )
})
