import { ExitCode } from '../lib/errors.ts'
import { safeLine } from '../lib/terminal-text.ts'
import type { LoadSummary } from '../operations/load-files.ts'
import type { CommandDefinition } from './context.ts'
import { diffWithMirror, formatDiff } from './diff.ts'
import { findFeed } from './feeds.ts'
import { openLoadProgress } from './load-progress.ts'
import { countOf, formatCount, formatProblems } from './table.ts'
import { withCatalog } from './with-catalog.ts'

export const loadCommand: CommandDefinition<{ dryRun?: boolean; resend: boolean; wait: boolean }> = {
  usage: 'load <feed> <files...>',
  summary: 'import files and follow them until everything is delivered',
  details:
    'Accepts copies of the files. When a daemon runs on this state folder it does the work and load watches; otherwise load does it itself. Deferred edits are waited for, too (deferred.after). Interrupted, run it again, or start the daemon, to go on.',
  examples: ['catalogd load products ./export.csv', 'catalogd load products ./export.csv --dry-run'],
  options: [
    { flags: '--dry-run', description: 'only say what would change; needs no credentials' },
    { flags: '--resend', description: 'send every product of the files, changed or not', default: false },
    { flags: '--no-wait', description: 'end when the files are imported, without waiting for delivery' },
  ],
  async run(context, { args: [name = '', ...files], options }) {
    if (options.dryRun) {
      let code: ExitCode = ExitCode.done
      for (const file of files) {
        const diff = await diffWithMirror(context, { name, file, onChange: () => undefined })
        context.printLine({ summary: diff }, ({ summary }) => `${safeLine(file)}\n${formatDiff(summary)}`)
        if (diff.refused !== undefined || diff.missingColumns || diff.rejected > 0) code = ExitCode.data
      }
      return code
    }
    const feed = findFeed(await context.catalog(), name)
    const { loadFiles } = await import('../operations/load-files.ts')
    const summary = await withCatalog(context, async (operation) => {
      using progress = openLoadProgress(context)
      const { resend, wait: waits } = options
      return await loadFiles({
        ...operation,
        feed,
        files,
        resend,
        waits,
        onProgress: (step) => progress.show(step),
      })
    })
    context.print(summary, formatSummary)
    return summary.files.every(({ outcome, rejected }) => outcome === 'imported' && rejected === 0)
      ? ExitCode.done
      : ExitCode.data
  },
}

function formatSummary(summary: LoadSummary): string {
  const { changes, seconds } = summary
  const lines: string[] = []
  for (const file of summary.files) {
    const removals = file.removals ? `, ${file.removals.missing} of ${file.removals.of} missing` : ''
    lines.push(`${file.file}: ${file.outcome}, ${countOf(file.records, 'record')}${removals}`)
    if (file.reason !== undefined) lines.push(`  ${file.reason}`)
    if (file.hint !== undefined) lines.push(`  → ${file.hint}`)
    lines.push(...file.warnings.map((warning) => `  warning: ${warning}`), ...formatProblems(file.problems))
    if (file.rejectsFile !== undefined)
      lines.push(`  rejected records to correct and drop again: ${file.rejectsFile}`)
  }
  lines.push(...formatSums(summary), `seconds   ${seconds}`)
  const what = isOfConsents(summary) ? 'consent' : 'product'
  if (changes.incomplete > 0)
    lines.push(`${countOf(changes.incomplete, 'product')} incomplete: see catalogd status`)
  if (summary.waiting > 0) lines.push(`${countOf(summary.waiting, what)} not delivered yet`)
  if (summary.dead > 0)
    lines.push(
      `${countOf(summary.dead, what)} refused by the endpoint: see catalogd dead list${what === 'consent' ? ' --consents' : ''}`,
    )
  return lines.join('\n')
}

function isOfConsents({ files }: LoadSummary): boolean {
  return files[0]?.kind === 'consents'
}

function formatSums(summary: LoadSummary): string[] {
  const { records, changes, unchanged, rejected, calls, bytes, fill } = summary
  const superseded = changes.superseded > 0 ? `, ${changes.superseded} replaced by a later record` : ''
  const rest = `${unchanged} unchanged, ${rejected} rejected${superseded}`
  if (isOfConsents(summary)) {
    return [
      `records   ${formatCount(records)}: ${changes.new} granted, ${changes.urgent} revoked, ${rest}`,
      `calls     ${formatCount(calls)}`,
    ]
  }
  const fillText = fill === null ? '' : `, ${(fill * 100).toFixed(1)} % full on average`
  return [
    `records   ${formatCount(records)}: ${changes.added} added, ${changes.changed} changed, ${changes.missing} missing, ${rest}`,
    `lanes     ${changes.urgent} urgent, ${changes.new} new, ${changes.deferred} deferred`,
    `calls     ${formatCount(calls)} with ${formatCount(bytes)} bytes${fillText}`,
  ]
}
