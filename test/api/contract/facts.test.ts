import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { type Endpoint, endpoints } from '../../../src/api/contract/endpoints.ts'
import { shopifyIntentRequestSchema } from '../../../src/api/contract/intent.ts'
import { contractProblems } from '../../../src/api/contract/problems.ts'
import { productSchema } from '../../../src/api/contract/product.ts'
import { inWireForm } from '../../../src/api/contract/wire-form.ts'
import { facts, nameOf } from './facts/facts.ts'
import { intentFacts } from './facts/intents.ts'
import { type FactRequest, validBodies } from './facts/request.ts'
import { acceptedAndRefused } from './facts/requests.ts'

interface Reading {
  /** As a server that bears with its clients reads: any encoding, unknown fields. */
  lenient: boolean
}

/** The fields that the contract's schemas refuse. */
function refusedFields(request: FactRequest, { lenient }: Reading): string[] {
  const endpoint: Endpoint = endpoints[request.endpoint]
  const parts: [z.ZodType | undefined, unknown][] = [
    [request.params === undefined ? undefined : endpoint.params, request.params],
    // A query is text, so it is always brought into the contract's form.
    [endpoint.query, endpoint.query === undefined ? {} : inWireForm(endpoint.query, request.query ?? {})],
    [endpoint.body?.many ? endpoint.body.schema.array() : endpoint.body?.schema, request.body],
  ]
  return parts.flatMap(([schema, value]) => {
    if (schema === undefined) return []
    const read = lenient ? inWireForm(schema, value) : value
    const problems = contractProblems(schema, read, { unknownFields: lenient ? 'tolerate' : 'refuse' })
    for (const { field, message } of problems) expect(message).toMatch(placeIn(field))
    return problems.map(({ field }) => field)
  })
}

/** The message names the field, be it inside a list. */
function placeIn(field: string): RegExp {
  return new RegExp(`^(\\[\\d+\\]\\.)?${field.replace(/[$[\]]/g, '\\$&')}\\b`)
}

const decidedBySchema = ({ credentials, outcome }: FactRequest) =>
  credentials === undefined && (outcome === 'accepted' || outcome.status === undefined)

describe.each(facts.map((fact) => [nameOf(fact), fact] as const))('%s', (_, fact) => {
  const requests = acceptedAndRefused(fact)

  it('yields something that is accepted and, where it restricts anything, something that is refused', () => {
    const refused = requests.filter(({ outcome }) => outcome !== 'accepted')
    expect(requests.length).toBeGreaterThan(refused.length)
    const restricts =
      (fact.about === 'field' &&
        (fact.create ||
          fact.update ||
          !['rule', 'intent-response', 'recommendation', 'recommended-sku'].includes(fact.resource))) ||
      fact.about === 'parameter' ||
      fact.about === 'credentials' ||
      (fact.about === 'term type' && fact.networks !== 'not listed') ||
      (fact.about === 'limit' && fact.max !== undefined)
    if (restricts) expect(refused.length).toBeGreaterThan(0)
  })

  it('is kept to by the schemas, strictly and leniently', () => {
    for (const request of requests.filter(decidedBySchema)) {
      const { outcome, strictOnly } = request
      for (const lenient of [false, true]) {
        const fields = refusedFields(request, { lenient })
        const shown = `${lenient ? 'lenient' : 'strict'}: ${JSON.stringify(request).slice(0, 300)}`
        if (outcome === 'accepted' || (strictOnly && lenient)) expect(fields, shown).toEqual([])
        else expect(new Set(fields), shown).toEqual(new Set([outcome.refused]))
      }
    }
  })
})

describe('facts', () => {
  it('have different names', () => {
    const names = facts.map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBeGreaterThan(180)
  })

  it('about products are kept to by the check that clients of the upsert use', () => {
    for (const request of facts.flatMap(acceptedAndRefused)) {
      if (request.endpoint !== 'upsertProducts' || !decidedBySchema(request)) continue
      const fields = (request.body as unknown[])
        .slice(0, 3)
        .flatMap((product) => contractProblems(productSchema, product))
        .map(({ field }) => field)
      expect(new Set(fields)).toEqual(
        new Set(request.outcome === 'accepted' ? [] : [request.outcome.refused]),
      )
    }
  })

  it('about Shopify merchants are kept to by the check for them', () => {
    const shopify = intentFacts.filter(({ required }) => required === 'shopify').map(({ field }) => field)
    expect(shopify).toEqual(['country', 'locale'])
    const asked = { ...validBodies['intent-request'], country: 'DE', locale: 'de' }
    expect(contractProblems(shopifyIntentRequestSchema, asked)).toEqual([])
    for (const field of shopify) {
      const { [field as 'country']: _, ...without } = asked
      expect(contractProblems(shopifyIntentRequestSchema, without).map((problem) => problem.field)).toEqual([
        field,
      ])
    }
  })

  it('about defaults are kept to by the schemas', () => {
    for (const fact of facts) {
      if ((fact.about !== 'field' && fact.about !== 'parameter') || fact.default === undefined) continue
      const endpoint: Endpoint = endpoints[fact.about === 'field' ? 'askIntent' : fact.endpoint]
      const schema = fact.about === 'field' ? endpoint.body?.schema : endpoint.query
      const given = fact.about === 'field' ? validBodies['intent-request'] : {}
      const name = fact.about === 'field' ? fact.field : fact.parameter
      expect(schema?.parse(given), nameOf(fact)).toMatchObject({ [name]: fact.default })
    }
  })
})
