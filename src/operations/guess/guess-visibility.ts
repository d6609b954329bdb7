import type { ColumnFacts } from './column-facts.ts'
import type { HeaderNames, Meaning } from './header-names.ts'
import { type Guesses, listed } from './model.ts'
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
  const blocked = guesses.get('blocked')
  const read = [
    ...(guess ? [guess.facts, ...guess.others] : []).map((facts) => ({ facts, ...cellsOf(facts) })),
    ...(blocked ? [blocked.facts, ...blocked.others] : []).map((facts) => ({ facts, ...openCells(facts) })),
  ]
  for (const { facts, cells, doubt } of read) {
    if (cells) where[facts.column] = cells
    if (doubt !== undefined) doubts.push(doubt)
  }
  return { where, doubts }
}

/** Columns that no rule reads and that may keep products out of the shop: each is asked about. */
export function doubtsOfUnread(columns: readonly ColumnFacts[], names: HeaderNames): string[] {
  return columns
    .filter((facts) => mayHide(facts, names.find(facts.column)?.meaning))
    .map(
      ({ column, values }) =>
        `fields.availability: ${JSON.stringify(column)} is not looked at: is all of ${listed(values)} for sale?`,
    )
}

function mayHide(facts: ColumnFacts, meaning: Meaning | undefined): boolean {
  if (meaning !== 'visibility' && meaning !== 'blocked') return false
  const { where, doubts } = guessVisibility(new Map([[meaning, { facts, reason: '', others: [] }]]))
  const isMixed = facts.values.length > 1 || facts.fill < 1
  return doubts.length > 0 || (Object.keys(where).length > 0 && isMixed)
}

const yes = /^(?:1|-1|true|t|yes|y|x|on|ja|j|oui|o|s[ií]|s|sim|tak|ano)$/i
const no = /^(?:0|false|f|no|n|off|-|nein|non|n[aã]o|nie|ne|nej|nee)$/i

/** Of a column that blocks products: the cells of those that are for sale. */
function openCells({ column, values }: ColumnFacts): { cells?: Cells; doubt?: string } {
  const hidden = values.filter(
    (value) => yes.test(value) || (!no.test(value) && readVisibility(value) === 'hidden'),
  )
  const unknown = values.filter((value) => !hidden.includes(value) && !no.test(value))
  const doubt = `is a product for sale whose ${JSON.stringify(column)} is ${listed(unknown)}?`
  const asks = unknown.length > 0 ? { doubt } : {}
  if (hidden.length > 0) return { ...asks, cells: { not: hidden } }
  // What else may stand there one day is not known: only what stands there now is for sale.
  return unknown.length > 0 ? asks : { cells: [...values, ...(values.includes('') ? [] : [''])] }
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
