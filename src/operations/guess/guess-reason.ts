import type { MeaningGuess } from './guess-meanings.ts'

/** For the comment beside a guess: why, and an example or what follows from it. */
export function why({ facts, reason }: MeaningGuess, more = ''): string {
  const example = facts.examples[0]
  const shown = example === undefined ? '' : `, such as ${oneLine(example)}`
  return `guessed: ${reason}${more === '' ? shown : `; ${more}`}`
}

/** Comments are one line, whatever a cell holds. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ').trim()
  return line.length > 40 ? `${line.slice(0, 40)}…` : line
}
