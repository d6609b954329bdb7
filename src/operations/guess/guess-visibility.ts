import type { ColumnFacts } from './column-facts.ts'
import { listed } from './guess-reason.ts'
import type { Guesses } from './model.ts'
import { readVisibility } from './visibility-words.ts'

type Cells = readonly string[] | { not: readonly string[] }

/** Which records are shown: the cells of columns, in the words of a rule. */
export interface VisibilityGuess {
  where: Readonly<Record<string, Cells>>
  /** What is to be looked at. */
  doubts: readonly string[]
}

/** More than these are no states. */
const statesMax = 6

/** Where in the shop a product is shown: other places than those of the sample are no less so. */
const ofPlaces = /^(both|visible|catalog|search|catalog, search)$/i
const nowhere = ['none', 'hidden']

export function guessVisibility(guesses: Guesses): VisibilityGuess {
  const guess = guesses.get('visibility')
  const where: Record<string, Cells> = {}
  const doubts: string[] = []
  for (const facts of guess ? [guess.facts, ...guess.others] : []) {
    const { cells, doubt } = cellsOf(facts)
    if (cells) where[facts.column] = cells
    if (doubt !== undefined) doubts.push(doubt)
  }
  return { where, doubts }
}

function cellsOf({ column, values, fill }: ColumnFacts): { cells?: Cells; doubt?: string } {
  const of = (state: ReturnType<typeof readVisibility>) =>
    values.filter((value) => readVisibility(value) === state)
  const [shown, hidden, unknown] = [of('shown'), of('hidden'), of(undefined)]
  const doubt = `is a product shown whose ${JSON.stringify(column)} is ${listed(unknown)}?`
  if (unknown.length > 0) {
    // One word for all products tells nothing.
    const asks = values.length > 1 && values.length <= statesMax ? { doubt } : {}
    return hidden.length > 0 ? { ...asks, cells: { not: hidden } } : asks
  }
  if (shown.some((value) => ofPlaces.test(value)))
    return { cells: { not: hidden.length > 0 ? hidden : nowhere } }
  // The sample may hold no product that is hidden: what is not one of these words is no longer shown.
  return { cells: shown.length > 0 ? [...shown, ...(fill < 1 ? [''] : [])] : { not: hidden } }
}
