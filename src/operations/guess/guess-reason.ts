import type { MeaningGuess } from './model.ts'

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

/** Some of the texts, for a comment. */
export function listed(texts: readonly string[], listedMax = 3): string {
  const shown = texts.slice(0, listedMax).map((text) => JSON.stringify(oneLine(text)))
  return texts.length > listedMax
    ? `${shown.join(', ')} and ${texts.length - listedMax} more`
    : shown.join(', ')
}
