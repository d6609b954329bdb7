import type { ImportReport } from '../imports/report.ts'
import type { ImportEntry } from '../operations/list-imports.ts'
import type { CommandDefinition } from './context.ts'
import { importNumber, wholeNumberOption } from './option-values.ts'
import { countOf, formatProblems, formatTable } from './table.ts'

export const importsCommand: CommandDefinition<{ limit: number }> = {
  usage: 'imports [import]',
  summary: 'list the files that were taken in and what became of them, or show one',
  examples: ['catalogd imports', 'catalogd imports 12'],
  options: [
    {
      flags: '--limit <n>',
      description: 'the newest so many',
      default: 20,
      parse: wholeNumberOption({ min: 1, max: 10_000 }),
    },
  ],
  async run(context, { args: [sequence], options }) {
    const { findImport, listImports } = await import('../operations/list-imports.ts')
    const { config } = await context.loadedConfig()
    const catalog = await context.catalog()
    if (sequence !== undefined) {
      const entry = await findImport({ config, catalog }, importNumber(sequence))
      context.print(entry, formatEntry)
      return
    }
    const entries = await listImports({ config, catalog }, options.limit)
    context.print(entries, (shown) =>
      shown.length === 0 ? 'No file was taken in yet.' : formatEntries(shown),
    )
  },
}

function formatEntries(entries: readonly ImportEntry[]): string {
  const rows = entries.map(({ sequence, feed, file, acceptedAt, outcome, decision, report }) => [
    sequence,
    feed,
    file,
    acceptedAt,
    formatOutcome(outcome, decision),
    report?.records ?? '',
    report?.rejected ?? '',
    report ? report.changes.added + report.changes.changed + report.changes.missing : '',
  ])
  return formatTable([
    ['import', 'feed', 'file', 'accepted', 'outcome', 'records', 'rejected', 'changes'],
    ...rows,
  ])
}

function formatChanges({ kind, changes }: ImportReport): string {
  if (kind === 'consents') {
    return `${changes.added} first known, ${changes.changed} changed; ${changes.new} granted, ${changes.urgent} revoked`
  }
  return `${changes.added} added, ${changes.changed} changed, ${changes.missing} missing; ${changes.urgent} urgent, ${changes.new} new, ${changes.deferred} deferred`
}

function formatOutcome(outcome: ImportEntry['outcome'], decision: ImportEntry['decision']): string {
  if (decision === null) return outcome
  return `${outcome}, ${decision === 'approve' ? 'approved' : 'discarded'}`
}

function formatEntry({ sequence, feed, file, mode, outcome, decision, report }: ImportEntry): string {
  const lines = [
    `import ${sequence}: ${file}, ${mode} file of feed ${feed}, ${formatOutcome(outcome, decision)}`,
  ]
  if (!report) return lines.join('\n')
  const { changes } = report
  if (report.dialect !== undefined) lines.push(`  ${report.dialect}`)
  if (report.asOf !== undefined) lines.push(`  as of ${report.asOf}`)
  if (report.reason !== undefined) lines.push(`  ${report.reason}`)
  // What to do about something held is no longer of use when it was decided.
  if (report.hint !== undefined && decision === null) lines.push(`  → ${report.hint}`)
  const rows = report.rows === undefined ? '' : ` of ${countOf(report.rows, 'row')}`
  lines.push(
    `  ${countOf(report.records, 'record')}${rows}, ${report.rejected} rejected, ${report.unchanged} unchanged, in ${report.seconds} s`,
    `  ${formatChanges(report)}`,
    ...(changes.superseded > 0
      ? [`  ${countOf(changes.superseded, 'record')} replaced by a later one of the same id`]
      : []),
    ...report.warnings.map((warning) => `  warning: ${warning}`),
    ...formatProblems(report.problems),
  )
  if (report.rejectsFile !== undefined)
    lines.push(`  rejected records to correct and drop again: ${report.rejectsFile}`)
  return lines.join('\n')
}
