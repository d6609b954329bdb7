import type { ConsentStatement } from '../catalog/consent-mapping.ts'
import { type ConsentChange, type ConsentStep, positionOf } from '../consents/row.ts'
import type { ConsentStore } from '../consents/store.ts'
import { FileRefusedError } from '../lib/errors.ts'
import { applyPass, type BatchOf } from './apply-pass.ts'
import { factsOfBook } from './consent-book.ts'
import type { StepContext } from './context.ts'
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
import { type ConsentFile, openConsents, type UnboundFile } from './open-feed-file.ts'
import { emptyTally, type Tally } from './tally.ts'

/** So many rows block the thread for a few milliseconds. */
const stepsPerCommit = 250

export interface ConsentContext extends StepContext {
  consents: ConsentStore
}

type ConsentRun = ImportRun<ConsentContext>

/**
 * A file of consents: of several records with one address the last one of the file counts. Throws FileRefusedError when
 * it says nothing. Whatever is reported shows no address: only the file of rejected records holds them.
 */
export async function importConsents(run: ConsentRun): Promise<Ending> {
  const opened = await judge(run, openConsents)
  if (opened.kind === 'consents') return await applyFile(run, opened)
  throw refuseColumns(run.accept.name, opened)
}

/** Without the address, and without what it says, a record means nothing: there is no part that could be applied. */
export function refuseColumns(
  name: string,
  { missingColumns, judgement: { columns } }: UnboundFile,
): FileRefusedError {
  const hasHeader = !columns.some((column) => column.includes('@'))
  const found = hasHeader ? `it has ${listColumns(columns)}` : 'the first line holds an address in its place'
  return new FileRefusedError(
    'no-consent-columns',
    `${name}: the header has no column ${listMissing(missingColumns)}; ${found}`,
    {
      hint: 'Correct fields in the configuration, or the header of the file, and drop it again',
    },
  )
}

async function applyFile(run: ConsentRun, file: ConsentFile): Promise<Ending> {
  const { judgement } = file
  await using rejects = openRejects(run, judgement)
  run.progress.update({ phase: 'applying', bytesRead: 0 })
  const { unchanged, ...counted } = await applyPass(
    { ...run, file, rejects },
    { apply: (batch) => applyBatch(run, batch) },
  )
  const ending: Ending = { ...describeJudgement(judgement), outcome: 'imported', unchanged, counted }
  return withRejects(ending, rejects)
}

async function applyBatch(
  { context: { consents, feed }, accept }: ConsentRun,
  { items, progressJson, applied }: BatchOf<ConsentStatement>,
): Promise<void> {
  for (let start = 0; start < items.length; start += stepsPerCommit) {
    const steps = items
      .slice(start, start + stepsPerCommit)
      .map(({ item: statement, record }): ConsentStep => {
        const position = positionOf(accept.sequence, record.record)
        return { id: consents.idOf(statement.email), statement, position }
      })
    consents.apply(steps, (changes) => {
      const tally = emptyTally()
      for (const [index, step] of steps.entries()) tallyConsent(tally, step, changes[index] ?? 'passed')
      applied.unchanged += steps.length - tally.added - tally.changed
      const progress =
        progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }
      return factsOfBook(consents, { counts: { claim: accept.claim, add: { ...tally } }, ...progress })
    })
  }
}

/** Revocations count as urgent, grants as new. */
export function tallyConsent(tally: Tally, { statement }: ConsentStep, change: ConsentChange): void {
  if (change !== 'added' && change !== 'changed') return
  tally[change] += 1
  tally[statement.consent ? 'new' : 'urgent'] += 1
}
