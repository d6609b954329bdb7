import { credentialsFacts, endpointFacts, limitFacts, parameterFacts } from './endpoints.ts'
import type { Fact, FieldFact } from './fact.ts'
import { intentFacts } from './intents.ts'
import { productFacts } from './products.ts'
import { ruleFacts } from './rules.ts'
import { termFacts, termTypeFacts } from './terms.ts'
import { userFacts } from './users.ts'
import { viewFacts } from './views.ts'

export const fieldFacts: readonly FieldFact[] = [
  ...ruleFacts,
  ...viewFacts,
  ...userFacts,
  ...termFacts,
  ...productFacts,
  ...intentFacts,
]

export const facts: readonly Fact[] = [
  ...fieldFacts,
  ...termTypeFacts,
  ...endpointFacts,
  ...parameterFacts,
  ...credentialsFacts,
  ...limitFacts,
]

/** For the name of a test. */
export function nameOf(fact: Fact): string {
  switch (fact.about) {
    case 'field':
      return `${fact.resource}.${fact.field}`
    case 'parameter':
      return `${fact.endpoint}(${fact.parameter})`
    case 'term type':
      return `term type ${fact.type}`
    case 'endpoint':
      return `${fact.method} ${fact.path}`
    case 'credentials':
      return `credentials of ${fact.interface}`
    case 'limit':
      return `limit ${fact.limit}`
    default:
      return fact satisfies never
  }
}
