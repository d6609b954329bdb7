import { z } from 'zod'
import { plainBoolean } from './fields.ts'
import { isEmailAddress } from './values.ts'

/** Between the base address and the e-mail address; some services lack the `/api`. */
export const consentPathDefault = '/api/v1/customers/consent'

export const emailSchema = z.string().max(254).refine(isEmailAddress).meta({
  kind: 'text',
  description: 'E-mail address of the customer',
  format: 'email',
  secret: true,
  expected: 'an e-mail address',
  remedy: 'give one address, without blanks or a name around it',
})

/** One marketing permission: the whole of what a consent call says. */
export const consentSchema = z.strictObject({
  email: emailSchema,
  consent: plainBoolean('true grants, false revokes the marketing permission'),
})
export type Consent = z.infer<typeof consentSchema>

/** Path of a consent call: the address percent-encoded (`@` becomes `%40`, `+` becomes `%2B`), then the flag. */
export function consentPath({ email, consent }: Consent, path = consentPathDefault): string {
  return `${path}/${encodeURIComponent(email)}/${consent}`
}
