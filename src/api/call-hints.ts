import type { ApiGroup } from './contract/endpoints.ts'

/** What to do about credentials that are refused. */
const credentialHints: Readonly<Record<ApiGroup, string>> = {
  products:
    'Use a token of kind API_PRODUCTS of this account; tokens of other kinds are refused here. Support gives it on request, and the authentication tokens in the admin settings list it',
  consent:
    'Use the Email token of this account; tokens of other kinds, API_PRODUCTS among them, are refused here',
  intent:
    'Use the token of kind API_LIM from the account settings (authentication tokens). Tokens belong to one merchant; in a multi-market set-up it is the token of the master account, not of a storefront. An account without such a token has no shopper intent enabled',
  stack: 'Check the access token and the name of the Stack: the token must be of a user of that Stack',
}

/** What to do about a path that the server does not know. */
const addressHints: Readonly<Partial<Record<ApiGroup, string>>> = {
  products: 'Check the base address',
  consent: 'Check the base address, and the path: some services have it without /api',
  intent: 'Check the base address',
}

export function hintFor(group: ApiGroup, status: number): string | undefined {
  if (status === 401 || status === 403) return credentialHints[group]
  if (status === 404 || status === 405) return addressHints[group]
  if (status === 413) return 'Send less in one call'
  if (status === 429) return 'Call less often'
  if (status >= 300 && status < 400) return 'Redirects are never followed: check the base address'
  return status >= 500 ? 'Try again later' : undefined
}

export const noApiHint = 'This is not the API: check the base address, and what stands between here and there'

export function missingTokenHint(group: ApiGroup): string {
  return credentialHints[group]
}
