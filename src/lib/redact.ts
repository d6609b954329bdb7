/** What stands in place of a secret, in logs and in printed configuration. */
export const redactedText = '********'

/**
 * Names under which secrets and sensitive fields travel, compared without case, hyphens and underscores.
 * A name that ends with one of the suffixes counts too (`productsToken`, `apiKey`).
 */
const secretNames: ReadonlySet<string> = new Set([
  'auth',
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'credentials',
  'xaccesstoken',
  'suppliercost',
])
const secretSuffixes = ['token', 'password', 'secret', 'apikey', 'accesskey'] as const

/** Deeper values are cut: a log line describes, it does not carry documents. */
const depthMax = 6
const itemsMax = 50

/** True for a key whose value must not be shown. */
export function isSecretName(name: string): boolean {
  const plain = name.replaceAll(/[-_]/g, '').toLowerCase()
  return secretNames.has(plain) || secretSuffixes.some((suffix) => plain.endsWith(suffix))
}

/** No mailbox and no label is longer; the bounds keep the search linear in long texts without blanks. */
const emailForm =
  /[\p{L}\p{N}.!#$%&'+^_`{|}~-]{1,64}(?:@|%40|&#64;|&#x40;|&commat;|\\u0040)(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}[\p{L}\p{N}-]{1,62}/giu

const emailSign = /@|%40|&#64;|&#x40;|&commat;|\\u0040/i

/**
 * Hides e-mail addresses, plain and as they stand in a URL, in HTML or in JSON. `name@1.2.3` is none, nor is a host without
 * a dot.
 */
export function redactEmails(text: string): string {
  return emailSign.test(text) ? text.replaceAll(emailForm, redactedText) : text
}

/**
 * Hides user-info of addresses, secret query parameters, credentials of an authorization header, and e-mail addresses
 * inside a text.
 */
export function redactText(text: string): string {
  return redactEmails(text)
    .replaceAll(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']*@/gi, `$1${redactedText}@`)
    .replaceAll(/([?&][a-z_-]*(?:token|password|secret|key)=)[^&#\s"']+/gi, `$1${redactedText}`)
    .replaceAll(/\b(Basic|Bearer) +[A-Za-z0-9+/=._~-]{8,}/g, `$1 ${redactedText}`)
    .replaceAll(/(supplier_cost\\?"?\s*[:=]\s*\\?"?)[-+]?\d[^\s"\\,}\]]*/gi, `$1${redactedText}`)
}

/** A copy of plain data in which secrets are hidden at any depth. Other objects (errors, streams) pass unchanged. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return '…'
  if (Array.isArray(value)) return redactItems(value, depth)
  if (value instanceof URL) return redactText(value.href)
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [
      key,
      isSecretName(key) && entry !== undefined ? redactedText : redactValue(entry, depth + 1),
    ]),
  )
}

function redactItems(items: readonly unknown[], depth: number): unknown[] {
  const shown = items.slice(0, itemsMax).map((item) => redactValue(item, depth + 1))
  return items.length > itemsMax ? [...shown, `… ${items.length - itemsMax} more`] : shown
}

export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
