import fc from 'fast-check'
import {
  arbitraryIntentRequest,
  arbitraryRule,
  arbitraryTerm,
  arbitraryTermUpdate,
  arbitraryUserUpdate,
  arbitraryView,
} from './arbitraries.ts'
import type { FieldFact, Resource } from './facts/fact.ts'
import { fieldFacts } from './facts/facts.ts'
import { refusedValues } from './facts/samples.ts'
import { termTypeFacts } from './facts/terms.ts'

/** A body that breaks one rule of the contract, and the field that the refusal must name. */
export interface Broken {
  endpoint: 'createRule' | 'createView' | 'createTerm' | 'updateTerm' | 'updateUser' | 'askIntent'
  body: Record<string, unknown>
  field: string
}

type Body = Record<string, unknown>

/** One field is of a value that is refused, or is left out although it is required. */
function brokenField(
  endpoint: Broken['endpoint'],
  valid: fc.Arbitrary<object>,
  [resource, operation]: [Resource, 'create' | 'update'],
): fc.Arbitrary<Broken> {
  const facts = fieldFacts.filter((fact) => fact.resource === resource && fact[operation])
  const breaks = facts.flatMap((fact) => [
    ...refusedValues(fact).map((value) => ({ fact, value })),
    ...(operation === 'create' && fact.required === true ? [{ fact, value: undefined }] : []),
  ])
  return fc.tuple(valid, fc.constantFrom(...breaks)).map(([body, { fact, value }]) => ({
    endpoint,
    body: replaced(body as Body, fact, value),
    field: fact.field,
  }))
}

function replaced(body: Body, { field }: FieldFact, value: unknown): Body {
  const { [field]: _, ...rest } = body
  return value === undefined ? rest : { ...rest, [field]: value }
}

const brokenCombination: fc.Arbitrary<Broken> = arbitraryTerm.chain((term) => {
  const { minimum_followers: _, source_user_id: __, ...bare } = term
  const row = termTypeFacts.find(({ type }) => type === term.type)
  const networks = typeof row?.networks === 'object' ? row.networks : undefined
  const broken: Broken[] = []
  if (networks !== undefined) {
    const body = { ...bare, network: 'weibo', source_user_id: '4711' }
    broken.push({ endpoint: 'createTerm', body, field: 'network' })
  }
  if (['user', 'page', 'gallery', 'set'].includes(term.type)) {
    broken.push({ endpoint: 'createTerm', body: bare, field: 'source_user_id' })
  }
  if (term.network !== 'twitter' || !['search', 'hashtag'].includes(term.type)) {
    const body = { ...bare, source_user_id: '4711', minimum_followers: 5 }
    broken.push({ endpoint: 'createTerm', body, field: 'minimum_followers' })
  }
  // Only a twitter search or hashtag may have each of these: there, no query is what is wrong.
  const empty: Broken = {
    endpoint: 'createTerm',
    body: { ...bare, source_user_id: '4711', term: '' },
    field: 'term',
  }
  return fc.constantFrom(...(broken.length > 0 ? broken : [empty]))
})

/** Exactly one rule of the contract is broken, whichever it is; everything else is valid. */
export const arbitraryBroken: fc.Arbitrary<Broken> = fc.oneof(
  brokenField('createRule', arbitraryRule, ['rule', 'create']),
  brokenField('createView', arbitraryView, ['view', 'create']),
  brokenField('createTerm', arbitraryTerm, ['term', 'create']),
  brokenField('updateTerm', arbitraryTermUpdate, ['term', 'update']),
  brokenField('updateUser', arbitraryUserUpdate, ['user', 'update']),
  brokenField('askIntent', arbitraryIntentRequest, ['intent-request', 'create']),
  brokenCombination,
)
