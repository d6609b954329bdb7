import type { ConsentStatement } from '../catalog/consent-mapping.ts'
import type { ConsentIntake } from '../consents/model.ts'
import { positionOf } from '../consents/position.ts'
import { FileRefusedError } from '../lib/errors.ts'
import { applyPass, type BatchOf } from './apply-pass.ts'
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
import { type ConsentStep, planConsents } from './plan-consents.ts'

/**
 * A file of consents: of several records with one address the last one of the file counts. Throws FileRefusedError when
 * it says nothing. Whatever is reported shows no address: only the file of rejected records holds them.
 */
export async function importConsents(run: ImportRun): Promise<Ending> {
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

async function applyFile(run: ImportRun, file: ConsentFile): Promise<Ending> {
  const { judgement } = file
  const intake = run.context.consents
  if (!intake) throw new Error('consents are imported without their intake')
  await using rejects = openRejects(run, judgement)
  run.progress.update({ phase: 'applying', bytesRead: 0 })
  const { unchanged, ...counted } = await applyPass(
    { ...run, file, rejects },
    { apply: (batch) => applyBatch(run, intake, batch) },
  )
  const ending: Ending = { ...describeJudgement(judgement), outcome: 'imported', unchanged, counted }
  return withRejects(ending, rejects)
}

async function applyBatch(
  { context, accept }: ImportRun,
  intake: ConsentIntake,
  { items, progressJson, applied }: BatchOf<ConsentStatement>,
): Promise<void> {
  const { feed, writer } = context
  const steps = items.map(({ item: statement, record }): ConsentStep => {
    const position = positionOf(accept.sequence, record.record)
    return { id: intake.hasher.idOf(statement.email), statement, position }
  })
  const ids = steps.map(({ id }) => id)
  // Read outside of the transaction: what is acknowledged meanwhile is not later than what stands in Redis already.
  const acknowledged = await intake.readAcknowledged(ids)
  let offered = false
  await writer.update(ids, (stored) => {
    const plan = planConsents({ steps, stored, acknowledged })
    offered = plan.writes.some(({ offer }) => offer !== undefined)
    applied.unchanged += plan.unchanged
    return {
      writes: plan.writes,
      counts: { sequence: accept.sequence, add: plan.tally },
      ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
    }
  })
  if (offered) context.onOffered()
}
