import type { Change } from '../catalog/model.ts'
import { positionOf } from '../consents/position.ts'
import { ConsentReader } from '../consents/reader.ts'
import { type ConsentStep, changeOf } from '../consents/row.ts'
import { tallyConsent } from '../imports/import-consents.ts'
import { type ConsentFile, readFeedFile } from '../imports/open-feed-file.ts'
import { ProblemCollector } from '../imports/report.ts'
import type { Tally } from '../imports/tally.ts'
import type { AcceptSequence, ProductId } from '../lib/brand.ts'

interface DiffOptions {
  /** `state/<catalog>`. */
  dir: string
  nowMs: number
  onChange: (change: Change) => void
}

interface Counts {
  rejected: number
  unchanged: number
  changes: Tally
}

/** A file that comes now stands behind everything that was accepted. */
const newest = 9_999_999_999 as AcceptSequence

/** Which consents a file would change; calls `onChange` with the address in place of the id. */
export async function diffConsents(file: ConsentFile, options: DiffOptions, counts: Counts): Promise<void> {
  const { dir, nowMs, onChange } = options
  // Undefined: no consent was ever taken in here, and a look creates nothing.
  using known = ConsentReader.open(dir)
  const problems = new ProblemCollector()
  for await (const { items, superseded } of readFeedFile(file, { now: () => nowMs, problems })) {
    counts.changes.superseded += superseded.length
    for (const { id, item: statement, record } of items) {
      const key = known ? known.idOf(statement.email) : (id as ConsentStep['id'])
      const step = { id: key, statement, position: positionOf(newest, record.record) }
      diffStep(step, { known, counts, onChange })
    }
  }
  counts.rejected = problems.rejected
}

interface Known extends Pick<DiffOptions, 'onChange'> {
  known: ConsentReader | undefined
  counts: Counts
}

function diffStep(step: ConsentStep, { known, counts, onChange }: Known): void {
  const { email, consent } = step.statement
  const row = known?.find(step.id)
  const change = changeOf(row, step)
  tallyConsent(counts.changes, step, change)
  if (change !== 'added' && change !== 'changed') {
    counts.unchanged += 1
    return
  }
  const before = row?.consent == null ? undefined : row.consent === 1
  onChange({
    productId: email as ProductId,
    kind: change,
    lane: consent ? 'new' : 'urgent',
    fields: [{ field: 'consent', before, after: consent }],
  })
}
