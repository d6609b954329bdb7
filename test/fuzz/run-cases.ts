import { csvKind } from './csv-kind.ts'
import { fileKind } from './file-kind.ts'
import { jsonKind, ndjsonKind } from './json-kind.ts'
import { differenceIn, type Kind, type Outcome, shrink } from './kind.ts'
import { Random } from './random.ts'
import { textKind } from './text-kind.ts'
import { xmlKind } from './xml-kind.ts'

export const parserKinds = [csvKind, xmlKind, jsonKind, ndjsonKind, textKind, fileKind] as readonly Kind[]

/** By kind of case. */
export interface Tally {
  [kind: string]: {
    cases: number
    /** Of generated texts by both sides, of mutated files by ours. */
    refused: number
    /** Of mutated files: why, and what was read from the others. */
    codes?: Record<string, number>
    documents?: number
  }
}

export interface Failure {
  case: number
  kind: string
  difference: string
  /** The smallest text found with a difference, and the rest of the case. */
  text: string
  settings: unknown
}

/** Runs the cases `from` up to but not including `to`. */
export async function runCases(
  seed: number,
  { from, to }: { from: number; to: number },
  kinds: readonly Kind[],
): Promise<{ tally: Tally; failures: Failure[] }> {
  const tally: Tally = Object.fromEntries(kinds.map(({ name }) => [name, { cases: 0, refused: 0 }]))
  const failures: Failure[] = []
  const { stackTraceLimit } = Error
  // Half of the texts are refused by throwing: where from is of interest only when that is wrong.
  Error.stackTraceLimit = 0
  for (let number = from; number < to; number++) {
    const random = Random.ofCase(seed, number)
    const kind = pickKind(random, kinds)
    const trial = kind.generate(random)
    const pending = attempt(kind, trial)
    const outcome = pending instanceof Promise ? await pending : pending
    const counts = tally[kind.name] as Tally[string]
    counts.cases += 1
    if (outcome === 'refused') counts.refused += 1
    if (differenceIn(outcome) === undefined) continue
    Error.stackTraceLimit = 20
    const tried: Kind = { ...kind, run: (smaller) => attempt(kind, smaller) }
    const smallest = await shrink(tried, trial)
    const again = await tried.run(smallest)
    failures.push({
      case: number,
      kind: kind.name,
      difference: (differenceIn(again) ?? 'it differs only at times').slice(0, 4000),
      text: smallest.parts.join(''),
      settings: trial.settings,
    })
    Error.stackTraceLimit = 0
  }
  Error.stackTraceLimit = stackTraceLimit
  return { tally, failures }
}

function pickKind(random: Random, kinds: readonly Kind[]): Kind {
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0)
  let left = random.next() * total
  for (const kind of kinds) {
    left -= kind.weight
    if (left < 0) return kind
  }
  return kinds[0] as Kind
}

/** An error that says nothing of the text is a bug like any other. */
function attempt(kind: Kind, trial: Parameters<Kind['run']>[0]): Outcome | Promise<Outcome> {
  const failed = (error: unknown): Outcome => ({
    difference: error instanceof Error ? (error.stack ?? error.message) : String(error),
  })
  try {
    const outcome = kind.run(trial)
    return outcome instanceof Promise ? outcome.catch(failed) : outcome
  } catch (error) {
    return failed(error)
  }
}
