import type { ConsentReader } from '../consents/reader.ts'
import type { ConsentStore, Facts } from '../consents/store.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { ClaimId } from '../sources/model.ts'
import type { ImportBook } from './context.ts'
import { keyOf } from './manifest-steps.ts'

/** What imports of consents remember stands beside the consents; nothing of them is ever held. */
export function consentBook(consents: ConsentStore, manifest: ManifestView): ImportBook {
  return {
    ...readConsentBook(consents, manifest),
    update: async (change) => consents.apply([], () => factsOfBook(consents, change)),
  }
}

/** The same for who only reads. */
export function readConsentBook(consents: ConsentReader, manifest: ManifestView): Omit<ImportBook, 'update'> {
  return {
    *applied(scope) {
      const sequence = consents.applied(scope)
      const [step] = manifest.after((sequence - 1) as AcceptSequence)
      if (step?.sequence === sequence) yield { sequence, key: keyOf(step) }
    },
    // Of files; decisions are looked for behind the last one that was applied alone.
    isApplied(key) {
      const file = manifest.fileOf(key as ClaimId)
      return file !== undefined && file.sequence <= consents.applied(file.feed)
    },
    held: () => new Map(),
    counts: (claim) => countsOf(consents, claim),
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
  if (forgetCounts !== undefined) facts[countsName(forgetCounts)] = undefined
  if (counts) {
    const tally = { ...countsOf(consents, counts.claim) }
    for (const [name, by] of Object.entries(counts.add)) tally[name] = (tally[name] ?? 0) + by
    facts[countsName(counts.claim)] = JSON.stringify(tally)
  }
  return facts
}

function countsOf(consents: ConsentReader, claim: string): Readonly<Record<string, number>> {
  return JSON.parse(consents.fact(countsName(claim)) ?? '{}') as Record<string, number>
}

function countsName(claim: string): string {
  return `counts:${claim}`
}
