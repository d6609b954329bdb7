/** A whole number of a query; whatever else stands there counts as left out. */
export function wholeNumber(text: unknown, otherwise: number): number {
  const value = typeof text === 'string' ? Number(text) : otherwise
  return Number.isSafeInteger(value) && value >= 0 ? value : otherwise
}

export function isoTime(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString()
}
