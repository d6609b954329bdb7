import { isEmailAddress } from '../api/contract/values.ts'
import { Problem } from './problem.ts'
import { textOf } from './text-of.ts'

/**
 * Words that files write for the two states, in any case, with a blank, hyphen or underscore between their parts or
 * none. Only words that mean the same everywhere: a file that writes "A" and "N" needs `when`.
 */
const grants = words('true t yes y 1 on optin optedin subscribe subscribed grant granted')
const revocations = words('false f no n 0 off optout optedout unsubscribe unsubscribed revoke revoked')

const shownCharactersMax = 20

/** A permission; empty cells never get here. */
export function coerceConsent(value: unknown): boolean | Problem {
  const text = textOf(value)
  // Only between letters: -1 is no 1.
  const word = text
    ?.trim()
    .toLowerCase()
    .replaceAll(/(?<=[a-z])[ _-](?=[a-z])/g, '')
  if (word !== undefined && grants.has(word)) return true
  if (word !== undefined && revocations.has(word)) return false
  const found = `found ${describeCell(value)}, expected true or false, yes or no, 1 or 0`
  return new Problem('not-a-consent', { found, remedy: 'correct it, or translate the word with when' })
}

/** An address as it is written, without what surrounds it. Problems never show it. */
export function coerceEmail(value: unknown): string | Problem {
  const text = textOf(value)?.trim()
  if (text !== undefined && isEmailAddress(text)) return text
  return new Problem('not-an-email', {
    found: 'found a text (not shown) that is no e-mail address',
    remedy: 'give one address, without blanks or a name around it',
  })
}

/** Under which different spellings of an address are one. */
export function foldEmail(email: string): string {
  return email.trim().toLowerCase()
}

/** Only what looks like a word: any other cell of such a file may tell who somebody is. */
export function describeCell(value: unknown): string {
  const text = textOf(value)
  const isWord = text !== undefined && text.length <= shownCharactersMax && /^[\p{L}\p{N} _-]*$/u.test(text)
  return isWord ? `the text ${JSON.stringify(text)}` : 'a value (not shown)'
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}
