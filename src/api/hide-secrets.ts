import { redactedText, redactText } from '../lib/redact.ts'

/** A token this short is none, and hiding it would hide half of every text. */
const secretCharactersMin = 3
const depthMax = 20

const patterns = new WeakMap<readonly string[], RegExp | undefined>()

/**
 * Hides what a call carried that nobody may see, in every form a server may echo it in, and all e-mail addresses. Texts are
 * hidden before they are cut: half a secret would not be found.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  if (!patterns.has(secrets)) patterns.set(secrets, patternOf(secrets))
  const pattern = patterns.get(secrets)
  return redactText(pattern ? text.replaceAll(pattern, redactedText) : text)
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

function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = secrets
    .filter((secret) => secret.length >= secretCharactersMin)
    // As Basic credentials, too.
    .flatMap((secret) => [secret, Buffer.from(`:${secret}`).toString('base64')])
    // Longer ones first: one may be the beginning of another.
    .sort((a, b) => b.length - a.length)
  return forms.length === 0 ? undefined : new RegExp(forms.map(formOf).join('|'), 'gi')
}

/** Each character as it is, or escaped as in a URL (redirects escape what is escaped already), in JSON or in HTML. */
function formOf(secret: string): string {
  return Array.from(secret, (character) => {
    if (/[a-z0-9]/i.test(character)) return character
    const code = character.codePointAt(0) ?? 0
    const inUrl = Array.from(Buffer.from(character), (byte) => `%(?:25)*${hex(byte, 2)}`).join('')
    const inJson = character.split('').map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`)
    const named = htmlNames.get(character)
    const inHtml = `&(?:#0*${code}|#x0*${hex(code, 1)}${named ? `|${named}` : ''});`
    return `(?:\\\\?${escapePattern(character)}|${inUrl}|${inJson.join('')}|${inHtml})`
  }).join('')
}

const htmlNames: ReadonlyMap<string, string> = new Map([
  ['&', 'amp'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['"', 'quot'],
  ["'", 'apos'],
  ['@', 'commat'],
  ['+', 'plus'],
  ['/', 'sol'],
  ['=', 'equals'],
])

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
