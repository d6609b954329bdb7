import type { EndpointName } from '../../../../src/api/contract/endpoints.ts'
import { parameterFacts } from './endpoints.ts'
import type { CredentialsFact, EndpointFact, LimitFact, ParameterFact, TermTypeFact } from './fact.ts'
import { ofField } from './field-requests.ts'
import { intentFacts } from './intents.ts'
import { existing, type FactRequest, validBodies } from './request.ts'
import { acceptedValues, refusedValues } from './samples.ts'
import { termFacts } from './terms.ts'

const resourceInPath: Partial<Record<string, keyof typeof existing>> = {
  ruleId: 'rule',
  moderationviewId: 'view',
  userId: 'user',
  termId: 'term',
}

export function ofParameter(fact: ParameterFact): FactRequest[] {
  const { endpoint, parameter } = fact
  const resource = resourceInPath[parameter]
  if (resource !== undefined) {
    const body = endpoint.startsWith('update') ? { body: {} } : {}
    return [
      { endpoint, existing: existing[resource], ...body, outcome: 'accepted' },
      { endpoint, params: { [parameter]: 'no-number' }, ...body, outcome: { refused: parameter } },
    ]
  }
  // Texts are what a query can carry.
  const texts = (values: unknown[]) => values.filter((value) => typeof value !== 'object').map(String)
  return [
    { endpoint, query: {}, outcome: 'accepted' },
    ...texts(acceptedValues(fact)).map(
      (value): FactRequest => ({ endpoint, query: { [parameter]: value }, outcome: 'accepted' }),
    ),
    ...texts(refusedValues(fact)).map(
      (value): FactRequest => ({ endpoint, query: { [parameter]: value }, outcome: { refused: parameter } }),
    ),
  ]
}

const allNetworks = (termFacts.find(({ field }) => field === 'network')?.values ?? []).map(String)

export function ofTermType({ type, networks }: TermTypeFact): FactRequest[] {
  const create = (network: string, outcome: FactRequest['outcome']): FactRequest => ({
    endpoint: 'createTerm',
    body: { ...validBodies.term, type, network, source_user_id: '4711' },
    outcome,
  })
  return allNetworks.map((network) =>
    create(
      network,
      networks === 'not listed' || networks.includes(network) ? 'accepted' : { refused: 'network' },
    ),
  )
}

export function ofEndpoint({ endpoint, path }: EndpointFact): FactRequest[] {
  if (endpoint === 'setConsent') {
    const consent = (email: string, flag: string, outcome: FactRequest['outcome']): FactRequest => ({
      endpoint,
      params: { email, consent: flag },
      outcome,
    })
    return [
      consent('ann@shop.example', 'true', 'accepted'),
      consent('ann+news@shop.example', 'false', 'accepted'),
      consent('no-address', 'true', { refused: 'email' }),
      consent('ann@shop.example', 'maybe', { refused: 'consent' }),
    ]
  }
  return [
    { ...validRequest(endpoint), outcome: 'accepted' },
    ...(/[:[]/.test(path) ? [absent(endpoint)] : []),
  ]
}

/** Nobody has this id: the answer is 404, and names no field. */
function absent(endpoint: EndpointName): FactRequest {
  const { existing: _, ...request } = validRequest(endpoint)
  const parameter =
    parameterFacts.find((one) => one.endpoint === endpoint && one.in === 'path')?.parameter ?? 'ruleId'
  return { ...request, params: { [parameter]: '999999999' }, outcome: { refused: parameter, status: 404 } }
}

/** The smallest request that an endpoint accepts. */
function validRequest(endpoint: EndpointName): Omit<FactRequest, 'outcome'> {
  if (endpoint === 'upsertProducts') return { endpoint, body: [validBodies.product] }
  if (endpoint === 'askIntent') return { endpoint, body: validBodies['intent-request'] }
  if (endpoint === 'setConsent') return { endpoint, params: { email: 'ann@shop.example', consent: 'true' } }
  const [, verb = '', kind = ''] =
    /^(create|list|get|update|delete|apply)(Rule|View|User|Term)s?$/.exec(endpoint) ?? []
  const resource = kind.toLowerCase() as keyof typeof existing
  if (verb === 'list') return { endpoint }
  if (verb === 'create' && resource !== 'user') return { endpoint, body: validBodies[resource] }
  const given = { endpoint, existing: existing[resource] }
  return verb === 'update' ? { ...given, body: {} } : given
}

export function ofCredentials({ endpoints, names }: CredentialsFact): FactRequest[] {
  return endpoints.flatMap((endpoint): FactRequest[] => {
    const request = validRequest(endpoint)
    const refused = names[0] ?? 'token'
    return [
      { ...request, outcome: 'accepted' },
      { ...request, credentials: 'none', outcome: { refused, status: 401 } },
      { ...request, credentials: 'wrong', outcome: { refused, status: 401 } },
    ]
  })
}

export function ofLimit(fact: LimitFact): FactRequest[] {
  if (fact.unit === 'MB') {
    const ofBytes = (bytes: number) => [{ ...validBodies.product, description: 'x'.repeat(bytes - 500) }]
    return [
      { endpoint: 'upsertProducts', body: ofBytes(1_900_000), outcome: 'accepted' },
      { endpoint: 'upsertProducts', body: ofBytes(2_200_000), outcome: { refused: 'body', status: 413 } },
    ]
  }
  if (fact.appliesTo.includes('upsertProducts')) {
    const many = Array.from({ length: 2000 }, (_, number) => ({
      ...validBodies.product,
      product_id: `limit-${number}`,
    }))
    return [{ endpoint: 'upsertProducts', body: many, outcome: 'accepted' }]
  }
  const asked = intentFacts.filter(({ field }) => field === fact.limit).flatMap(ofField)
  const paged = parameterFacts.filter(
    ({ endpoint, parameter }) => parameter === fact.limit && fact.appliesTo.includes(endpoint),
  )
  return [...asked, ...paged.flatMap(ofParameter)]
}
