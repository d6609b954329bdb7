import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { feed, openImports, row } from './harness.ts'

type Box = Awaited<ReturnType<typeof openImports>>

const byEan = `products: { drop: ./products, missing: { atMost: 100% } }
prices:
  drop: ./prices
  mode: delta
  key: variation_id
  fields: { variation_id: EAN, price: Price }
  owns: [price]`

const withEan = (...rows: [id: string, ean: string, price?: string][]) => {
  const lines = rows.map(([id, ean, price = '10']) => `${row(id, { price })},${ean}`)
  return feed(...lines).replace('description\n', 'description,variation_id\n')
}

const prices = (...rows: [ean: string, price: string][]) =>
  `EAN;Price\n${rows.map((cells) => `${cells.join(';')}\n`).join('')}`

test('records find their products by another field, and write nothing but their own', async () => {
  await using box = await openImports(byEan)
  await box.import('products', withEan(['a', '111'], ['b', '222']))
  await box.deliverAll()
  const report = await box.import('prices', prices(['222', '7'], ['111', '8']), { mode: 'delta' })
  expect(report).toMatchObject({
    outcome: 'imported',
    rejected: 0,
    changes: { changed: 2, urgent: 2, added: 0 },
  })
  expect(await box.document('a')).toMatchObject({ price: 8, variation_id: '111' })
  expect(await box.document('b')).toMatchObject({ price: 7 })
  // The feed that only finds products by it does not become the writer of the field.
  await box.import('products', withEan(['a', '333'], ['b', '222']))
  expect(await box.document('a')).toMatchObject({ price: 8, variation_id: '333' })
  expect(indexOf(box)).toEqual(['222 b', '333 a'])
  const again = await box.import('prices', prices(['111', '1'], ['333', '2']), { mode: 'delta' })
  expect(again).toMatchObject({ rejected: 1 })
  expect(await box.document('a')).toMatchObject({ price: 2 })
  expect(box.failures).toEqual([])
})

test('a record whose key no product has, or several have, is rejected and can be dropped again', async () => {
  await using box = await openImports(byEan)
  await box.import('products', withEan(['a', '111'], ['b', '111']))
  const report = await box.import('prices', prices(['999', '1'], ['111', '2'], ['', '3']), { mode: 'delta' })
  expect(report).toMatchObject({ rejected: 3, changes: { changed: 0 } })
  const codes = Object.fromEntries(report.problems.map(({ code, examples }) => [code, examples[0]]))
  expect(codes['unknown-key']).toMatchObject({ record: 1, line: 2, field: 'variation_id' })
  expect(codes['unknown-key']?.message).toContain('found "999", which no product has')
  expect(codes['ambiguous-key']?.message).toContain('"a" and "b"')
  expect(codes['required-empty']).toMatchObject({ record: 3, field: 'variation_id' })
  const rejects = await box.read(report.rejectsFile ?? '')
  expect(rejects).toContain('999')
  await box.import('products', withEan(['a', '111'], ['b', '222'], ['c', '999']))
  const again = await box.import('prices', rejects, { mode: 'delta' })
  expect(again).toMatchObject({ rejected: 1 })
  expect(await box.document('c')).toMatchObject({ price: 1 })
  expect(await box.document('a')).toMatchObject({ price: 2 })
})

test('a record counts once, with the warnings about it, by what becomes of it', async () => {
  await using box = await openImports(byEan)
  await box.import('products', withEan(['a', '111']))
  const content = 'EAN;Price;Note\n111;1;lost \ufffd\n999;2;lost \ufffd\n'
  const report = await box.import('prices', content, { mode: 'delta' })
  expect(report).toMatchObject({ rejected: 1, warned: 1 })
  expect(report.issues).toEqual({ 'replacement-character': 2, 'unknown-key': 1 })
})

test('two records that find one product are applied one after the other', async () => {
  await using box = await openImports(`products: { drop: ./products }
prices:
  drop: ./prices
  mode: delta
  key: skus.id
  fields: { skus.id: EAN, price: Price, brand: Brand }
  owns: [price]`)
  const lines = feed(row('a'), row('b')).replace('description\n', 'description,skus\n').trimEnd().split('\n')
  const skus = (...ids: string[]) => `"${JSON.stringify(ids.map((id) => ({ id }))).replaceAll('"', '""')}"`
  await box.import('products', `${lines[0]}\n${lines[1]},${skus('s1', 's2')}\n${lines[2]},${skus('s3')}\n`)
  const content = 'EAN;Price;Brand\ns1;4;first\ns3;5;\ns2;6;\n'
  const report = await box.import('prices', content, { mode: 'delta' })
  expect(report).toMatchObject({ rejected: 0 })
  expect(await box.document('a')).toMatchObject({ price: 6, brand: 'first' })
  expect(await box.document('b')).toMatchObject({ price: 5 })
})

test('a full file by key counts as missing what it names in no record, not even in a rejected one', async () => {
  const full = 'missing: { atMost: 100% }\n  rejects: { atMost: 100% }'
  await using box = await openImports(byEan.replace('mode: delta', full))
  await box.import('products', withEan(['a', '111'], ['b', '222'], ['c', '333'], ['d', '444']))
  await box.import('prices', prices(['111', '1'], ['222', '2'], ['333', '3']))
  const report = await box.import('prices', prices(['111', '1'], ['222', 'no price'], ['999', '1']))
  expect(report).toMatchObject({ outcome: 'imported', removals: { missing: 1, of: 3 }, rejected: 2 })
  const stock = async (id: string) => (await box.document(id))?.availability
  expect([await stock('a'), await stock('b'), await stock('c'), await stock('d')]).toEqual([
    'InStock',
    'InStock',
    'OutOfStock',
    'InStock',
  ])
  await box.import('prices', prices(['333', '3'], ['111', '1'], ['222', '2']))
  expect(await stock('c')).toBe('InStock')
})

test('an index is filled from what is there when a feed begins to use it, and removed when none does', async () => {
  await using box = await openImports(byEan)
  await box.import('products', withEan(['a', '111'], ['b', '222']))
  expect(box.mirror.keyFields()).toEqual(['variation_id'])
  await box.stop()
  await box.mirror.update([], () => ({
    writes: [],
    keyFields: { drop: ['variation_id'], complete: ['brand'] },
    addKeys: [{ field: 'brand', value: 'left', productId: 'a' as ProductId }],
  }))
  box.start()
  const report = await box.import('prices', prices(['222', '7']), { mode: 'delta' })
  expect(report).toMatchObject({ rejected: 0 })
  expect(await box.document('b')).toMatchObject({ price: 7 })
  expect(indexOf(box)).toEqual(['111 a', '222 b'])
  expect(box.mirror.keyFields()).toEqual(['variation_id'])
  expect(indexOf(box, 'brand')).toEqual([])
})

test('a lost mirror is filled again, whichever feed is replayed first', async () => {
  const [products = '', ...others] = byEan.split('\n')
  await using box = await openImports([...others, products].join('\n'))
  const many = Array.from({ length: 1_000 }, (_, index) => [`p${index}`, `e${index}`] as [string, string])
  await box.import('products', withEan(...many))
  await box.import('prices', prices(['e999', '7']), { mode: 'delta' })
  await box.loseMirror()
  while ((await box.document('p999'))?.price !== 7) await new Promise(setImmediate)
  await box.untilApplied('prices', 2)
  const report = JSON.parse(await box.read(box.dir.join('state/reports/00000002-prices.json')))
  expect(report).toMatchObject({ rejected: 0, changes: { changed: 1 } })
  expect(box.failures).toEqual([])
})

test('prices that come while their products are still being imported wait for them', async () => {
  await using box = await openImports(byEan)
  const many = Array.from({ length: 2_000 }, (_, index) => [`p${index}`, `e${index}`] as [string, string])
  const importing = box.import('products', withEan(...many))
  while (box.manifest.nextSequence === 1) await new Promise(setImmediate)
  const report = await box.import('prices', prices(['e1999', '7'], ['none', '1']), { mode: 'delta' })
  expect(report).toMatchObject({ rejected: 1, problems: [{ code: 'unknown-key' }] })
  expect(await importing).toMatchObject({ rejected: 0 })
  expect(await box.document('p1999')).toMatchObject({ price: 7 })
})

test('whatever the products and prices, the documents are those of a model that looks keys up', async () => {
  await using box = await openImports(byEan)
  const model = new Map<string, { price: number; ean: string; missing: boolean }>()
  const id = fc.constantFrom('a', 'b', 'c', 'd')
  const ean = fc.constantFrom('1', '2', '3', '')
  const price = fc.integer({ min: 11, max: 19 })
  // Always with one product that was there before: a file with other ids only would be held.
  const others = fc.uniqueArray(fc.tuple(id, ean), { selector: ([one]) => one })
  const productFile = fc
    .tuple(ean, others)
    .map(([own, rows]) => [['a', own] as [string, string], ...rows.filter(([one]) => one !== 'a')])
  const priceFile = fc.uniqueArray(fc.tuple(fc.constantFrom('1', '2', '3', '4'), price), {
    selector: ([one]) => one,
    minLength: 1,
  })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('products' as const), rows: productFile }),
    fc.record({ kind: fc.constant('prices' as const), rows: priceFile }),
    fc.constant({ kind: 'restart' as const }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      // Each run begins with the products of the runs before: they are part of the model.
      for (const each of steps) {
        if (each.kind === 'restart') {
          await box.stop()
          box.start()
        } else if (each.kind === 'products') {
          await box.import('products', withEan(...each.rows))
          for (const [key, product] of model) {
            if (!each.rows.some(([one]) => one === key)) product.missing = true
          }
          for (const [key, value] of each.rows) {
            model.set(key, { price: model.get(key)?.price ?? 10, ean: value, missing: false })
          }
        } else {
          const rows = each.rows.map(([key, value]) => [key, String(value)] as [string, string])
          const { rejected } = await box.import('prices', prices(...rows), { mode: 'delta' })
          const matching = each.rows.map(([key, value]) => {
            const found = [...model.values()].filter((product) => product.ean === key)
            if (found.length === 1 && found[0]) found[0].price = value
            return found.length
          })
          expect(rejected).toBe(matching.filter((count) => count !== 1).length)
        }
      }
      for (const [key, product] of model) {
        const { price: found, variation_id, availability } = (await box.document(key)) ?? {}
        const expected = { found: product.price, variation_id: product.ean || undefined }
        expect({ found, variation_id }).toEqual(expected)
        expect(availability).toBe(product.missing ? 'OutOfStock' : 'InStock')
      }
      const index = [...model].filter(([, product]) => product.ean !== '')
      const members = index.map(([key, product]) => `${product.ean} ${key}`).sort()
      expect(indexOf(box)).toEqual(members)
    }),
    { numRuns: 15, endOnFailure: true },
  )
  expect(box.failures).toEqual([])
})

function indexOf({ mirror }: Box, field = 'variation_id'): string[] {
  const rows = mirror.sql(`SELECT value, id FROM key_index JOIN products ON key = product
    WHERE field = '${field}' ORDER BY value, id`)
  return rows.map(({ value, id }) => `${value} ${id}`)
}
