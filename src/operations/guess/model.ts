import type { ColumnFacts } from './column-facts.ts'
import type { Meaning } from './header-names.ts'

/** A column and what it is taken for. */
export interface MeaningGuess {
  facts: ColumnFacts
  /** Why, in words for a comment. */
  reason: string
  /** Columns whose names say the same, and whose cells fit too. */
  others: readonly ColumnFacts[]
  /** What speaks against it, for somebody to look at. */
  doubt?: string
}

export type Guesses = ReadonlyMap<Meaning, MeaningGuess>

/** One line below `fields`, and why it stands there. */
export interface RuleGuess {
  field: string
  /** In the words of the configuration. */
  rule: unknown
  comment: string
  /** Nothing in the file says so: somebody has to look at it. */
  open?: true | undefined
}

/** With what speaks against a line behind its comment: then somebody has to look at it. */
export function doubted<Line extends { comment: string }>(
  line: Line,
  doubts: readonly string[],
): Line & { open?: true } {
  if (doubts.length === 0) return line
  return { ...line, comment: [line.comment, ...doubts].join('; '), open: true }
}

/** What a file cannot know and its owner does. */
export interface Given {
  shopUrl: string | undefined
  currency: string | undefined
  /** A column, a template, or a rule in YAML's flow form, parsed. */
  id: unknown
}

/** For the comment beside a guess: why, and an example or what follows from it. */
export function why({ facts, reason }: MeaningGuess, more = ''): string {
  const example = facts.examples[0]
  const shown = example === undefined ? '' : `, such as ${oneLine(example)}`
  return `guessed: ${reason}${more === '' ? shown : `; ${more}`}`
}

/** Comments are one line, whatever a cell holds. */
export function oneLine(text: string, charactersMax = 40): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > charactersMax ? `${line.slice(0, charactersMax)}…` : line
}

export function listed(texts: readonly string[], listedMax = 3): string {
  const shown = texts.slice(0, listedMax).map((text) => JSON.stringify(oneLine(text)))
  return texts.length > listedMax
    ? `${shown.join(', ')} and ${texts.length - listedMax} more`
    : shown.join(', ')
}
