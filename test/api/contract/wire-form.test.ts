import { describe, expect, it } from 'vitest'
import { consentSchema } from '../../../src/api/contract/consent.ts'
import { intentRequestSchema } from '../../../src/api/contract/intent.ts'
import { moderationViewWriteSchema } from '../../../src/api/contract/moderation-view.ts'
import { userListQuerySchema } from '../../../src/api/contract/paging.ts'
import { contractProblems } from '../../../src/api/contract/problems.ts'
import { productSchema } from '../../../src/api/contract/product.ts'
import { ruleCreateSchema, ruleUpdateSchema } from '../../../src/api/contract/rule.ts'
import { termCreateSchema, termUpdateSchema } from '../../../src/api/contract/term.ts'
import { userUpdateSchema } from '../../../src/api/contract/user.ts'
import { inWireForm } from '../../../src/api/contract/wire-form.ts'

describe('inWireForm', () => {
  it('reads a rule whose object and list are JSON texts of a form', () => {
    const sent = {
      name: 'Tag cats',
      trigger: '{"$or":[{"tags":{"$eq":"cat"}}]}',
      action: '[{"type":"$set","field":"status","value":"published"}]',
      enabled: 'true',
      type: 'tile',
    }
    const rule = inWireForm(ruleCreateSchema, sent)
    expect(rule).toEqual({
      name: 'Tag cats',
      trigger: { $or: [{ tags: { $eq: 'cat' } }] },
      action: [{ type: '$set', field: 'status', value: 'published' }],
      enabled: 1,
      type: 'tile',
    })
    expect(contractProblems(ruleCreateSchema, rule)).toEqual([])
  })

  it('reads lists that a form parser wrote as objects by position, and elements that are JSON texts', () => {
    const sent = { trigger: { $or: { 0: { a: '1' }, 2: { b: '2' } } }, 'action[]': '{"type":"$set"}' }
    expect(inWireForm(ruleUpdateSchema, sent)).toEqual({
      trigger: { $or: [{ a: '1' }, { b: '2' }] },
      action: [{ type: '$set' }],
    })
  })

  it.each([
    ['1', 1],
    ['0', 0],
    ['true', 1],
    ['FALSE', 0],
    ['on', 1],
    ['off', 0],
    [true, 1],
    [false, 0],
  ])('takes %j for the flag %j', (sent, enabled) => {
    expect(inWireForm(ruleUpdateSchema, { enabled: sent })).toEqual({ enabled })
  })

  it.each([
    ['1', 1],
    ['0', 0],
    ['true', true],
    ['on', true],
    ['false', false],
  ])('takes %j for the boolean %j', (sent, active) => {
    expect(inWireForm(termUpdateSchema, { active: sent })).toEqual({ active })
  })

  it('takes 1 for true where the contract has no numbers', () => {
    const sent = { rankingOnly: '1', giveAgentContext: 0, maxAgentRecommendations: ' 5 ' }
    const read = { rankingOnly: true, giveAgentContext: false, maxAgentRecommendations: 5 }
    expect(inWireForm(intentRequestSchema, sent)).toEqual(read)
    expect(inWireForm(consentSchema, { consent: 'true' })).toEqual({ consent: true })
  })

  it('takes numbers for texts, lists for comma-separated texts, and the other way round', () => {
    expect(inWireForm(termUpdateSchema, { source_user_id: 123, filter: ['a', 'b'], tags: 'x, y,' })).toEqual({
      source_user_id: '123',
      filter: 'a,b',
      tags: ['x', 'y'],
    })
    expect(inWireForm(moderationViewWriteSchema, { filter_value_tags: [1, 2] })).toEqual({
      filter_value_tags: '1,2',
    })
    expect(inWireForm(userUpdateSchema, { 'acl_groups[]': ['1', '3'] })).toEqual({ acl_groups: ['1', '3'] })
    expect(inWireForm(userUpdateSchema, { acl_groups: 2 })).toEqual({ acl_groups: [2] })
    expect(inWireForm(termUpdateSchema, { tags: '', 'tags[]': 'x' })).toEqual({ tags: ['x'] })
    expect(inWireForm(termUpdateSchema, { tags: ['y'], 'tags[]': 'x' })).toEqual({
      tags: ['y'],
      'tags[]': 'x',
    })
  })

  it('counts null and empty texts as not given, except an empty text for words of the caller', () => {
    const sent = { page: '', limit: null, order_by: ' ', order_by_direction: 'desc' }
    expect(inWireForm(userListQuerySchema, sent)).toEqual({ order_by_direction: 'desc' })
    expect(inWireForm(termUpdateSchema, { term: '', filter: '', minimum_followers: '', name: null })).toEqual(
      {
        term: '',
        filter: '',
      },
    )
    expect(inWireForm(userUpdateSchema, { acl_groups: '', distances: '' })).toEqual({ acl_groups: '' })
    // What must be given stays as it came, and null stays where it means something.
    expect(inWireForm(termCreateSchema, { type: '', network: null })).toEqual({ type: '', network: null })
    expect(inWireForm(intentRequestSchema, { maxAgentRecommendations: null })).toEqual({
      maxAgentRecommendations: null,
    })
  })

  it('reads an empty text of an update as false, 0 or an empty list, where nothing else can be meant', () => {
    const sent = {
      ...{ active: '', partial_match: ' ', tags: '', minimum_followers: '', filter: '', display_name: '' },
      ...{ term: '', moderate_text: '', name: null },
    }
    expect(inWireForm(termUpdateSchema, sent, { emptyTexts: 'values' })).toEqual({
      ...{
        active: false,
        partial_match: false,
        tags: [],
        minimum_followers: 0,
        filter: '',
        display_name: '',
      },
      term: '',
    })
    const rule = { enabled: '', trigger: '', action: '' }
    expect(inWireForm(ruleUpdateSchema, rule, { emptyTexts: 'values' })).toMatchObject({ enabled: 0 })
    for (const both of [
      { tags: '', 'tags[]': 'x' },
      { 'tags[]': 'x', tags: '' },
    ]) {
      expect(inWireForm(termUpdateSchema, both, { emptyTexts: 'values' })).toEqual({ tags: ['x'] })
    }
  })

  it.each([
    ['no number', { limit: '1e2' }],
    ['a number too long to be exact', { limit: '99999999999999999999' }],
    ['a repeated parameter', { page: ['1', '2'] }],
    ['an unknown value', { order_by: 'age' }],
    ['an unknown field', { offset: '3' }],
  ])('leaves %s as it is', (_, sent) => expect(inWireForm(userListQuerySchema, sent)).toEqual(sent))

  it('leaves what is understood but wrong inside for the check to name the place', () => {
    const sent = { trigger: '{"$or":[3]}', action: '{', enabled: '2' }
    const messages = contractProblems(ruleUpdateSchema, inWireForm(ruleUpdateSchema, sent))
    expect(messages.map(({ message }) => message.split(':')[0])).toEqual([
      'trigger.$or[0]',
      'action',
      'enabled',
    ])
  })

  it('leaves bodies alone that are in the form of the contract, or no objects', () => {
    for (const value of [undefined, null, 3, 'a', [1], true]) {
      expect(inWireForm(termUpdateSchema, value)).toEqual(value)
    }
    const product = { product_id: '1', price: '12,50', unknown: 1 }
    expect(inWireForm(productSchema.array(), [product])).toEqual([product])
  })

  it('changes nothing it is given, and no prototype', () => {
    const sent = JSON.parse('{"__proto__":{"limit":"1"},"page":"2","constructor":"x","toString[]":"y"}')
    const before = structuredClone(sent)
    const read = inWireForm(userListQuerySchema, sent) as object
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
    expect(Object.entries(read)).toEqual([
      ['__proto__', { limit: '1' }],
      ['page', 2],
      ['constructor', 'x'],
      ['toString[]', 'y'],
    ])
    expect(sent).toEqual(before)
  })
})
