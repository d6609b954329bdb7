import { expect, test } from 'vitest'
import type { ProductId } from '../../src/lib/brand.ts'
import { feed, openImports, row } from './harness.ts'

const products = 'products: { drop: ./drop, missing: { atMost: 100% } }'
const [a, b] = ['a', 'b'] as [ProductId, ProductId]

test('pause and resume stand in the mirror', async () => {
  await using box = await openImports(products)
  expect(box.mirror.calls()).toBeUndefined()
  await box.decide({ decision: 'pause' }, '*')
  expect(box.mirror.calls()).toMatchObject({ decision: 'pause' })
  await box.decide({ decision: 'resume', of: 'consents' as never }, '*')
  expect(box.mirror.calls()).toMatchObject({ decision: 'pause' })
  await box.decide({ decision: 'resume', of: 'products' }, '*')
  expect(box.mirror.calls()).toMatchObject({ decision: 'resume' })
})

test('resync gives the products that it names, or all of them, a place', async () => {
  await using box = await openImports(products)
  await box.import('products', feed(row('a'), row('b')))
  box.deliverAll()
  expect(box.unsent()).toEqual([])
  await box.decide({ decision: 'resync', ids: [b] }, '*')
  expect([box.unsent(), await box.lane('b')]).toEqual([['b'], 'new'])
  box.deliverAll()
  await box.decide({ decision: 'resync', ids: [] }, '*')
  expect(box.unsent()).toEqual(['a', 'b'])
})

test('a dead letter that is retried has a place again; one that is dropped waits for a newer document', async () => {
  await using box = await openImports(products)
  await box.import('products', feed(row('a'), row('b')))
  const [, digest] = [box.mirror.refuse(a), box.mirror.refuse(b)]
  expect(box.mirror.deadLetters().map(({ productId }) => productId)).toEqual(['a', 'b'])
  expect([box.unsent(), await box.lane('a')]).toEqual([['a', 'b'], undefined])
  await box.decide({ decision: 'retry-dead', ids: [a] }, '*')
  expect([box.mirror.deadLetter(a), await box.lane('a')]).toEqual([undefined, 'new'])
  await box.decide({ decision: 'drop-dead', ids: [b], digests: [digest.toString('hex')] }, '*')
  expect(box.mirror.count()).toMatchObject({ dead: 0 })
  expect(await box.lane('b')).toBeUndefined()
  await box.import('products', feed(row('a'), row('b', { price: '11' })))
  expect(await box.lane('b')).toBe('urgent')
})
