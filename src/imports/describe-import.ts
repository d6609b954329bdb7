import type { FeedConfig } from '../config/model.ts'
import type { Log } from '../lib/log.ts'
import type { ImportReport } from './report.ts'

/** One line for each file: information when all of it went in, a warning when something did not. */
export function logImport(log: Log, report: ImportReport): void {
  const { feed, file, sequence, outcome, records, rejected, unchanged, changes, seconds } = report
  const { reason, hint, rejectsFile, warnings } = report
  const line = {
    ...{ feed, file, sequence, outcome, reason, hint, records, rejected, unchanged, changes, seconds },
    ...(rejectsFile === undefined ? {} : { rejectsFile }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
  const isWhole = outcome === 'imported' && rejected === 0 && warnings.length === 0
  if (isWhole) log.info(line, 'imported')
  else log.warn(line, messageOf(report))
}

/** What `status` shows of a feed's newest file until a better one comes; undefined: nothing is wrong with it. */
export function describeTrouble(report: ImportReport, feed: FeedConfig | undefined): string | undefined {
  const { outcome, sequence, reason, hint, file, rejected, records, problems } = report
  if (outcome === 'refused') {
    return `Import ${sequence} was refused: ${reason}${hint === undefined ? '' : `. ${hint}`}`
  }
  if (outcome === 'late') return `Import ${sequence} came late: ${reason}. ${hint}`
  const isMuch = rejected > records * (feed?.rejects.atMost ?? 0) || (rejected > 0 && rejected === records)
  if (!isMuch) return undefined
  const example = problems.find(({ severity }) => severity === 'reject')?.examples[0]
  const first = example
    ? `, for example record ${example.record} (line ${example.line}): ${example.message}`
    : ''
  return `Import ${sequence}: ${rejected} of ${records} records of ${file} were rejected${first}. ${remedyOf(report)}`
}

function remedyOf({ rejectsFile, rejectsLeftOut }: ImportReport): string {
  if (rejectsLeftOut === undefined) return `Correct ${rejectsFile} and drop it again`
  return `Correct them where the file comes from and drop it again: ${rejectsFile} lacks ${rejectsLeftOut} of them`
}

function messageOf({ outcome, rejected, records, removals, changes }: ImportReport): string {
  const isPartly = Object.values(changes).some((count) => count > 0)
  if (outcome === 'refused' && isPartly) return 'refused after a part of the file was applied'
  if (outcome === 'refused') return 'refused: nothing of the file was applied'
  if (outcome === 'late') return 'late: nothing of the file was applied'
  const what =
    rejected > 0
      ? `imported, but ${rejected} of ${records} records ${rejected === 1 ? 'was' : 'were'} rejected`
      : 'imported'
  if (outcome === 'imported') return rejected > 0 ? what : 'imported with a warning'
  return removals ? `${what}; the removals are held` : 'held: nothing of the file was applied'
}
