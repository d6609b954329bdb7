import { productFields, sensitiveFields } from '../api/contract/product.ts'
import { redactEmails } from '../lib/redact.ts'

const shownCharactersMax = 80
const valueCharactersMax = 200

/** One value for a diff or a message: short, on one line, and nothing of sensitive fields. `field` may be a path. */
export function showValue(field: string, value: unknown): string {
  if (value === undefined) return '(none)'
  if (isSensitive(field)) return '(hidden)'
  // Cut before quoting, so that a text of megabytes costs nothing; and again, since quoting makes it longer.
  if (typeof value === 'string') return cut(JSON.stringify(cut(value)))
  return cut(JSON.stringify(value, hideSensitive) ?? String(value))
}

/** A value to be stored for people: numbers and short texts as they are, anything else as it is shown; null: none. */
export function shortValue(field: string, value: unknown): string | number | boolean | null {
  if (value === undefined || value === null) return null
  if (isSensitive(field)) return '(hidden)'
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return typeof value === 'string' ? cut(value) : showValue(field, value)
}

/**
 * What a record held where it is wrong, for whoever corrects it: as it stands there, on one line, cut. Undefined for
 * what holds nothing, or a sensitive field somewhere in it.
 */
export function foundValue(value: unknown): string | undefined {
  if (value === undefined) return undefined
  // Cut first with room for what redacting makes shorter, so that a text of megabytes costs nothing.
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 20_000)
  if (sensitiveFields.some((field) => text.includes(field))) return undefined
  const line = redactEmails(text.slice(0, 2 * valueCharactersMax))
    .replace(/\s+/g, ' ')
    .trim()
  if (line === '') return undefined
  return line.length > valueCharactersMax ? `${line.slice(0, valueCharactersMax - 1)}…` : line
}

/** A document for people: without sensitive values. */
export function shownDocument(document: Buffer): Readonly<Record<string, unknown>> {
  return JSON.parse(document.toString('utf8'), hideSensitive)
}

/** At any place of a path: a root (`supplier_cost`) or a part of a member. Keys of custom fields are the feed's own. */
export function isSensitive(path: string): boolean {
  const parts = path.split('.')
  if (parts[0] === 'custom_fields') return false
  return parts.some((part) => sensitiveFields.some((field) => field === part))
}

function hideSensitive(key: string, value: unknown): unknown {
  return productFields.some((field) => field === key) && isSensitive(key) ? '(hidden)' : value
}

function cut(text: string): string {
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax - 1)}…` : text
}
