import type { CallOutcome } from '../api/call-outcome.ts'
import { hideSecrets } from '../api/hide-secrets.ts'
import { redactText } from '../lib/redact.ts'

/** What the endpoint answered, without the address that it was asked about. */
export function hideEmail(outcome: CallOutcome, email: string): CallOutcome {
  if (outcome.kind !== 'response') return outcome
  const headers = Object.fromEntries(
    Object.entries(outcome.headers).map(([name, value]) => [name, withoutEmail(value, email)]),
  )
  return { ...outcome, headers, body: withoutEmail(outcome.body, email) }
}

function withoutEmail(text: string, email: string): string {
  // Hardly any of its forms is without this; looking for them costs more than the rest of a call.
  return /@|%(?:25)*40/.test(text) ? hideSecrets(text, [email]) : redactText(text)
}
