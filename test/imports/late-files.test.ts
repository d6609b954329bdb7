import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { feed, header, openImports, row } from './harness.ts'

const named = `products:
  drop: ./drop
  files: { full: "*_full.csv", delta: "*_delta.csv" }
  asOf: { name: "(?<stamp>\\\\d{8})" }`

const priced = (price: string) => feed(row('a', { price }), row('b'))

test('a file that is older than the newest full file is late: nothing of it is applied', async () => {
  await using box = await openImports(named)
  const first = await box.import('products', priced('1'), {
    asOf: '2026-11-20T00:00:00.000Z',
    name: '2_full.csv',
  })
  expect(first).toMatchObject({ outcome: 'imported', asOf: '2026-11-20T00:00:00.000Z' })
  const late = await box.import('products', priced('2'), {
    asOf: '2026-11-19T00:00:00.000Z',
    name: '1_full.csv',
  })
  expect(late).toMatchObject({
    outcome: 'late',
    reason:
      '1_full.csv holds as of 2026-11-19T00:00:00.000Z, and the full file 2_full.csv (import 1) as of 2026-11-20T00:00:00.000Z was applied before',
    hint: expect.stringContaining('drop it again with a newer time in its name'),
    records: 0,
  })
  const asOf = '2026-11-19T12:00:00.000Z'
  const delta = { mode: 'delta' as const, name: '3_delta.csv' }
  expect(await box.import('products', priced('3'), { ...delta, asOf })).toMatchObject({ outcome: 'late' })
  // Not older, or without a time of its own.
  const same = { ...delta, asOf: '2026-11-20T00:00:00.000Z' }
  expect(await box.import('products', priced('4'), same)).toMatchObject({ outcome: 'imported' })
  expect(await box.import('products', priced('5'), delta)).toMatchObject({
    outcome: 'imported',
    warnings: ['asOf.name finds no time in the name 3_delta.csv: taken as of its acceptance'],
  })
  expect(await box.document('a')).toMatchObject({ price: 5 })
  expect([...box.manifest.files()].map(({ sequence }) => box.manifest.outcome(sequence)?.outcome)).toEqual([
    'imported',
    'late',
    'late',
    'imported',
    'imported',
  ])
})

test('deltas alone make nothing late, and a time that lies ahead is not believed', async () => {
  await using box = await openImports(named)
  const delta = { mode: 'delta' as const, name: 'x_delta.csv' }
  await box.import('products', priced('1'), { ...delta, asOf: '2026-11-20T00:00:00.000Z' })
  const older = await box.import('products', priced('2'), { ...delta, asOf: '2026-11-19T00:00:00.000Z' })
  expect(older.outcome).toBe('imported')
  const ahead = await box.import('products', priced('3'), {
    asOf: '2062-01-01T00:00:00.000Z',
    name: 'f_full.csv',
  })
  expect(ahead).toMatchObject({
    outcome: 'imported',
    warnings: [expect.stringContaining('says 2062-01-01T00:00:00.000Z, which is more than a day ahead')],
  })
  const next = await box.import('products', priced('4'), {
    asOf: '2026-11-21T00:00:00.000Z',
    name: 'g_full.csv',
  })
  expect(next.outcome).toBe('imported')
})

test('the first record of a file may say its time, and a wiped Redis comes to the same', async () => {
  await using box = await openImports(`products:
  drop: ./drop
  asOf: { column: exported, date: "DD.MM.YYYY HH:mm", zone: Europe/Berlin }`)
  const at = (time: string, price: string) =>
    `${header},exported\n${row('a', { price })},${time}\n${row('b')},01.01.1999 00:00\n`
  const first = await box.import('products', at('20.11.2026 03:00', '1'))
  expect(first).toMatchObject({ outcome: 'imported', asOf: '2026-11-20T02:00:00.000Z' })
  const late = await box.import('products', at('20.11.2026 02:59', '2'))
  expect(late).toMatchObject({ outcome: 'late', asOf: '2026-11-20T01:59:00.000Z', records: 2 })
  expect(late.hint).toContain('a newer time in the column exported')
  expect(box.manifest.outcome(late.sequence as never)).toMatchObject({ outcome: 'late', asOf: late.asOf })
  const unclear = await box.import('products', at('soon', '3'))
  expect(unclear).toMatchObject({
    outcome: 'imported',
    warnings: [
      'the column "exported" of the first record says no time (asOf.column): taken as of its acceptance',
    ],
  })
  expect(await box.import('products', priced('4'))).toMatchObject({
    outcome: 'imported',
    warnings: ['the file has no column "exported" (asOf.column): taken as of its acceptance'],
  })
  await box.loseMirror()
  await box.untilApplied('products', 4)
  expect(await box.document('a')).toMatchObject({ price: 4 })
  const stillLate = await box.import('products', at('20.11.2026 02:58', '5'))
  expect(stillLate.outcome).toBe('late')
})

const content = feed(row('a'), row('b'))
const hashOf = (algorithm: string) => createHash(algorithm).update(content).digest('hex')

test('what side files said is checked before anything is applied', async () => {
  await using box = await openImports('products: { drop: ./drop }')
  const wrong = hashOf('md5').replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
  const md5 = await box.import('products', content, {
    expect: { md5: wrong, sha256: hashOf('sha256'), count: 2 },
  })
  expect(md5).toMatchObject({
    outcome: 'refused',
    reason: `products.csv: its md5 is ${hashOf('md5')}, expected ${wrong} as its .md5 file said: it was changed or cut off on its way`,
    hint: expect.stringContaining('drop it with its side file'),
  })
  const sha256 = await box.import('products', content, { expect: { sha256: '0'.repeat(64) } })
  expect(sha256.reason).toContain('its sha256 is')
  const count = await box.import('products', content, { expect: { count: 3 } })
  expect(count).toMatchObject({
    outcome: 'refused',
    reason: 'products.csv: it has 2 records, expected 3 as its .count file said (a header is not counted)',
  })
  const unreadable = await box.import('products', content, { expect: { unreadable: 'sha256' } })
  expect(unreadable).toMatchObject({
    outcome: 'refused',
    reason: expect.stringContaining('its .sha256 file says nothing'),
  })
  expect(await box.document('a')).toBeUndefined()
  const right = { md5: hashOf('md5'), sha256: hashOf('sha256'), count: 2 }
  expect(await box.import('products', content, { expect: right })).toMatchObject({ outcome: 'imported' })
  expect(await box.document('a')).toBeDefined()
})

test('an archived file, compressed meanwhile, is not checked again', async () => {
  await using box = await openImports('products: { drop: ./drop }')
  const long = feed(...Array.from({ length: 200 }, (_, index) => row(`p${index}`)))
  const md5 = createHash('md5').update(long).digest('hex')
  await box.import('products', long, { expect: { md5, count: 200 } })
  expect((await box.archiveAll())[0]).toMatch(/\.zst$/)
  await box.loseMirror()
  await box.untilApplied('products', 1)
  expect(await box.document('p199')).toBeDefined()
  expect(box.manifest.outcome(1 as never)?.outcome).toBe('imported')
})
