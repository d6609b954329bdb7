import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ProductField } from '../../src/api/contract/product.ts'
import { markMissing, mergePatch } from '../../src/catalog/merge.ts'
import type { ProductPatch, ProductState } from '../../src/catalog/model.ts'
import { movedFields, rankFields } from '../../src/catalog/ranks.ts'
import { encodeMeta } from '../../src/catalog/stored-form.ts'
import type { FeedConfig } from '../../src/config/model.ts'
import type { FeedName, ProductId } from '../../src/lib/brand.ts'
import { ConfigError } from '../../src/lib/errors.ts'
import { columnRule, feedOf } from './support.ts'

const productId = 'P1' as ProductId
const [products, stock, prices] = ['products', 'stock', 'prices'] as [FeedName, FeedName, FeedName]

function feeds(...configured: [FeedName, string[], string[]?][]): Map<FeedName, FeedConfig> {
  return new Map(
    configured.map(([name, fields, owns = []]) => {
      const rules = Object.fromEntries(fields.map((field) => [field, columnRule(field)]))
      return [name, feedOf(rules, { name, owns })]
    }),
  )
}

function patchOf(
  set: ProductPatch['set'],
  clear: ProductField[] = [],
  keepEntries?: ProductPatch['keepEntries'],
): ProductPatch {
  return keepEntries ? { productId, set, clear, keepEntries } : { productId, set, clear }
}

describe('who writes a field', () => {
  const configured = feeds(
    [products, ['product_id', 'price', 'availability', 'name']],
    [stock, ['product_id', 'availability', 'price'], ['availability']],
    [prices, []],
  )

  it('is its owner, else the first configured feed that maps it', () => {
    const ranks = rankFields(configured)
    expect([products, stock, prices].map((feed) => ranks.rank('availability', feed))).toEqual([1, 0, 2])
    expect([products, stock, prices].map((feed) => ranks.rank('price', feed))).toEqual([0, 1, 2])
    expect(ranks.rank('name', stock)).toBe(Number.POSITIVE_INFINITY)
    expect(ranks.overlaps.map(({ field }) => field)).toEqual(['name', 'availability', 'price'])
    expect(ranks.overlaps[1]).toEqual({
      field: 'availability',
      feeds: [stock, products, prices],
      isOwned: true,
    })
  })

  it('cannot be two feeds, nor one that does not map it', () => {
    const two = feeds([products, ['price'], ['price']], [stock, ['price'], ['price']])
    expect(() => rankFields(two)).toThrow(ConfigError)
    expect(() => rankFields(feeds([products, ['price'], ['name']]))).toThrow(/does not map/)
    expect(rankFields(feeds([prices, [], ['name']])).rank('name', prices)).toBe(0)
  })

  it('counts once it has spoken, also by clearing', () => {
    const ranks = rankFields(configured)
    let state = mergePatch({
      state: undefined,
      patch: patchOf({ availability: 'A', brand: 'b' }),
      feed: prices,
      ranks,
    })
    state = mergePatch({ state, patch: patchOf({ availability: 'B' }), feed: products, ranks })
    state = mergePatch({ state, patch: patchOf({ availability: 'C' }), feed: prices, ranks })
    expect(state.fields).toEqual({ availability: 'B', brand: 'b' })
    state = mergePatch({ state, patch: patchOf({}, ['brand']), feed: prices, ranks })
    expect(state.fields).toEqual({ availability: 'B' })
    expect(state.writers).toEqual({ availability: products, brand: prices })
    expect([...state.feeds].sort()).toEqual([prices, products])
  })

  it('gives way when it is no longer configured', () => {
    const before = mergePatch({
      state: undefined,
      patch: patchOf({ name: 'old' }),
      feed: stock,
      ranks: rankFields(feeds([stock, ['name']])),
    })
    const ranks = rankFields(configured)
    expect(
      mergePatch({ state: before, patch: patchOf({ name: 'new' }), feed: products, ranks }).fields.name,
    ).toBe('new')
  })

  it('is nobody when no feed maps it any more, and its value goes, unless it is required', () => {
    const before = mergePatch({
      state: undefined,
      patch: patchOf({ name: 'n', brand: 'b' }),
      feed: products,
      ranks: rankFields(feeds([products, ['name', 'brand']])),
    })
    const ranks = rankFields(feeds([stock, ['price']]))
    const next = mergePatch({ state: before, patch: patchOf({ price: 1 }), feed: stock, ranks })
    expect(next.fields).toEqual({ name: 'n', price: 1 })
    expect(next.writers).toEqual({ name: products, price: stock })
    expect(movedFields(rankFields(feeds([products, ['name', 'brand']])), ranks)).toEqual([
      { field: 'brand', from: products, to: undefined },
    ])
  })

  it('keeps fields in contract order, whatever comes first', () => {
    const ranks = rankFields(configured)
    let state = mergePatch({ state: undefined, patch: patchOf({ skus: [], price: 1 }), feed: prices, ranks })
    state = mergePatch({ state, patch: patchOf({ brand: 'b', name: 'n' }), feed: prices, ranks })
    expect(JSON.stringify(state.fields)).toBe('{"name":"n","price":1,"brand":"b","skus":[]}')
  })
})

describe('entries of custom_fields', () => {
  const ranks = rankFields(feeds([products, ['custom_fields']], [stock, ['custom_fields']]))

  it('live on where a delta says nothing of them, but only those of the same feed', () => {
    let state = mergePatch({
      state: undefined,
      patch: patchOf({ custom_fields: { s: '1' } }),
      feed: stock,
      ranks,
    })
    state = mergePatch({
      state,
      patch: patchOf({ custom_fields: { b: '2' } }, [], ['s']),
      feed: products,
      ranks,
    })
    expect(state.fields.custom_fields).toEqual({ b: '2' })
    state = mergePatch({
      state,
      patch: patchOf({ custom_fields: { a: '3' } }, [], ['b']),
      feed: products,
      ranks,
    })
    expect(JSON.stringify(state.fields.custom_fields)).toBe('{"a":"3","b":"2"}')
    const but = (allBut: string[]) => patchOf({ custom_fields: { b: '4' } }, [], { allBut })
    const all = mergePatch({ state, patch: but([]), feed: products, ranks })
    expect(JSON.stringify(all.fields.custom_fields)).toBe('{"a":"3","b":"4"}')
    const one = mergePatch({ state, patch: but(['a', 'b']), feed: products, ranks })
    expect(one.fields.custom_fields).toEqual({ b: '4' })
    state = mergePatch({ state, patch: patchOf({ custom_fields: {} }, [], ['x']), feed: products, ranks })
    expect(state.fields).toEqual({})
    expect(state.writers.custom_fields).toBe(products)
  })
})

describe('missing marks', () => {
  const ranks = rankFields(feeds([products, ['name']], [stock, ['availability']]))

  it('are per feed, and lifted when the feed names the product', () => {
    const named = mergePatch({ state: undefined, patch: patchOf({ name: 'n' }), feed: products, ranks })
    const marked = markMissing(named, products)
    expect([[...marked.feeds], [...marked.missingFrom]]).toEqual([[], [products]])
    expect(markMissing(marked, products)).toBe(marked)
    const other = mergePatch({
      state: marked,
      patch: patchOf({ availability: 'InStock' }),
      feed: stock,
      ranks,
    })
    expect([[...other.feeds], [...other.missingFrom]]).toEqual([[stock], [products]])
    const back = mergePatch({ state: other, patch: patchOf({}), feed: products, ranks })
    expect([[...back.feeds].sort(), [...back.missingFrom]]).toEqual([[products, stock], []])
    expect([...named.feeds]).toEqual([products])
  })

  it.each<[string, Partial<FeedConfig> | undefined]>([
    ['is gone', undefined],
    ['ignores missing products', { missing: { action: 'ignore', atMost: 1, forgetMs: 1 } }],
    ['takes deltas alone', { files: [{ pattern: '*.csv', mode: 'delta' }] }],
  ])('go with the next record of any feed where theirs %s', (_, change) => {
    const named = mergePatch({ state: undefined, patch: patchOf({ name: 'n' }), feed: products, ranks })
    const said = mergePatch({ state: named, patch: patchOf({ availability: 'InStock' }), feed: stock, ranks })
    const marked = markMissing(said, stock)
    const marksWith = (feed: Partial<FeedConfig> | undefined) => {
      const configured = feeds([products, ['name']], [stock, ['availability']])
      const former = configured.get(stock) as FeedConfig
      configured.delete(stock)
      if (feed) configured.set(stock, { ...former, ...feed })
      const now = rankFields(configured)
      return [...mergePatch({ state: marked, patch: patchOf({}), feed: products, ranks: now }).missingFrom]
    }
    expect(marksWith({})).toEqual([stock])
    expect(marksWith(change)).toEqual([])
  })
})

type Step = { feed: FeedName; patch: ProductPatch } | { feed: FeedName; missing: true }

describe('interleaving', () => {
  const ranks = rankFields(
    feeds(
      [products, ['name', 'price', 'brand', 'custom_fields']],
      [stock, ['price', 'availability', 'custom_fields'], ['price']],
      [prices, []],
    ),
  )
  const fields: Record<FeedName, ProductField[]> = {
    [products]: ['name', 'price', 'brand', 'custom_fields'],
    [stock]: ['price', 'availability', 'custom_fields'],
    [prices]: ['name', 'price', 'brand', 'availability', 'custom_fields', 'list_price'],
  }
  const key = fc.constantFrom('a', 'b', 'c')
  const customFields = fc.dictionary(key, fc.constantFrom('1', '2'))

  function stepsOf(feed: FeedName): fc.Arbitrary<Step[]> {
    const says = fc.constantFrom<'set' | 'clear' | 'nothing'>('set', 'clear', 'nothing')
    const patch = fc
      .tuple(
        fc.array(says, { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 99 }),
        customFields,
        fc.uniqueArray(key),
      )
      .map(([words, value, entries, kept]): Step => {
        const named = (fields[feed] ?? []).map((field, index) => [field, words[index]] as const)
        const set = named
          .filter(([, word]) => word === 'set')
          .map(([field]) => [field, field === 'custom_fields' ? entries : value])
        const clear = named.filter(([, word]) => word === 'clear').map(([field]) => field)
        return {
          feed,
          patch: patchOf(
            Object.fromEntries(set),
            clear,
            kept.filter((name) => !(name in entries)),
          ),
        }
      })
    return fc.array(
      fc.oneof(
        { weight: 5, arbitrary: patch },
        { weight: 1, arbitrary: fc.constant<Step>({ feed, missing: true }) },
      ),
      {
        maxLength: 5,
      },
    )
  }

  function fold(steps: readonly Step[]): ProductState | undefined {
    let state: ProductState | undefined
    for (const step of steps) {
      if ('patch' in step) state = mergePatch({ state, patch: step.patch, feed: step.feed, ranks })
      // Only products that the feed names can go missing from it.
      else if (state?.feeds.has(step.feed)) state = markMissing(state, step.feed)
    }
    return state
  }

  /** Takes from the sequences in the order that the picks say; each keeps its own order. */
  function weave(sequences: readonly (readonly Step[])[], picks: readonly number[]): Step[] {
    const rest = sequences.map((steps) => [...steps])
    const woven: Step[] = []
    for (const pick of [...picks, ...sequences.flatMap((steps, index) => steps.map(() => index))]) {
      const step = rest[pick % rest.length]?.shift()
      if (step) woven.push(step)
    }
    return woven
  }

  it('of feeds never changes what comes out', () => {
    const picks = fc.array(fc.nat(2), { maxLength: 15 })
    const sequences = fc.tuple(stepsOf(products), stepsOf(stock), stepsOf(prices))
    fc.assert(
      fc.property(sequences, picks, picks, (steps, one, other) => {
        const [left, right] = [fold(weave(steps, one)), fold(weave(steps, other))]
        expect(JSON.stringify(left?.fields)).toBe(JSON.stringify(right?.fields))
        expect(left && encodeMeta(left)).toBe(right && encodeMeta(right))
      }),
      { numRuns: 1_000 },
    )
  })
})
