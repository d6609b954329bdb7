import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ConsentStatement } from '../catalog/consent-mapping.ts'
import type { ConsentReader } from '../consents/reader.ts'
import { type ConsentChange, type ConsentStep, positionOf } from '../consents/row.ts'
import type { ConsentStore, Facts } from '../consents/store.ts'
import type { AcceptSequence } from '../lib/brand.ts'
import { FileRefusedError } from '../lib/errors.ts'
import type { ManifestView } from '../sources/manifest-index.ts'
import type { ClaimId } from '../sources/model.ts'
import { applyPass, type BatchOf } from './apply-pass.ts'
import type { ImportBook, StepContext } from './context.ts'
import {
  describeJudgement,
  type Ending,
  type ImportRun,
  judge,
  listColumns,
  listMissing,
  openRejects,
  withRejects,
} from './import-run.ts'
import { keyOf } from './manifest-steps.ts'
import { openConsents, type UnboundFile } from './open-feed-file.ts'
import { emptyTally, type Tally } from './tally.ts'

/** So many rows block the thread for a few milliseconds. */
const stepsPerCommit = 250

type ConsentRun = ImportRun<StepContext & { consents: ConsentStore }>

/**
 * A file of consents: of several records with one address the last one of the file counts. Throws FileRefusedError when
 * it says nothing. Whatever is reported shows no address: only the file of rejected records holds them.
 */
export async function importConsents(run: ConsentRun): Promise<Ending> {
  const file = await judge(run, openConsents)
  if (file.kind !== 'consents') throw refuseColumns(run.accept.name, file)
  const { judgement } = file
  await using rejects = openRejects(run, judgement)
  run.progress.update({ phase: 'applying', bytesRead: 0 })
  const apply = (batch: BatchOf<ConsentStatement>) => applyBatch(run, batch)
  const { unchanged, ...counted } = await applyPass({ ...run, file, rejects }, { apply })
  const ending: Ending = { ...describeJudgement(judgement), outcome: 'imported', unchanged, counted }
  return withRejects(ending, rejects)
}

/** Without the address, and without what it says, a record means nothing: there is no part that could be applied. */
export function refuseColumns(name: string, { missingColumns, judgement }: UnboundFile): FileRefusedError {
  const { columns } = judgement
  const hasHeader = !columns.some((column) => column.includes('@'))
  const found = hasHeader ? `it has ${listColumns(columns)}` : 'the first line holds an address in its place'
  const reason = `${name}: the header has no column ${listMissing(missingColumns)}; ${found}`
  const hint = 'Correct fields in the configuration, or the header of the file, and drop it again'
  return new FileRefusedError('no-consent-columns', reason, { hint })
}

async function applyBatch(
  { context: { consents, feed }, accept }: ConsentRun,
  { items, progressJson, applied }: BatchOf<ConsentStatement>,
): Promise<void> {
  const progress = progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }
  for (let start = 0; start < items.length; start += stepsPerCommit) {
    const steps = items
      .slice(start, start + stepsPerCommit)
      .map(({ item: statement, record }): ConsentStep => {
        const position = positionOf(accept.sequence, record.record)
        return { id: consents.idOf(statement.email), statement, position }
      })
    // Others have the thread between two commits.
    await nextTurn()
    consents.apply(steps, (changes) => {
      const tally = emptyTally()
      for (const [index, step] of steps.entries()) tallyConsent(tally, step, changes[index])
      applied.unchanged += steps.length - tally.added - tally.changed
      return factsOfBook(consents, { counts: { claim: accept.claim, add: { ...tally } }, ...progress })
    })
  }
}

/** Revocations count as urgent, grants as new. */
export function tallyConsent(tally: Tally, { statement }: ConsentStep, change: ConsentChange): void {
  if (change === undefined) return
  tally[change] += 1
  tally[statement.consent ? 'new' : 'urgent'] += 1
}

/** What imports of consents remember stands beside the consents; nothing of them is ever held. For who only reads. */
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

/** What is to be written of it, in the transaction that writes the consents. */
export function factsOfBook(
  consents: ConsentStore,
  { applied, progress, counts, forgetCounts }: Parameters<ImportBook['update']>[0],
): Facts {
  const facts: Record<string, string | undefined> = {}
  if (applied) facts[`applied:${applied.scope}`] = String(applied.sequence)
  if (progress) facts[`progress:${progress.feed}`] = progress.value
  if (forgetCounts !== undefined) facts[`counts:${forgetCounts}`] = undefined
  if (counts) {
    const tally = { ...countsOf(consents, counts.claim) }
    for (const [name, by] of Object.entries(counts.add)) tally[name] = (tally[name] ?? 0) + by
    facts[`counts:${counts.claim}`] = JSON.stringify(tally)
  }
  return facts
}

function countsOf(consents: ConsentReader, claim: string): Readonly<Record<string, number>> {
  return JSON.parse(consents.fact(`counts:${claim}`) ?? '{}') as Record<string, number>
}
