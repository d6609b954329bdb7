import type { FieldRule } from '../config/rule-model.ts'
import { Problem } from './problem.ts'

const quote = '"'

/**
 * `colour=red,size="L, long",note=a, b`: a value in quotes may hold anything (a quote is doubled), and a piece without
 * the mark of equality belongs to the value before it, as shops write both. Of pairs with one name the last counts.
 */
export function readPairs(
  text: string,
  { separator, equals }: NonNullable<FieldRule['pairs']>,
): Map<string, string> | Problem {
  const pairs = new Map<string, string>()
  let name: string | undefined
  let middle = -1
  /** Separators followed only by blanks. They belong to the value only if more of it follows. */
  let blank = ''
  for (let at = 0; at <= text.length; ) {
    const end = nextOf(text, separator, at)
    // Remembered: it may stand far behind, or nowhere, and pieces may be many.
    if (middle < at) middle = nextOf(text, equals, at)
    if (middle >= end) {
      const piece = text.slice(at, end)
      if (piece.trim() === '') blank += separator + piece
      else if (name === undefined) return notAPair(piece, equals)
      else {
        pairs.set(name, `${pairs.get(name)}${blank}${separator}${piece}`)
        blank = ''
      }
      at = end + separator.length
      continue
    }
    blank = ''
    name = text.slice(at, middle).trim()
    if (name === '') return notAPair(text.slice(at, end), equals)
    const start = middle + equals.length
    const quoted = text[start] === quote ? readQuoted(text, start, separator) : undefined
    pairs.set(name, quoted?.value ?? text.slice(start, end))
    at = (quoted?.end ?? end) + separator.length
  }
  for (const [key, value] of pairs) pairs.set(key, value.trim())
  return pairs
}

/** Undefined when the quote is an ordinary character: it is not closed right before a separator or the end. */
function readQuoted(
  text: string,
  start: number,
  separator: string,
): { value: string; end: number } | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== quote) continue
    if (text[at + 1] === quote) {
      at += 1
      continue
    }
    const end = at + 1
    if (end < text.length && !text.startsWith(separator, end)) return undefined
    return { value: text.slice(start + 1, at).replaceAll(quote + quote, quote), end }
  }
  return undefined
}

function nextOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found < 0 ? text.length : found
}

function notAPair(piece: string, equals: string): Problem {
  const found = `found ${JSON.stringify(piece.slice(0, 40))}, expected a name, ${JSON.stringify(equals)} and a value`
  return new Problem('not-a-pair', { found, remedy: 'correct the cell or pairs' })
}
