const integerForm = /^-?\d+$/

/**
 * Whole numbers too large for a double, which can only be ids, keep all their digits: they come as texts. Undefined for
 * what is not JSON.
 */
export function parseJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
    const { source } = context ?? {}
    return source !== undefined && integerForm.test(source) ? source : value
  }
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''), keepDigits)
  } catch {
    return undefined
  }
}
