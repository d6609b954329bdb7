import type { CallOutcome } from '../api/call-outcome.ts'
import { redactedText, redactText } from '../lib/redact.ts'

/** What the endpoint answered, without the address that it was asked about. */
export function hideEmail(outcome: CallOutcome, email: string): CallOutcome {
  if (outcome.kind !== 'response') return outcome
  const headers = Object.fromEntries(
    Object.entries(outcome.headers).map(([name, value]) => [name, withoutEmail(value, email)]),
  )
  return { ...outcome, headers, body: withoutEmail(outcome.body, email) }
}

/** As it was sent, as the path carried it, and as JSON may write it. */
function withoutEmail(text: string, email: string): string {
  // Neither of its forms is without this; looking for them costs more than the rest of a call.
  if (!/@|%40/.test(text)) return redactText(text)
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
