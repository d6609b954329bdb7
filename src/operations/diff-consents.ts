import type { Change } from '../catalog/model.ts'
import { ConsentReader } from '../consents/reader.ts'
import { changeOf, positionOf } from '../consents/row.ts'
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
export async function diffConsents(
  file: ConsentFile,
  { dir, nowMs, onChange }: DiffOptions,
  counts: Counts,
): Promise<void> {
  using known = ConsentReader.open(dir)
  const problems = new ProblemCollector()
  for await (const { items, superseded } of readFeedFile(file, { now: () => nowMs, problems })) {
    counts.changes.superseded += superseded.length
    for (const { item: statement, record } of items) {
      const { email, consent } = statement
      const step = { id: known.idOf(email), statement, position: positionOf(newest, record.record) }
      const row = known.find(step.id)
      const kind = changeOf(row, step)
      tallyConsent(counts.changes, step, kind)
      if (kind !== 'added' && kind !== 'changed') {
        counts.unchanged += 1
        continue
      }
      const before = row?.consent == null ? undefined : row.consent === 1
      const fields = [{ field: 'consent', before, after: consent }]
      onChange({ productId: email as ProductId, kind, lane: consent ? 'new' : 'urgent', fields })
    }
  }
  counts.rejected = problems.rejected
}
