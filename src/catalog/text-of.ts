/**
 * A scalar as text; undefined for what has no one text form: lists, objects, and numbers that JSON has rounded already
 * (an id of 20 digits must be a string in NDJSON).
 */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value)
}
