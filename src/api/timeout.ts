import { ConfigError } from '../lib/errors.ts'

/** Timers of Node end at once when they are asked for more: some 24 days. */
const timeoutMsMax = 2 ** 31 - 1

/** Throws `ConfigError` for what no timer can keep. Calls would end before their answer could come. */
export function checkTimeout(timeoutMs: unknown): void {
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= timeoutMsMax) return
  const found = typeof timeoutMs === 'number' ? String(timeoutMs) : `a value of type ${typeof timeoutMs}`
  throw new ConfigError(
    'client-timeout',
    `timeoutMs: found ${found}, expected a number of milliseconds above 0, at most ${timeoutMsMax}`,
  )
}
