import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../config/duration.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import { ConfigError } from '../lib/errors.ts'

/** What is wrong with the value of an option or argument: what is expected. Ends the command with exit code 2. */
function usageError(expected: string): Error {
  return new InvalidArgumentError(`Expected ${expected}.`)
}

export function wholeNumberOption({ min, max }: { min: number; max: number }): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    throw usageError(`a whole number from ${min} to ${max}`)
  }
}

/** The number of an import, given as an argument: commander does not name the argument of a wrong one. */
export function importNumber(text: string): AcceptSequence {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text) as AcceptSequence
  throw new ConfigError('usage', `"${text}" is no number of an import`, { hint: 'See catalogd imports' })
}

/** Milliseconds, as a plain number or as in the configuration (`200`, `200ms`, `2s`). */
export function delayOption(text: string): number {
  const delayMs = /^\d{1,9}$/.test(text) ? Number(text) : parseDuration(text)
  if (delayMs !== undefined) return delayMs
  throw usageError('milliseconds, or a duration such as 200ms or 2s')
}

/** So many requests in so long: `450/900s`. */
export function rateOption(text: string): { requests: number; perMs: number } {
  const [requests = '', per, ...more] = text.split('/')
  const perMs = parseDuration(per)
  if (/^[1-9]\d{0,8}$/.test(requests) && perMs !== undefined && perMs > 0 && more.length === 0) {
    return { requests: Number(requests), perMs }
  }
  throw usageError('requests and a duration, such as 450/900s')
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** A currency as ISO 4217 calls it, in either case. */
export function currencyOption(text: string): string {
  if (currencies.has(text.toUpperCase())) return text
  throw usageError('a currency code such as EUR')
}

/** The address of a shop, without a slash at its end. */
export function shopUrlOption(text: string): string {
  const address = URL.parse(text)
  if (address && /^https?:$/.test(address.protocol)) return text.replace(/\/+$/, '')
  throw usageError('an address such as https://shop.example')
}
