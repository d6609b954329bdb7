import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyDue, nextSwitch } from '../../src/catalog/later.ts'
import { markMissing, mergePatch } from '../../src/catalog/merge.ts'
import type { LaterPatch, ProductPatch, ProductState } from '../../src/catalog/model.ts'
import type { FieldRanks } from '../../src/catalog/ranks.ts'
import { composeDocument, decodeState, storedForm } from '../../src/catalog/stored-form.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'

const productId = 'P1' as ProductId
const [first, second] = ['first' as FeedName, 'second' as FeedName]
const ranks: FieldRanks = {
  rank: (_, feed) => (feed === first ? 0 : 1),
  writer: () => first,
  countsMissing: () => true,
  overlaps: [],
}

function said(
  state: ProductState | undefined,
  patch: Partial<ProductPatch>,
  feed: FeedName = first,
): ProductState {
  return mergePatch({ state, patch: { productId, set: {}, clear: [], ...patch }, feed, ranks })
}

function stored(state: ProductState): ProductState {
  return decodeState(storedForm(state, composeDocument(state, productId)))
}

const price = (at: number, value: number): LaterPatch => ({ at, set: { price: value }, clear: [] })

describe('what is announced', () => {
  it('survives being stored, of complete, incomplete and missing products', () => {
    const announced = said(undefined, { set: { price: 3 }, later: [price(5, 4), price(9, 3)] })
    const complete = said(announced, {
      set: { name: 'n', url: 'u', image_url: 'i', availability: 'InStock', price_currency_code: 'EUR' },
    })
    for (const state of [announced, complete, markMissing(complete, first)]) {
      expect(stored(state)).toEqual(state)
      expect(nextSwitch(stored(state).later)).toBe(5)
    }
  })

  it('holds from its time on, to the millisecond, and is forgotten then', () => {
    const state = said(undefined, { set: { price: 3 }, later: [price(5, 4), price(9, 3)] })
    expect(applyDue(state, { nowMs: 4, ranks })).toEqual(state)
    const at5 = applyDue(state, { nowMs: 5, ranks })
    expect([at5.fields.price, nextSwitch(at5.later)]).toEqual([4, 9])
    const at9 = applyDue(state, { nowMs: 9, ranks })
    expect(at9).toEqual(said(undefined, { set: { price: 3 } }))
    expect(applyDue(at9, { nowMs: 99, ranks })).toEqual(at9)
  })

  it('is replaced for the fields that the next record speaks of, and for no others', () => {
    const later: LaterPatch[] = [{ at: 5, set: { price: 4, brand: 'b' }, clear: ['list_price'] }]
    const state = said(undefined, { set: { price: 3 }, later })
    expect(said(state, { set: { price: 3 } }).later?.get(first)).toEqual([
      { at: 5, set: { brand: 'b' }, clear: ['list_price'] },
    ])
    const spoken = said(state, { set: { price: 3, brand: 'c' }, clear: ['list_price'] })
    expect(spoken).not.toHaveProperty('later')
    // What it announces of a field counts as speaking of it.
    expect(said(state, { later: [price(2, 1)] }).later?.get(first)).toEqual([
      price(2, 1),
      { at: 5, set: { brand: 'b' }, clear: ['list_price'] },
    ])
  })

  it('belongs to its feed: another neither replaces it nor loses its rank', () => {
    const state = said(undefined, { set: { price: 3 }, later: [price(5, 4)] })
    const both = said(state, { set: { price: 1 }, later: [price(4, 2)] }, second)
    expect(nextSwitch(both.later)).toBe(4)
    const after = applyDue(both, { nowMs: 6, ranks })
    expect([after.fields.price, after.writers.price, after.later]).toEqual([4, first, undefined])
    // Until the better feed has spoken of the field, the other one counts, later too.
    const alone = said(undefined, { set: { price: 1 }, later: [price(4, 2)] }, second)
    expect(applyDue(alone, { nowMs: 4, ranks }).fields.price).toBe(2)
  })

  it('ends the same whether each is applied at its time or all of them late', () => {
    const at = fc.integer({ min: 1, max: 6 })
    const patch = fc.record({
      at,
      set: fc.record({ price: fc.nat(3), brand: fc.constantFrom('x', 'y') }, { requiredKeys: [] }),
      clear: fc.subarray(['list_price' as const, 'tag1' as const]),
    })
    const list = fc
      .uniqueArray(patch, { maxLength: 4, selector: (each) => each.at })
      .map((patches) => patches.sort((one, other) => one.at - other.at))
    fc.assert(
      fc.property(list, list, (ours, theirs) => {
        const start = said(said(undefined, { set: { price: 9 }, later: ours }), { later: theirs }, second)
        let stepwise = start
        for (let nowMs = 1; nowMs <= 6; nowMs++) stepwise = stored(applyDue(stepwise, { nowMs, ranks }))
        expect(stepwise).toEqual(applyDue(start, { nowMs: 6, ranks }))
        expect(stepwise.later).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })
})
