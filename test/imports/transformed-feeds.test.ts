import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkFile } from '../../src/operations/check-file.ts'
import { tempDir } from '../support/temp-dir.ts'
import { feed, openImports, row } from './harness.ts'

const transformed = (file: string) => `products:
  drop: ./drop
  transform: { file: ${file}, timeout: 2s }
  fields:
    product_id: product_id
    name: name
    url: url
    image_url: image_url
    availability: availability
    price: price
    price_currency_code: price_currency_code
    description: teaser
`

/** A file of a user's own, as the package's types describe it. */
const body = `type Row = { readonly [column: string]: unknown }
export default (record: Row): Row | undefined => {
  if (record.name === 'Name skip') return undefined
  if (record.name === 'Name fail') throw new Error('no such thing')
  return { ...record, price: Number(record.price) * 2, teaser: \`New: \${record.description}\` }
}
`

test('a transform makes columns that the file has not; what it rejects can be dropped again as it was', async () => {
  await using home = await tempDir('transform')
  const file = home.join('my-transform.ts')
  await writeFile(file, body)
  await using box = await openImports(transformed(file))
  const text = feed(row('a'), row('skip'), row('fail'), row('b', { price: 'much' }), row('c'))
  const report = await box.import('products', text)
  expect(report).toMatchObject({
    outcome: 'imported',
    records: 5,
    rejected: 2,
    warned: 1,
    changes: { added: 2 },
  })
  expect(report.problems.map(({ code }) => code).toSorted()).toEqual([
    'not-a-number',
    'transform-failed',
    'transform-skipped',
  ])
  expect(await box.document('a')).toMatchObject({ price: 20, description: 'New: text' })
  const lines = (await box.read(report.rejectsFile as string)).trim().split('\n')
  expect(
    lines.map((line) => line.slice(line.indexOf(',fail,') + 1 || line.indexOf(',b,') + 1)).slice(1),
  ).toEqual([row('fail'), row('b', { price: 'much' })])
  const dropped = box.dir.join('check.csv')
  await writeFile(dropped, text)
  const [only] = box.catalog.feeds.values()
  if (!only) throw new Error('no feed')
  const signal = new AbortController().signal
  const check = await checkFile({ feed: only, file: dropped, signal, nowMs: 0 })
  expect(check).toMatchObject({ applied: 2, rejected: 2, warned: 1 })
  await writeFile(file, 'export default 1')
  expect(await box.import('products', text)).toMatchObject({
    outcome: 'refused',
    reason: expect.stringContaining('it has no default export that is a function'),
  })
})
