import { describe, expect, it } from 'vitest'
import { keyFieldsOf, keyValues } from '../../src/catalog/feed-key.ts'
import { compileMapping } from '../../src/catalog/mapping.ts'
import { rankFields } from '../../src/catalog/ranks.ts'
import type { FeedName } from '../../src/lib/brand.ts'
import { columnRule, feedOf, recordOf } from './support.ts'

const keyed = feedOf({ brand: columnRule('B'), price: columnRule('P') }, { key: 'brand' })

describe('the key of a feed', () => {
  it('finds a product by every text that the field holds, none twice', () => {
    const skus = [{ id: ' 1 ' }, { id: '2' }, { name: 'x' }, { id: '1' }, 'odd']
    const fields = { brand: ' b ', url: '', skus, custom_fields: { ean: '4', 'a.b': '5', bad: '6\0' } }
    expect(keyValues(fields, 'brand')).toEqual(['b'])
    expect(keyValues(fields, 'url')).toEqual([])
    expect(keyValues(fields, 'skus.id')).toEqual(['1', '2'])
    expect(keyValues(fields, 'custom_fields.ean')).toEqual(['4'])
    expect(keyValues(fields, 'custom_fields.a.b')).toEqual(['5'])
    expect(keyValues(fields, 'custom_fields.bad')).toEqual([])
    expect(keyValues(fields, 'custom_fields.toString')).toEqual([])
    expect(keyValues({}, 'skus.id')).toEqual([])
  })

  it('takes the place of the id, and is no field that the feed writes', () => {
    const mapping = compileMapping({ feed: keyed, mode: 'full' })
    expect(mapping.fields).toEqual(['price'])
    const binding = mapping.bind(['P', 'B'])
    if (binding.kind !== 'bound') throw new Error('columns are missing')
    const { patch, issues } = binding.bound.map(recordOf(['5', ' x ']), 0)
    expect([patch?.productId, patch?.set, patch?.clear, issues]).toEqual(['x', { price: 5 }, [], []])
    const refused = binding.bound.map(recordOf(['no', '']), 0)
    expect(refused.patch).toBeUndefined()
    expect(refused.issues.map(({ field, message }) => `${field} ${message.split(';')[0]}`)).toEqual([
      expect.stringMatching(/^brand brand: found nothing/),
      expect.stringMatching(/^price /),
    ])
    const wrong = binding.bound.map(recordOf(['no', 'x']), 0)
    // The value of a key is no id, and must not be taken for one.
    expect(wrong.issues[0]).not.toHaveProperty('productId')
  })

  it('is written by others, who need not share it', () => {
    const other = feedOf({ product_id: columnRule('id'), brand: columnRule('B') })
    const feeds = new Map([
      ['keyed' as FeedName, keyed],
      ['other' as FeedName, other],
    ])
    expect(rankFields(feeds).overlaps).toEqual([])
    expect(keyFieldsOf(feeds)).toEqual(['brand'])
  })
})
