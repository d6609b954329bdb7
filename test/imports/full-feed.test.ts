import { expect, test } from 'vitest'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import { rejectColumns } from '../../src/records/reject-columns.ts'
import { feed, header, openImports, row } from './harness.ts'

const products = 'products: { drop: ./drop, missing: { atMost: 50% } }'

test('new products, then exactly what changed, in the lane it deserves', async () => {
  await using box = await openImports(products)
  const first = await box.import('products', feed(row('a'), row('b'), row('c')))
  expect(first).toMatchObject({
    outcome: 'imported',
    records: 3,
    changes: { added: 3, new: 3 },
    unchanged: 0,
  })
  expect(await box.document('a')).toEqual({
    product_id: 'a',
    name: 'Name a',
    url: 'https://shop.example/a',
    image_url: 'https://shop.example/a.jpg',
    availability: 'InStock',
    price: 10,
    price_currency_code: 'EUR',
    description: 'text',
  })
  await box.deliverAll()
  const same = await box.import('products', feed(row('a'), row('b'), row('c')))
  expect(same).toMatchObject({ unchanged: 3, changes: { added: 0, changed: 0 } })
  const next = await box.import(
    'products',
    feed(row('a', { price: '11' }), row('b', { text: 'new' }), row('c')),
  )
  expect(next).toMatchObject({ unchanged: 1, changes: { changed: 2, urgent: 1, deferred: 1 } })
  expect([await box.lane('a'), await box.lane('b'), await box.lane('c')]).toEqual([
    'urgent',
    'deferred',
    undefined,
  ])
})

test('a document that differs in its bytes alone stays as it was offered, and is sent once', async () => {
  await using box = await openImports(products)
  await box.import('products', feed(row('a')))
  // As a version with another order of fields would have written and offered it.
  const reversed = Object.entries((await box.document('a')) ?? {}).reverse()
  const stored = Buffer.from(JSON.stringify(Object.fromEntries(reversed)))
  const id = 'a' as ProductId
  await box.mirror.update([id], (known) => {
    const { meta = '', partial } = known.get(id) ?? {}
    return {
      // A known record is not compared.
      known: { feed: 'products' as FeedName, value: undefined },
      writes: [
        { productId: id, document: stored, partial, meta, incomplete: undefined, lane: 'new' as const },
      ],
    }
  })
  expect(await box.import('products', feed(row('a')))).toMatchObject({
    unchanged: 1,
    changes: { changed: 0 },
  })
  expect(box.mirror.read([id]).get(id)?.document).toEqual(stored)
  box.deliverAll()
  expect(box.mirror.isUnsent(id)).toBe(false)
  expect(await box.lane('a')).toBeUndefined()
})

test('a product that a full file no longer names goes out of stock, and its return lifts that', async () => {
  await using box = await openImports(products)
  await box.import('products', feed(row('a'), row('b'), row('c')))
  await box.deliverAll()
  const gone = await box.import('products', feed(row('a'), row('b')))
  expect(gone).toMatchObject({
    removals: { missing: 1, of: 3, held: false },
    changes: { missing: 1, urgent: 1 },
  })
  expect(await box.document('c')).toMatchObject({ availability: 'OutOfStock' })
  expect(await box.lane('c')).toBe('urgent')
  const again = await box.import('products', feed(row('a'), row('b')))
  expect(again).toMatchObject({ removals: { missing: 0, of: 2 }, changes: { missing: 0 } })
  await box.import('products', feed(row('a'), row('b'), row('c')))
  expect(await box.document('c')).toMatchObject({ availability: 'InStock' })
})

test('too many missing are held while present records go out; approve and discard act on what is still missing', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { atMost: 10% } }')
  await box.import('products', feed(...['a', 'b', 'c', 'd'].map((id) => row(id))))
  await box.deliverAll()
  const held = await box.import('products', feed(row('a', { price: '11' }), row('b')))
  expect(held).toMatchObject({ outcome: 'held', removals: { missing: 2, of: 4, held: true } })
  expect(await box.lane('a')).toBe('urgent')
  expect(await box.document('c')).toMatchObject({ availability: 'InStock' })
  await box.import('products', feed(row('c')), { mode: 'delta' })
  await box.approve(held.sequence, 'products')
  expect(await box.document('c')).toMatchObject({ availability: 'InStock' })
  expect(await box.document('d')).toMatchObject({ availability: 'OutOfStock' })
  const second = await box.import('products', feed(row('a')))
  expect(second).toMatchObject({ outcome: 'held', removals: { missing: 2, of: 3 } })
  await box.discard(second.sequence, 'products')
  expect(box.held('products')).toEqual([])
  expect(await box.document('b')).toMatchObject({ availability: 'InStock' })
})

test('a later full file supersedes held removals', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { atMost: 10% } }')
  await box.import('products', feed(row('a'), row('b'), row('c')))
  const held = await box.import('products', feed(row('a')))
  expect(held.outcome).toBe('held')
  const whole = await box.import('products', feed(row('a'), row('b'), row('c')))
  expect(whole.outcome).toBe('imported')
  await box.approve(held.sequence, 'products')
  expect(await box.document('b')).toMatchObject({ availability: 'InStock' })
})

test('a file without a valid record removes nothing by itself', async () => {
  await using box = await openImports('products: { drop: ./drop, missing: { atMost: 100% } }')
  await box.import('products', feed(row('a'), row('b')))
  expect(await box.import('products', `${header}\n`)).toMatchObject({
    outcome: 'held',
    records: 0,
    reason: 'the file has no record',
  })
  expect(await box.document('a')).toMatchObject({ availability: 'InStock' })
})

test('a rejected record still counts as present, the rest is imported, and the rejects can be dropped again', async () => {
  await using box = await openImports(`products: { drop: ./drop, rejects: { atMost: 50% } }`)
  await box.import('products', feed(row('a'), row('b')))
  const report = await box.import('products', feed(row('a', { price: '"12,50"' }), row('b', { price: '11' })))
  expect(report).toMatchObject({ rejected: 1, removals: { missing: 0 }, changes: { changed: 1 } })
  expect(report.problems[0]).toMatchObject({ field: 'price', severity: 'reject', count: 1 })
  expect(await box.document('a')).toMatchObject({ price: 10, availability: 'InStock' })
  const rejects = await box.read(report.rejectsFile ?? '')
  expect(rejects.split('\n').slice(0, 2)).toEqual([
    `${rejectColumns.join(',')},${header}`,
    expect.stringMatching(/^2,price,"12,50","found the text ""12,50"".*","set decimal: .*",a,/),
  ])
  const fixed = await box.import('products', rejects.replaceAll(',"12,50",', ',12.50,'))
  expect(fixed).toMatchObject({ outcome: 'imported', records: 1 })
  expect(fixed.removals).toBeUndefined()
  expect(await box.document('a')).toMatchObject({ price: 12.5 })
})

test('rejects above the limit hold the removals', async () => {
  await using box = await openImports(
    'products: { drop: ./drop, missing: { atMost: 100% }, rejects: { atMost: 5% } }',
  )
  await box.import('products', feed(row('a'), row('b'), row('c')))
  const report = await box.import('products', feed(row('a', { price: 'x' }), row('b')))
  expect(report).toMatchObject({ outcome: 'held', rejected: 1, removals: { missing: 1, held: true } })
})

test('of several records with one id the last counts', async () => {
  await using box = await openImports(products)
  const report = await box.import(
    'products',
    feed(row('a', { price: '1' }), row('b'), row('a', { price: '3' })),
  )
  expect(report).toMatchObject({ records: 3, changes: { added: 2, superseded: 1 } })
  expect(await box.document('a')).toMatchObject({ price: 3 })
})

test('a repeated pass counts changes of the first one, and what it meets again only once', async () => {
  await using box = await openImports(products)
  await box.import('products', feed(row('a', { price: '1' })))
  // Of a pass that was cut off.
  await box.stop()
  const importing = box.import('products', feed(row('a'), row('b'), row('a', { price: '3' })))
  while (box.manifest.nextSequence < 3) await new Promise(setImmediate)
  const claim = box.manifest.newest('products' as FeedName)?.claim ?? ''
  const add = { added: 5, superseded: 5, incomplete: 5 }
  await box.mirror.update([], () => ({ writes: [], counts: { claim, add } }))
  box.start()
  const report = await importing
  expect(report.changes).toMatchObject({ added: 6, changed: 1, superseded: 1, incomplete: 0 })
})

test('a mapped column that is gone holds the file; approving imports what is there', async () => {
  await using box = await openImports(`products:
  drop: ./drop
  fields: { product_id: sku, name: name, url: link, image_url: link, availability: { value: InStock }, price: Price, price_currency_code: { value: EUR }, brand: maker }`)
  const whole = 'sku,name,link,Price,maker\na,A,https://s.example/a,1,Acme\n'
  // Equal rows: long enough to be worth compressing.
  const renamed = `sku,name,link,price,maker\n${'a,A,https://s.example/a,2,Other\n'.repeat(20)}`
  await box.import('products', whole)
  await box.deliverAll()
  const report = await box.import('products', renamed)
  expect(report).toMatchObject({ outcome: 'held' })
  expect(report.reason).toContain('"Price"')
  expect(report.reason).toContain('"price"')
  expect(await box.document('a')).toMatchObject({ price: 1, brand: 'Acme' })
  // Hours may pass before the operator decides.
  await box.archiveAll()
  await box.approve(report.sequence, 'products')
  expect(await box.document('a')).toMatchObject({ price: 1, brand: 'Other' })
})

test('approving a file without all columns does not approve the removals that it then holds', async () => {
  await using box = await openImports(`products:
  drop: ./drop
  missing: { atMost: 10% }
  fields: { product_id: sku, name: name, url: link, image_url: link, availability: { value: InStock }, price: Price, price_currency_code: { value: EUR } }`)
  const rows = ['a', 'b', 'c'].map((id) => `${id},${id},https://s.example/${id},1`)
  await box.import('products', `sku,name,link,Price\n${rows.join('\n')}\n`)
  const report = await box.import('products', 'sku,name,link\na,New,https://s.example/a\n')
  expect(report).toMatchObject({ outcome: 'held' })
  await box.approve(report.sequence, 'products')
  expect(await box.document('a')).toMatchObject({ name: 'New', price: 1 })
  expect(await box.document('b')).toMatchObject({ availability: 'InStock' })
  const held = box.held('products')
  expect(held).toMatchObject([{ kind: 'removals', sequence: report.sequence, missing: 2, of: 3 }])
  await box.approve(report.sequence, 'products')
  expect(await box.document('b')).toMatchObject({ availability: 'OutOfStock' })
  expect(box.held('products')).toEqual([])
  const claim = box.manifest.newest('products' as FeedName)?.claim ?? ''
  expect(Object.values(box.mirror.counts(claim)).some((count) => count > 0)).toBe(false)
})

test('a file without the id column, or cut off inside a quoted cell, is refused whole', async () => {
  await using box = await openImports(products)
  const noId = await box.import('products', 'name,price\nA,1\n')
  expect(noId).toMatchObject({ outcome: 'refused' })
  expect(noId.reason).toContain('product_id')
  const cut = await box.import('products', `${feed(row('a'))}b,"Name`)
  expect(cut).toMatchObject({ outcome: 'refused' })
  expect(await box.document('a')).toBeUndefined()
  expect(box.manifest.outcome(cut.sequence as never)?.outcome).toBe('refused')
})

test('after a lost mirror everything is imported again from the archive', async () => {
  await using box = await openImports(products)
  await box.import('products', feed(row('a'), row('b')))
  const report = await box.import('products', feed(row('a', { price: '11' }), row('b')))
  expect((await box.archiveAll()).every((path) => path.endsWith('.zst'))).toBe(true)
  await box.loseMirror()
  await box.import('products', feed(row('a', { price: '11' }), row('b'), row('c')))
  expect(await box.document('a')).toMatchObject({ price: 11 })
  expect(box.mirror.count().products).toBe(3)
  expect(box.manifest.outcome(report.sequence as never)?.outcome).toBe('imported')
  expect(box.failures).toEqual([])
})
