/**
 * Numbers that stand for ids keep all their digits: the source text is taken where a double would round it.
 * Undefined for what is not JSON.
 */
export function parseJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? value) : value
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''), keepDigits)
  } catch {
    return undefined
  }
}
