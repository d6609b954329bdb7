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

const messages = (...asked: Parameters<typeof contractProblems>) =>
  contractProblems(...asked).map(({ message }) => message)

describe('contractProblems', () => {
  it('names the whole place in the message, and the field of the contract beside it', () => {
    expect(contractProblems(userUpdateSchema, { acl_groups: [1, 4] })).toEqual([
      {
        field: 'acl_groups',
        message: 'acl_groups[1]: found the number 4, expected one of 1, 2, 3; choose one of these',
      },
    ])
    expect(messages(ruleUpdateSchema, { trigger: { $or: [{}, 3] } })).toEqual([
      'trigger.$or[1]: found the number 3, expected an object; give a JSON object',
    ])
    expect(contractProblems(productSchema.array(), [{}, 3]).map(({ field }) => field)).toContain('product_id')
  })

  it('lists values and names ranges', () => {
    expect(
      messages(userListQuerySchema, { limit: 101, page: 0, order_by: 'age' }, { whole: 'query' }),
    ).toEqual([
      'page: found the number 0, expected a whole number of at least 1; choose a number in that range',
      'limit: found the number 101, expected a whole number from 1 to 100; choose a number in that range',
      'order_by: found the text "age", expected one of id, name, email, surname, username, created; choose one of these',
    ])
    expect(messages(termUpdateSchema, { active: 'yes', minimum_followers: 1.5 })).toEqual([
      'active: found the text "yes", expected true, false, 1 or 0; give it in one of these forms',
      'minimum_followers: found the number 1.5, expected a whole number; give the digits without a fraction',
    ])
    const asked = { prompt: 'a', customerId: 'b', partnerId: 'c', chatId: 'd', maxAgentRecommendations: 21 }
    expect(messages(intentRequestSchema, asked)).toEqual([
      'maxAgentRecommendations: found the number 21, expected a whole number from 1 to 20, or null; choose a number in that range',
    ])
  })

  it('says the rules that join fields in words', () => {
    const term = { type: 'page', network: 'twitter', term: 'x', minimum_followers: 3 }
    expect(messages(termCreateSchema, term)).toEqual([
      'network: found twitter, expected facebook or pinterest or rss for a term of type page; change the network or the type',
      'source_user_id: found nothing, expected the id of the account on its network, which a term of type page needs; give it a value',
      'minimum_followers: found it at a term of network twitter and type page, expected it only at twitter terms of type search or hashtag; leave it out',
    ])
  })

  it('tells fields that cannot be written, misspelt ones and others apart', () => {
    expect(messages(termUpdateSchema, { network: 'rss' })[0]).toMatch(
      /^network: found a field that cannot be written here, .*fixed when the term is created; leave it out$/,
    )
    expect(messages(userUpdateSchema, { surnam: 'x' })[0]).toMatch(
      /^surnam: .* expected surname, if that is meant/,
    )
    expect(messages(moderationViewWriteSchema, { colour: 'x', column: {} })).toEqual([
      'colour: found a field that the contract does not have, expected only fields of the contract; leave it out',
      'column: found a field that cannot be written here, expected none: it is written as columns_…; leave it out',
    ])
  })

  it('tolerates unknown fields when asked to, and still checks the others', () => {
    const options = { unknownFields: 'tolerate' } as const
    const term = { type: 'page', network: 'twitter', term: 'x', source_user_id: '1', colour: { deep: [1] } }
    expect(contractProblems(termCreateSchema, term, options).map(({ field }) => field)).toEqual(['network'])
    const product = { skus: [{ colour: 1, price: 'x' }] }
    expect(messages(productSchema, product, options).at(-1)).toMatch(/^skus\[0\]\.price: found the text "x"/)
    expect(messages(userUpdateSchema, JSON.parse('{"__proto__":{}}'), options)[0]).toMatch(/reserved name/)
  })

  it('refuses keys that would change a prototype, and nesting without end', () => {
    const place = (trigger: string) => messages(ruleUpdateSchema, { trigger: JSON.parse(trigger) })[0]
    expect(place('{"$or":[{"a":{"__proto__":1}}]}')).toMatch(
      /^trigger\.\$or\[0\]\.a\.__proto__: found a reserved/,
    )
    expect(place('{"$or":[],"__proto__":{}}')).toMatch(/^trigger\.__proto__: found a reserved/)
    const deep = place(`{"$or":[{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`)
    expect(deep).toMatch(/^trigger\.\$or\[0\]\.a\[0\].*…: found more than 64 levels/)
    expect(deep?.length).toBeLessThan(250)
    expect(place('{"$or":[],"kept":{"not":["shown"]}}')).toBeUndefined()
    expect(messages(ruleUpdateSchema, { action: [{ value: Number.NaN }] })[0]).toMatch(
      /^action\[0\]\.value: found the number NaN, expected a JSON value/,
    )
  })

  it('shows no e-mail address, wherever it stands', () => {
    const address = 'ann@shop.example'
    const problems = [
      contractProblems(consentSchema, { email: `${address},`, consent: address }),
      contractProblems(consentSchema, { email: 'ann-without-at', consent: true }),
      contractProblems(userUpdateSchema, { email: `Ann <${address}>`, distances: address, [address]: 1 }),
      contractProblems(userUpdateSchema, { email: 4711 }),
      contractProblems(termCreateSchema, { type: address, network: address, term: 'x' }),
      contractProblems(ruleUpdateSchema, { trigger: { $or: [{ [address]: Number.NaN }] } }),
    ]
    for (const some of problems) expect(some).not.toEqual([])
    expect(JSON.stringify(problems)).not.toMatch(/ann|4711|shop\.example/i)
    expect(JSON.stringify(problems)).toContain('found a text (value not shown)')
  })

  it('names what is missing, and the whole where it is of the wrong kind', () => {
    expect(contractProblems(ruleCreateSchema, {}).map(({ field }) => field)).toEqual([
      'name',
      'trigger',
      'action',
      'enabled',
      'type',
    ])
    expect(contractProblems(ruleCreateSchema, [], { whole: 'rule' })).toEqual([
      {
        field: 'rule',
        message:
          'rule: found a list, expected an object with name, trigger, action, enabled, type; give a JSON object',
      },
    ])
  })
})
