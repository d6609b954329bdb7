import type { EndpointName } from '../../../../src/api/contract/endpoints.ts'
import type { FieldFact } from './fact.ts'
import { type Body, existing, type FactRequest, validBodies } from './request.ts'
import { acceptedValues, refusedValues } from './samples.ts'
import { termTypeFacts } from './terms.ts'

const writes: Partial<Record<string, { create?: EndpointName; update?: EndpointName; read?: EndpointName }>> =
  {
    rule: { create: 'createRule', update: 'updateRule' },
    view: { create: 'createView', update: 'updateView', read: 'getView' },
    term: { create: 'createTerm', update: 'updateTerm', read: 'getTerm' },
    user: { update: 'updateUser', read: 'getUser' },
  }

export function ofField(fact: FieldFact): FactRequest[] {
  const { resource } = fact
  if (resource === 'rule' || resource === 'view' || resource === 'term' || resource === 'user') {
    return ofStackField(fact, resource)
  }
  if (resource === 'intent-request') {
    return written(fact, (value) => ({
      endpoint: 'askIntent',
      body: withField(validBodies[resource], fact.field, value),
    }))
  }
  if (resource === 'product' || resource === 'variation' || resource === 'sku') return ofProductField(fact)
  // Fields of an answer: asking is all that a client can do.
  return [
    {
      endpoint: 'askIntent',
      body: { ...validBodies['intent-request'], giveAgentContext: true },
      outcome: 'accepted',
    },
  ]
}

function ofStackField(fact: FieldFact, resource: keyof typeof existing): FactRequest[] {
  const { create, update, read } = writes[resource] ?? {}
  const requests: FactRequest[] = []
  if (create !== undefined && resource !== 'user') {
    const base = validBodies[resource]
    requests.push(
      ...(fact.create
        ? [
            ...written(fact, (value) => ({ endpoint: create, body: createBody(base, fact, value) })),
            ...forOthers(fact),
          ]
        : unwritable(fact, { endpoint: create, body: { ...base, [fact.field]: 1 } })),
    )
  }
  if (update !== undefined) {
    const given = { endpoint: update, existing: existing[resource] }
    requests.push(
      ...(fact.update
        ? changed(fact, (value) => ({ ...given, body: { [fact.field]: value } }))
        : unwritable(fact, { ...given, body: { [fact.field]: validValue(fact) } })),
    )
  }
  if (fact.read && read !== undefined) {
    requests.push({ endpoint: read, existing: existing[resource], outcome: 'accepted' })
  }
  return requests
}

/** The same field at terms of another type or network. */
function forOthers({ field, onlyFor }: FieldFact): FactRequest[] {
  if (onlyFor === undefined) return []
  return termTypeFacts.flatMap(({ type, networks }) =>
    (typeof networks === 'string' ? ['twitter', 'weibo'] : networks).map((network): FactRequest => {
      const isIts = network === onlyFor.network && onlyFor.types.includes(type)
      return {
        endpoint: 'createTerm',
        body: { type, network, term: 'cats', source_user_id: '4711', [field]: 5 },
        outcome: isIts ? 'accepted' : { refused: field },
      }
    }),
  )
}

/** A term's type decides which networks go with it, and which other fields are needed. */
function createBody(base: Body, fact: FieldFact, value: unknown): Body {
  if (fact.resource !== 'term') return withField(base, fact.field, value)
  if (fact.field === 'type') {
    const networks = termTypeFacts.find(({ type }) => type === value)?.networks
    const network = typeof networks === 'object' ? networks[0] : 'weibo'
    return { ...withField(base, 'type', value), network, source_user_id: '4711' }
  }
  if (fact.field === 'network') {
    const type = termTypeFacts.find(
      ({ networks }) => typeof networks === 'object' && networks.includes(String(value)),
    )?.type
    return { ...withField(base, 'network', value), type: type ?? 'weiboshow', source_user_id: '4711' }
  }
  return withField(base, fact.field, value)
}

function ofProductField(fact: FieldFact): FactRequest[] {
  const { resource, field } = fact
  const product = validBodies.product
  const holder = resource === 'variation' ? 'variations' : resource === 'sku' ? 'skus' : field
  return written(
    fact,
    (value) => {
      const inner = value === undefined ? {} : { [field]: value }
      const body =
        resource === 'variation'
          ? { ...product, variations: { EU: inner } }
          : resource === 'sku'
            ? { ...product, skus: [inner] }
            : withField(product, field, value)
      return { endpoint: 'upsertProducts', body: [body] }
    },
    holder,
  )
}

type Build = (value: unknown) => Omit<FactRequest, 'outcome'>

/** On creation: also without the field. */
function written(fact: FieldFact, build: Build, name = fact.field): FactRequest[] {
  const { required } = fact
  const without: FactRequest[] =
    typeof required === 'object'
      ? required.whenType.map((type) => ({
          ...build(undefined),
          ...withType(build, type),
          outcome: { refused: name },
        }))
      : [{ ...build(undefined), outcome: required === true ? { refused: name } : 'accepted' }]
  return [...without, ...changed(fact, build, name)]
}

function withType(build: Build, type: string): Pick<FactRequest, 'body'> {
  const networks = termTypeFacts.find((one) => one.type === type)?.networks
  const network = typeof networks === 'object' ? networks[0] : undefined
  return { body: { ...(build(undefined).body as Body), type, network } }
}

function changed(fact: FieldFact, build: Build, name = fact.field): FactRequest[] {
  return [
    ...acceptedForObject(fact).map((value): FactRequest => ({ ...build(value), outcome: 'accepted' })),
    ...refusedValues(fact).map((value): FactRequest => ({ ...build(value), outcome: { refused: name } })),
  ]
}

/** What an object or a list of objects holds is the field's own. */
function acceptedForObject(fact: FieldFact): unknown[] {
  if (fact.field === 'trigger') return [{ $or: [] }, { $or: [{ status: { $ne: 'disabled' } }] }]
  if (fact.field === 'action') return [[], [{ type: '$addToSet', field: 'tags', value: 'cat' }]]
  if (fact.field === 'variations') return [{}, { EU: { price: 1 } }]
  return acceptedValues(fact)
}

function unwritable(fact: FieldFact, request: Omit<FactRequest, 'outcome'>): FactRequest[] {
  return [{ ...request, outcome: { refused: fact.field }, strictOnly: true }]
}

function validValue(fact: FieldFact): unknown {
  return acceptedValues(fact)[0]
}

function withField(base: Body, field: string, value: unknown): Body {
  const { [field]: _, ...rest } = base
  return value === undefined ? rest : { ...rest, [field]: value }
}
