import type { ProductId } from '../lib/brand.ts'
import { isObject } from './contract/json-value.ts'
import { hideSecrets, hideSecretsIn } from './hide-secrets.ts'
import { parseJson } from './response-body.ts'

/** A product that the endpoint refused by name, in the endpoint's own words. */
export interface NamedRefusal {
  productId: ProductId
  reason: string
}

const reasonCharactersMax = 1_000
const unexplained = 'no reason was given'

/**
 * Finds which products of a call a response body refuses: `{"errors":[{"product_id":…,"errors":…}]}`, whatever its
 * content type says. Ids may be numbers; the words may be a string, a list or an object. Products that were not in the
 * call are ignored. Empty when the body is not of that form. No reason shows any of `secrets`.
 */
export function findNamedRefusals(
  body: string,
  productIds: readonly ProductId[],
  secrets: readonly string[],
): NamedRefusal[] {
  const parsed = parseJson(body)
  if (!isObject(parsed) || !Array.isArray(parsed.errors)) return []
  const ours = new Set<string>(productIds)
  const refusals = new Map<string, NamedRefusal>()
  for (const entry of parsed.errors as unknown[]) {
    if (!isObject(entry)) continue
    const id = findId(entry.product_id, ours)
    if (id === undefined) continue
    const reason = describeWords(hideSecretsIn(entry.errors ?? entry.message, secrets)) || unexplained
    const known = refusals.get(id)
    refusals.set(id, {
      productId: id as ProductId,
      reason: known ? shorten(`${known.reason}; ${reason}`) : reason,
    })
  }
  return [...refusals.values()]
}

/** What a refusal that names nobody says: its message, else the beginning of its text; without the `secrets`. */
export function describeRefusal(body: string, secrets: readonly string[]): string {
  const parsed = parseJson(body)
  const words = isObject(parsed)
    ? describeWords(hideSecretsIn(parsed.message ?? parsed.error ?? parsed.errors ?? parsed.detail, secrets))
    : ''
  return words || shorten(hideSecrets(body, secrets)) || unexplained
}

function findId(value: unknown, ours: ReadonlySet<string>): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
  return ours.has(text) ? text : ours.has(text.trim()) ? text.trim() : undefined
}

function describeWords(words: unknown): string {
  if (typeof words === 'string') return shorten(words)
  if (Array.isArray(words)) return shorten(words.map(describeWords).filter(Boolean).join('; '))
  if (!isObject(words)) return words === undefined || words === null ? '' : String(words)
  const parts = Object.entries(words).map(([name, value]) => `${name}: ${describeWords(value)}`)
  return shorten(parts.join('; '))
}

/** One line without control characters, without the separators that servers leave at the end. */
function shorten(text: string): string {
  const line = text.slice(0, 4 * reasonCharactersMax).replace(/[\p{Cc}\s]+/gu, ' ')
  return line
    .slice(0, reasonCharactersMax)
    .trim()
    .replace(/[\s,;]+$/, '')
}
