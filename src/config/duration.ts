// Apart from the schema, which costs a short command a tenth of a second.

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const form = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

// setTimeout knows 31 bits; 24 days are more than any delay here means.
const timerMs = 2 ** 31 - 1
/** What is only compared with a time that has passed may be longer. */
export const longestMs = 100 * 365 * unitMs.d

/** `500ms`, `2s`, `1.5h`, or a plain 0 → whole milliseconds; undefined when it is none. */
export function parseDuration(value: unknown, maxMs: number = timerMs): number | undefined {
  if (value === 0 || value === '0') return 0
  if (typeof value !== 'string') return undefined
  const [, amount, unit] = form.exec(value.trim()) ?? []
  if (amount === undefined) return undefined
  const delayMs = Number(amount) * unitMs[unit as keyof typeof unitMs]
  return Number.isInteger(delayMs) && delayMs <= maxMs ? delayMs : undefined
}

/** The shortest form that `parseDuration` takes back: 90000 → `90s`. */
export function formatDuration(delayMs: number): string {
  const units = Object.entries(unitMs).reverse()
  const [unit, size] = units.find(([, length]) => delayMs > 0 && delayMs % length === 0) ?? ['s', 1000]
  return `${delayMs / size}${unit}`
}
