import type { Random } from './random.ts'

/** An input of a parser in parts, so that a failing one can be made smaller, and all else that it was tried with. */
export interface Trial<Settings> {
  parts: readonly string[]
  settings: Settings
}

/** What a trial came to: both sides refuse the text whole, both read the same from it, or there is a difference. */
export type Outcome = 'read' | 'refused' | { difference: string }

/** One way to hold a parser against another. */
export interface Kind<Settings = unknown> {
  name: string
  /** Of all cases, in relation to the others. */
  weight: number
  generate(random: Random): Trial<Settings>
  run(trial: Trial<Settings>): Outcome | Promise<Outcome>
}

export function differenceIn(outcome: Outcome): string | undefined {
  return typeof outcome === 'string' ? undefined : outcome.difference
}

/** Leaves out parts for as long as there is a difference. */
export async function shrink<Settings>(
  kind: Kind<Settings>,
  trial: Trial<Settings>,
): Promise<Trial<Settings>> {
  let parts = trial.parts
  let tries = 3000
  for (let size = parts.length >> 1 || 1; size >= 1; size = size === 1 ? 0 : size >> 1) {
    for (let at = 0; at < parts.length && tries > 0; tries--) {
      const fewer = parts.toSpliced(at, size)
      const outcome = await kind.run({ ...trial, parts: fewer })
      if (differenceIn(outcome) === undefined) at += size
      else parts = fewer
    }
  }
  return { ...trial, parts }
}
