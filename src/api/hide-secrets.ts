import { redactedText, redactText } from '../lib/redact.ts'

/** A token this short is none, and hiding it would hide half of every text. */
const secretCharactersMin = 3
const depthMax = 20

/** Hides what a call carried that nobody may see, in every form a server may echo it in, and all e-mail addresses. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret.length >= secretCharactersMin).flatMap(formsOf)
  if (forms.length === 0) return redactText(text)
  // Longer forms first: one may be the beginning of another.
  const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(sorted.map(escapePattern).join('|'), 'gi')
  return redactText(text.replaceAll(pattern, redactedText))
}

/** The same in every text of a JSON value, keys included. */
export function hideSecretsIn(value: unknown, secrets: readonly string[], depth = 0): unknown {
  if (typeof value === 'string') return hideSecrets(value, secrets)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return '…'
  if (Array.isArray(value)) return value.map((one) => hideSecretsIn(one, secrets, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      hideSecrets(key, secrets),
      hideSecretsIn(one, secrets, depth + 1),
    ]),
  )
}

/** As it is, in a URL, in JSON, and as Basic credentials. */
function formsOf(secret: string): string[] {
  const wellFormed = secret.toWellFormed()
  return [
    secret,
    encodeURIComponent(wellFormed),
    // Redirects escape what is escaped already.
    encodeURIComponent(encodeURIComponent(wellFormed)),
    encodeURI(wellFormed),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(`:${secret}`).toString('base64'),
  ]
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
