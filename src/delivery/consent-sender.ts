import type { CallOutcome } from '../api/call-outcome.ts'
import type { CallOptions } from '../api/catalog-calls.ts'
import type { ConsentCalls } from '../api/consent-calls.ts'
import type { ConsentOutbox } from '../consents/consent-outbox.ts'
import { decodeConsent } from '../consents/document.ts'
import { redactedText, redactText } from '../lib/redact.ts'
import type { DeliveryClient, DeliveryContext } from './context.ts'
import { deliverClaim } from './deliver-claim.ts'

interface ConsentSenderOptions {
  calls: Pick<ConsentCalls, 'set'>
  outbox: Pick<ConsentOutbox, 'claimTrial'>
}

/**
 * Sends the one document of a claim as a consent call. What the endpoint answers is passed on without the address.
 *
 * No consent call is empty, so refused credentials are tried again with a consent that is due: whatever is answered is
 * the outcome of that consent too.
 */
export class ConsentSender implements DeliveryClient {
  readonly #options: ConsentSenderOptions

  constructor(options: ConsentSenderOptions) {
    this.#options = options
  }

  async upsert([document]: readonly Uint8Array[], options: CallOptions = {}): Promise<CallOutcome> {
    if (!document) throw new TypeError('a consent call needs a document')
    const consent = decodeConsent(document)
    return withoutEmail(await this.#options.calls.set(consent, options), consent.email)
  }

  async probe({ signal }: CallOptions, context: DeliveryContext): Promise<CallOutcome | undefined> {
    const pass = context.gate.pass()
    const askedAt = context.clock.monotonic()
    const answer = await this.#options.outbox.claimTrial()
    if (answer.kind !== 'claimed') return undefined
    let outcome: CallOutcome | undefined
    const client: DeliveryClient = {
      upsert: async (documents, options) => (outcome = await this.upsert(documents, options)),
      probe: () => Promise.resolve(undefined),
    }
    const stop = signal ?? new AbortController().signal
    await deliverClaim({ claim: answer.claim, pass, askedAt, stop }, { ...context, client })
    return outcome
  }
}

function withoutEmail(outcome: CallOutcome, email: string): CallOutcome {
  if (outcome.kind !== 'response') return outcome
  const headers = Object.fromEntries(
    Object.entries(outcome.headers).map(([name, value]) => [name, hideEmail(value, email)]),
  )
  return { ...outcome, headers, body: hideEmail(outcome.body, email) }
}

/** As it was sent, as the path carried it, and as JSON may write it. */
function hideEmail(text: string, email: string): string {
  const wellFormed = email.toWellFormed()
  const forms = [
    email,
    encodeURIComponent(wellFormed),
    encodeURI(wellFormed),
    JSON.stringify(email).slice(1, -1),
  ]
  const pattern = [...new Set(forms)].map((form) => form.replaceAll(/[^\p{L}\p{N}@%]/gu, '\\$&')).join('|')
  return redactText(text.replaceAll(new RegExp(pattern, 'gi'), redactedText))
}
