import fc from 'fast-check'
import { expect, test } from 'vitest'
import { halveByBytes, partBytes, type Sendable, settlePart } from '../../src/api/upsert-batch.ts'
import type { ProductId } from '../../src/lib/brand.ts'

const toPart = (lengths: readonly number[]): Sendable[] =>
  lengths.map((length, index) => ({
    productId: `p${index}` as ProductId,
    document: Buffer.alloc(length, 'x'),
  }))
const named = (part: readonly Sendable[]) =>
  part.map(({ productId }) => ({ productId, reason: `no ${productId}` }))
const idsOf = (part: readonly Sendable[]) => part.map(({ productId }) => productId).sort()

const parts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 60 }).map(toPart)
const numbers = fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }))
const kinds = fc.constantFrom('acknowledge', 'reject', 'bisect', 'split')

test('every product is settled or sent again, once', () => {
  fc.assert(
    fc.property(parts, kinds, fc.func(fc.boolean()), numbers, (part, kind, isNamed, random) => {
      const refusedByName = part.filter(({ productId }) => isNamed(productId))
      const verdict = { kind, refused: named(refusedByName), description: '' }
      const settled = settlePart(part, verdict, () => random.next().value)
      const { taken, refused, refusedAlone, again } = settled
      const all = [...taken, ...refused.map(({ product }) => product), ...again.flat()]
      expect(idsOf(refusedAlone ? [...all, refusedAlone] : all)).toEqual(idsOf(part))
      expect(again.every(({ length }) => length > 0)).toBe(true)
      const isNaming = kind === 'acknowledge' || kind === 'reject'
      expect(refused.map(({ product, reason }) => [product, reason])).toEqual(
        isNaming ? refusedByName.map((product) => [product, `no ${product.productId}`]) : [],
      )
      expect(refusedAlone).toEqual(!isNaming && part.length === 1 ? part[0] : undefined)
    }),
  )
})

test('halves are equal by count where one is searched for, by bytes where all are too large', () => {
  fc.assert(
    fc.property(parts, numbers, (part, random) => {
      fc.pre(part.length > 1)
      const settle = (kind: 'bisect' | 'split') =>
        settlePart(part, { kind, description: '' }, () => random.next().value).again
      const half = Math.floor(part.length / 2)
      expect(settle('bisect').map(({ length }) => length)).toEqual([half, part.length - half])
      expect(settle('split')).toEqual(halveByBytes(part))
      const [second = [], first = []] = halveByBytes(part)
      // In order; no product could go over without making the difference larger than itself.
      expect([...first, ...second]).toEqual(part)
      const largest = Math.max(...part.map((product) => partBytes([product])))
      expect(Math.abs(partBytes(first) - partBytes(second))).toBeLessThanOrEqual(2 * largest)
    }),
  )
})
