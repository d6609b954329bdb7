import { type BoundConsents, compileConsentMapping } from '../catalog/consent-mapping.ts'
import type { ConsentIntake } from '../consents/model.ts'
import { positionOf } from '../consents/position.ts'
import { FileRefusedError } from '../lib/errors.ts'
import { redactEmails } from '../lib/redact.ts'
import type { Judgement } from '../records/judge.ts'
import type { RecordIssue } from '../records/model.ts'
import { openRejectsWriter } from '../records/rejects-writer.ts'
import { type Applied, applyPass, type BatchOf } from './apply-pass.ts'
import {
  describeJudgement,
  type Ending,
  type ImportRun,
  judge,
  listColumns,
  withRejects,
} from './import-run.ts'
import { type ConsentStep, planConsents } from './plan-consents.ts'
import { rejectsPath } from './report.ts'

/**
 * A file of consents: of several records with one address the last one of the file counts. Throws FileRefusedError when
 * it says nothing. Whatever is reported shows no address: only the file of rejected records holds them.
 */
export async function importConsents(run: ImportRun): Promise<Ending> {
  const { context, accept } = run
  try {
    const mapping = compileConsentMapping(context.feed)
    const judgement = await judge(run, {
      neededColumns: mapping.neededColumns,
      idReaderOf: (columns) => {
        const binding = mapping.bind(columns)
        return binding.kind === 'bound' ? binding.bound.idReader : undefined
      },
    })
    const binding = mapping.bind(judgement.columns)
    if (binding.kind === 'missing-columns') {
      throw refuseColumns(accept.name, binding.missingColumns, judgement.columns)
    }
    return await applyFile(run, judgement, binding.bound)
  } catch (error) {
    if (!(error instanceof FileRefusedError)) throw error
    const { code, message, hint } = error
    throw new FileRefusedError(code, redactEmails(message), {
      ...(hint === undefined ? {} : { hint: redactEmails(hint) }),
    })
  }
}

/** Without the address, and without what it says, a record means nothing: there is no part that could be applied. */
export function refuseColumns(
  name: string,
  missing: readonly { column: string; field: string; suggestion?: string }[],
  columns: readonly string[],
): FileRefusedError {
  const list = missing.map(({ column, field, suggestion }) => {
    return `"${column}" (for ${field})${suggestion === undefined ? '' : `, did you mean "${suggestion}"?`}`
  })
  const hasHeader = !columns.some((column) => column.includes('@'))
  const found = hasHeader ? `it has ${listColumns(columns)}` : 'the first line holds an address in its place'
  return new FileRefusedError(
    'no-consent-columns',
    `${name}: the header has no column ${list.join('; ')}; ${found}`,
    {
      hint: 'Correct fields in the configuration, or the header of the file, and drop it again',
    },
  )
}

async function applyFile(run: ImportRun, judgement: Judgement, mapping: BoundConsents): Promise<Ending> {
  const { context, accept, progress } = run
  const rejectsFile = rejectsPath(accept, {
    reportsDir: context.reportsDir,
    dialect: judgement.dialect,
    files: context.feed.files,
  })
  const intake = context.consents
  if (!intake) throw new Error('consents are imported without their intake')
  await using rejects = await openRejectsWriter({ ...judgement, path: rejectsFile })
  progress.update({ phase: 'applying', bytesRead: 0 })
  const { unchanged, ...counted } = await applyConsents(run, { judgement, mapping, rejects, intake })
  const { warnings = [], ...judged } = describeJudgement(judgement)
  const ending: Ending = {
    ...judged,
    warnings: warnings.map(redactEmails),
    outcome: 'imported',
    unchanged,
    counted,
  }
  return withRejects(ending, rejects, rejectsFile)
}

interface Applying {
  judgement: Judgement
  mapping: BoundConsents
  rejects: Awaited<ReturnType<typeof openRejectsWriter>>
  intake: ConsentIntake
}

function applyConsents(run: ImportRun, { mapping, intake, ...rest }: Applying): Promise<Applied> {
  const { hasher } = intake
  const { sequence } = run.accept
  return applyPass<ConsentStep>(
    { ...run, ...rest },
    {
      map: (record) => {
        const { id, statement, issues } = mapping.map(record)
        if (!statement) return { id, item: undefined, issues }
        const position = positionOf(sequence, record.record)
        return { id, item: { id: hasher.idOf(statement.email), statement, position }, issues }
      },
      describe: (issues) => issues.map(withoutAddress),
      apply: (batch) => applyBatch(run, intake, batch),
    },
  )
}

async function applyBatch(
  { context, accept }: ImportRun,
  intake: ConsentIntake,
  { items, progressJson, applied }: BatchOf<ConsentStep>,
): Promise<void> {
  const { feed, mirror } = context
  const ids = items.map(({ id }) => id)
  // Read outside of the transaction: what is acknowledged meanwhile is not later than what stands in Redis already.
  const acknowledged = await intake.readAcknowledged(ids)
  await mirror.update(ids, (stored) => {
    const plan = planConsents({ steps: items, stored, acknowledged })
    applied.unchanged += plan.unchanged
    return {
      writes: plan.writes,
      counts: { claim: accept.claim, add: plan.tally },
      ...(progressJson === undefined ? {} : { progress: { feed: feed.name, value: progressJson } }),
    }
  })
}

/** What a parser says of a line it cannot read quotes from it. */
export function withoutAddress(issue: RecordIssue): RecordIssue {
  const { remedy } = issue
  const isNoJson = issue.code === 'not-json'
  const message = isNoJson ? `is no JSON object${remedy ? `; ${remedy}` : ''}` : redactEmails(issue.message)
  const field = issue.field === undefined ? undefined : redactEmails(issue.field)
  const value = issue.value === undefined ? undefined : redactEmails(issue.value)
  return { ...issue, field, message, value }
}
