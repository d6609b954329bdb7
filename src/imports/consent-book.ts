import type { ConsentStore, Facts } from '../consents/store.ts'
import type { ImportBook } from './context.ts'
import { emptyTally, type Tally } from './tally.ts'

/** What imports of consents remember stands beside the consents; nothing of them is ever held. */
export function consentBook(consents: ConsentStore): ImportBook {
  return {
    applied: async (scope) => consents.applied(scope),
    held: async () => null,
    tally: async (sequence) => tallyOf(consents, sequence),
    update: (change) => consents.apply([], () => factsOfBook(consents, change)),
  }
}

/** In the transaction that writes them. */
export function factsOfBook(
  consents: ConsentStore,
  { applied, progress, counts, forgetCounts }: Parameters<ImportBook['update']>[0],
): Facts {
  const facts: Record<string, string | undefined> = {}
  if (applied) facts[`applied:${applied.scope}`] = String(applied.sequence)
  if (progress) facts[`progress:${progress.feed}`] = progress.value
  if (forgetCounts) facts[countsName(forgetCounts.sequence)] = undefined
  if (counts) {
    const tally: Record<string, number> = tallyOf(consents, counts.sequence)
    for (const [name, by] of Object.entries(counts.add)) tally[name] = (tally[name] ?? 0) + by
    facts[countsName(counts.sequence)] = JSON.stringify(tally)
  }
  return facts
}

function tallyOf(consents: ConsentStore, sequence: number): Tally {
  const text = consents.fact(countsName(sequence))
  return text === undefined ? emptyTally() : (JSON.parse(text) as Tally)
}

function countsName(sequence: number): string {
  return `counts:${sequence}`
}
