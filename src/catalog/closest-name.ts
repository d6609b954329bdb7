import { closest, distance } from 'fastest-levenshtein'

/** The most similar of some names, for "did you mean"; undefined when none is similar enough to be meant. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined
  const folded = names.map((other) => other.toLowerCase())
  const best = closest(name.toLowerCase(), folded)
  // Half of the name may differ: "Price" is a likely new name of "Price incl.", not of "Brand".
  const isSimilar =
    distance(name.toLowerCase(), best) <= Math.max(2, Math.ceil(Math.max(name.length, best.length) / 2))
  return isSimilar ? names[folded.indexOf(best)] : undefined
}

/** For the end of a sentence; empty where none is similar enough. */
export function didYouMean(name: string, names: readonly string[]): string {
  const suggestion = closestName(name, names)
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`
}
