import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { consentPath, consentSchema } from '../../../src/api/contract/consent.ts'
import { type Endpoint, endpoints } from '../../../src/api/contract/endpoints.ts'
import { intentRequestSchema } from '../../../src/api/contract/intent.ts'
import { moderationViewWriteSchema } from '../../../src/api/contract/moderation-view.ts'
import { userListQuerySchema } from '../../../src/api/contract/paging.ts'
import { contractProblems } from '../../../src/api/contract/problems.ts'
import { ruleCreateSchema, ruleUpdateSchema } from '../../../src/api/contract/rule.ts'
import { termCreateSchema, termUpdateSchema } from '../../../src/api/contract/term.ts'
import { userUpdateSchema } from '../../../src/api/contract/user.ts'
import { inWireForm } from '../../../src/api/contract/wire-form.ts'
import {
  arbitraryConsent,
  arbitraryIntentRequest,
  arbitraryOpenRule,
  arbitraryRule,
  arbitraryRuleUpdate,
  arbitraryTerm,
  arbitraryTermUpdate,
  arbitraryUserListQuery,
  arbitraryUserUpdate,
  arbitraryView,
} from './arbitraries.ts'
import { arbitraryBroken } from './arbitrary-breaks.ts'

const valid: [string, z.ZodType, fc.Arbitrary<object>][] = [
  ['rules', ruleCreateSchema, arbitraryRule],
  ['rules of any content', ruleCreateSchema, arbitraryOpenRule],
  ['changes of rules', ruleUpdateSchema, arbitraryRuleUpdate],
  ['views', moderationViewWriteSchema, arbitraryView],
  ['terms', termCreateSchema, arbitraryTerm],
  ['changes of terms', termUpdateSchema, arbitraryTermUpdate],
  ['changes of users', userUpdateSchema, arbitraryUserUpdate],
  ['intent requests', intentRequestSchema, arbitraryIntentRequest],
  ['consents', consentSchema, arbitraryConsent],
  ['queries of lists', userListQuerySchema, arbitraryUserListQuery],
]

/** As a form carries it: nothing but texts, null not at all. */
function asTexts(body: object): Record<string, string> {
  const entries = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'object' ? JSON.stringify(value) : String(value)]),
  )
}

describe.each(valid)('valid %s', (_, schema, arbitrary) => {
  it('are accepted, strictly and leniently, and are in the wire form already', () => {
    fc.assert(
      fc.property(arbitrary, (body) => {
        expect(contractProblems(schema, body)).toEqual([])
        expect(contractProblems(schema, body, { unknownFields: 'tolerate' })).toEqual([])
        expect(inWireForm(schema, body)).toEqual(body)
      }),
    )
  })

  it('come out of a form as they went in', () => {
    fc.assert(
      fc.property(arbitrary, (body) => {
        const read = inWireForm(schema, asTexts(body)) as Record<string, unknown>
        expect(contractProblems(schema, read)).toEqual([])
        for (const [name, value] of Object.entries(body)) {
          if (value === null) expect(read).not.toHaveProperty([name])
          // Of these the contract takes the text as well: nothing needs to be converted.
          else if (name === 'type' && typeof value === 'boolean') expect(read[name]).toBe(String(value))
          else expect(read[name]).toEqual(value)
        }
      }),
    )
  })

  it('are kept field by field', () => {
    fc.assert(
      fc.property(arbitrary, (body) => {
        expect(schema.parse(body)).toMatchObject(body)
      }),
    )
  })
})

describe('a body that breaks one rule', () => {
  it('is refused for that field and no other, in any encoding', () => {
    fc.assert(
      fc.property(arbitraryBroken, ({ endpoint, body, field }) => {
        const schema = (endpoints[endpoint] as Endpoint).body?.schema
        if (schema === undefined) throw new Error(`${endpoint} has no body`)
        const readings = [
          contractProblems(schema, body),
          contractProblems(schema, inWireForm(schema, body), { unknownFields: 'tolerate' }),
        ]
        for (const problems of readings) {
          expect(new Set(problems.map((problem) => problem.field))).toEqual(new Set([field]))
          for (const { message } of problems) {
            expect(message.startsWith(field)).toBe(true)
            expect(message).toMatch(/^[^\n]+: found [^\n]+, expected [^\n]+; [^\n]+$/)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('any JSON at all', () => {
  const anything = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.dictionary(
      fc.constantFrom(
        ...[
          'name',
          'trigger',
          'action',
          'enabled',
          'type',
          'term',
          'network',
          'tags',
          'tags[]',
          'acl_groups',
          'email',
        ],
        ...[
          'page',
          'limit',
          '__proto__',
          'constructor',
          'consent',
          'maxAgentRecommendations',
          'columns_pin_col',
        ],
      ),
      fc.oneof(fc.jsonValue(), fc.string(), fc.constantFrom('', '1', 'true', '[1]', '{"$or":[]}', null)),
    ),
  )

  it('gets an answer in whole sentences, and is read the same the second time', () => {
    fc.assert(
      fc.property(anything, fc.constantFrom(...valid.map(([name]) => name)), (value, name) => {
        const schema = valid.find(([other]) => other === name)?.[1] ?? ruleCreateSchema
        const before = JSON.stringify(value)
        const read = inWireForm(schema, value)
        expect(JSON.stringify(inWireForm(schema, read))).toBe(JSON.stringify(read))
        expect(JSON.stringify(value)).toBe(before)
        for (const unknownFields of ['refuse', 'tolerate'] as const) {
          for (const { message } of contractProblems(schema, read, { unknownFields })) {
            expect(message).toMatch(/^[^\n]+: found [^\n]+, expected [^\n]+; [^\n]+$/)
            expect(message.length).toBeLessThan(600)
          }
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the path of a consent call', () => {
  it('carries the address and the flag, whatever the address is made of', () => {
    fc.assert(
      fc.property(arbitraryConsent, (consent) => {
        const [, email = '', flag] =
          /^\/api\/v1\/customers\/consent\/([^/]+)\/(true|false)$/.exec(consentPath(consent)) ?? []
        expect({ email: decodeURIComponent(email), consent: flag === 'true' }).toEqual(consent)
        expect(email).not.toMatch(/[@+]/)
      }),
    )
  })
})
