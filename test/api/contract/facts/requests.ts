import { ofCredentials, ofEndpoint, ofLimit, ofParameter, ofTermType } from './endpoint-requests.ts'
import type { Fact } from './fact.ts'
import { ofField } from './field-requests.ts'
import type { FactRequest } from './request.ts'

/** The requests that show whether a service keeps to the fact. */
export function acceptedAndRefused(fact: Fact): FactRequest[] {
  switch (fact.about) {
    case 'field':
      return ofField(fact)
    case 'parameter':
      return ofParameter(fact)
    case 'term type':
      return ofTermType(fact)
    case 'endpoint':
      return ofEndpoint(fact)
    case 'credentials':
      return ofCredentials(fact)
    case 'limit':
      return ofLimit(fact)
    default:
      return fact satisfies never
  }
}
