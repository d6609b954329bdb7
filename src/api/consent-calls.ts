import type { CallOutcome } from './call-outcome.ts'
import type { CallOptions } from './catalog-calls.ts'
import { type Consent, consentPath, consentPathDefault } from './contract/consent.ts'
import { basicCredentials, Transport, type TransportOptions } from './transport.ts'

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
  return new TransportConsentCalls(options)
}

class TransportConsentCalls implements ConsentCalls {
  readonly #token: () => string
  readonly #path: string
  readonly #transport: Transport

  constructor(options: ConsentCallsOptions) {
    this.#token = options.token
    const inner = (options.path ?? consentPathDefault).replace(/^\/+|\/+$/g, '')
    this.#path = inner === '' ? '' : `/${inner}`
    this.#transport = new Transport(options)
  }

  set(consent: Consent, { signal, token }: CallOptions = {}): Promise<CallOutcome> {
    // Half of a surrogate pair cannot be percent-encoded.
    const email = consent.email.toWellFormed()
    return this.#transport.send({
      method: 'POST',
      path: consentPath({ ...consent, email }, this.#path),
      shownPath: `${this.#path}/…/${consent.consent}`,
      headers: () => ({
        authorization: basicCredentials(token ?? this.#token()),
        accept: 'application/json',
      }),
      signal,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]()
  }
}
