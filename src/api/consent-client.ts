import { ApiClient, type ClientOptions, type RequestOptions, type TokenSource } from './api-caller.ts'
import { ContractError } from './api-error.ts'
import { type Consent, consentPath, consentPathDefault, consentSchema } from './contract/consent.ts'
import { contractProblems } from './contract/problems.ts'
import { requireTaken } from './read-answer.ts'
import { basicCredentials, type TransportRequest } from './transport.ts'

export interface ConsentClientOptions extends ClientOptions {
  /** Of kind Email; any other kind is refused. */
  token: TokenSource
  /** Between the base address and the e-mail address. Default: `/api/v1/customers/consent`; some services lack `/api`. */
  path?: string | undefined
}

/**
 * Switches the marketing permission of e-mail addresses on or off, one call each:
 * `POST <path>/<e-mail, percent-encoded>/true|false`, Basic credentials with an empty user name, no body.
 *
 * Never repeats a call. No error shows an address or the token. Source: `endpoints.setConsent`.
 */
export class ConsentClient extends ApiClient {
  readonly #path: string | undefined

  /** Throws `ConfigError` for a base address that is neither https nor on this machine. */
  constructor(options: ConsentClientOptions) {
    super({ ...options, group: 'consent' })
    this.#path = options.path
  }

  /**
   * Grants (`true`) or revokes (`false`) the permission. Done when the server has answered 2xx.
   *
   * Throws `ContractError` when it is no e-mail address (nothing is sent), `ConfigError` without a token,
   * `ApiResponseError` when the server refuses, `ApiCallError` when no answer came: where its `mayHaveTakenEffect` is
   * true, the state at the server is unknown.
   */
  async set(email: string, granted: boolean, { signal, timeoutMs }: RequestOptions = {}): Promise<void> {
    const consent = { email, consent: granted }
    const problems = contractProblems(consentSchema, consent, { whole: 'consent' })
    if (problems.length > 0) throw new ContractError('the consent was not sent', problems)
    const token = this.caller.token()
    const path = this.#path
    const request = { ...consentRequest(consent, { path, token: () => token }), signal, timeoutMs }
    const outcome = await this.caller.send(request)
    requireTaken(outcome, this.caller.describe(request, [token, email]), 'consent')
  }
}

/** The request that sets one permission; what it shows has no address. */
export function consentRequest(
  { email, consent }: Consent,
  { path = consentPathDefault, token }: { path: string | undefined; token: () => string },
): TransportRequest {
  const prefix = `/${path}`.replace(/^\/+/, '/').replace(/\/+$/, '')
  return {
    method: 'POST',
    // Half of a surrogate pair cannot be percent-encoded.
    path: consentPath({ email: email.toWellFormed(), consent }, prefix),
    shownPath: `${prefix}/…/${consent}`,
    headers: () => ({ authorization: basicCredentials(token()), accept: 'application/json' }),
  }
}
