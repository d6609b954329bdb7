import { isObject } from './contract/json-value.ts'

export interface Envelope {
  data: unknown
  /** The body is the data itself. */
  isBare: boolean
  /** How many records there are in all, where the server says so. */
  counts: number[]
}

/** The data of a body: in an envelope `{data, errors, count}`, or the bare body itself. */
export function readEnvelope(body: unknown): Envelope {
  if (!isObject(body) || !isEnvelope(body)) return { data: body, isBare: true, counts: [] }
  const count = isObject(body.count) ? [body.count.results_total, body.count.total] : [body.count]
  return { data: body.data, isBare: false, counts: count.map(toCount).filter((one) => one !== undefined) }
}

/** A record of its own may have a field `data` too; then it has an id, or further fields. */
function isEnvelope(body: Record<string, unknown>): boolean {
  if (!Object.hasOwn(body, 'data')) return false
  const hasNothingElse = Object.keys(body).every((name) => ['data', 'errors', 'count'].includes(name))
  return hasNothingElse || Array.isArray(body.errors) || isObject(body.count)
}

/** Servers write counts as texts. */
function toCount(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
