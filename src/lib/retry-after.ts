const retryAfterMsMax = 3_600_000

/** `Retry-After` as seconds or as an HTTP date, at most an hour; undefined when there is none that can be read. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim()
  if (!text) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(retryAfterMsMax, Math.ceil(Number(text) * 1000))
  // Only forms that begin with the name of a day are HTTP dates; Date.parse alone would take almost anything.
  const at = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.min(retryAfterMsMax, Math.max(0, at - now))
}
