import type { CallOutcome } from './call-outcome.ts'
import type { CallOptions } from './catalog-calls.ts'
import { type Consent, consentPath, consentPathDefault } from './contract/consent.ts'
import { basicCredentials, Transport, type TransportOptions, type TransportRequest } from './transport.ts'

export interface ConsentCallsOptions extends TransportOptions {
  /** Of kind Email. Asked for at every call, so that a token that was replaced in its file is used at once. */
  token: () => string
  /** Between the base address and the e-mail address; default: as in the contract. */
  path?: string | undefined
}

/** Single calls of the consent API, whose outcomes are answered as they are: for the daemon, which decides what follows. */
export interface ConsentCalls extends AsyncDisposable {
  /** Grants or revokes one permission. Never repeats a request, never throws, never shows the address. */
  set(consent: Consent, options?: CallOptions): Promise<CallOutcome>
}

/** Opens a client of the consent API. Connections are made when they are needed and closed on disposal. */
export function openConsentCalls(options: ConsentCallsOptions): ConsentCalls {
  const transport = new Transport(options)
  return {
    set(consent, { signal, token } = {}) {
      const { path } = options
      const request = consentRequest(consent, { path, token: () => token ?? options.token() })
      return transport.send({ ...request, signal })
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

/** The request that sets one permission; what it shows has no address.  */
export function consentRequest(
  { email, consent }: Consent,
  { path, token }: { path: string | undefined; token: () => string },
): TransportRequest {
  const inner = (path ?? consentPathDefault).replace(/^\/+|\/+$/g, '')
  const prefix = inner === '' ? '' : `/${inner}`
  return {
    method: 'POST',
    // Half of a surrogate pair cannot be percent-encoded.
    path: consentPath({ email: email.toWellFormed(), consent }, prefix),
    shownPath: `${prefix}/…/${consent}`,
    headers: () => ({ authorization: basicCredentials(token()), accept: 'application/json' }),
  }
}
