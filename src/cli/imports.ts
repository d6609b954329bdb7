import type { RecordFates } from '../imports/record-fates.ts'
import type { ImportReport } from '../imports/report.ts'
import type { HeldExamples } from '../operations/diff-import.ts'
import type { ImportEntry } from '../operations/list-imports.ts'
import type { RemovedBrands } from '../operations/product-labels.ts'
import type { CommandDefinition } from './context.ts'
import { formatBrands, formatChange, formatOverridden } from './diff.ts'
import { importNumber, wholeNumberOption } from './option-values.ts'
import { formatOutcome } from './status-format.ts'
import { cell, countOf, formatCount, formatProblems, formatTable, formatTime } from './table.ts'

/** Of what an import holds. */
const heldShown = 10

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
      const { heldBrands, heldExamples } = await import('../operations/diff-import.ts')
      const { openMirror, stateDirOf } = await import('../storage.ts')
      using mirror = await openMirror(config, catalog)
      const { clock, signal } = context
      const options = { catalog, mirror, signal, dir: stateDirOf(config, catalog.name), nowMs: clock.now() }
      const examples = await heldExamples(options, entry, heldShown)
      const brands = examples?.kind === 'removals' ? await heldBrands(options, entry.feed) : undefined
      const holds: Holds | null = examples && { ...examples, ...(brands && { brands }) }
      context.print({ ...entry, holds }, (shown) => [...formatEntry(shown), ...formatHeld(shown)].join('\n'))
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
    // To the second, in the time zone that it says.
    formatTime(acceptedAt),
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

type Holds = HeldExamples & { brands?: RemovedBrands }

function formatHeld({ holds, feed, sequence }: ImportEntry & { holds: Holds | null }): string[] {
  if (!holds) return []
  const more = `  and more: catalogd diff ${feed} ${sequence}`
  const lines =
    holds.kind === 'removals'
      ? ['  missing, waiting for approval:', formatTable(holds.products.map(rowOf), '    ')]
      : ['  would change:', ...holds.changes.map((change) => formatChange(change).replace(/^/gm, '    '))]
  const brands = formatBrands(holds.brands).map((line) => `  ${line}`)
  return [...lines, ...(holds.more ? [more] : []), ...brands]
}

function rowOf({ productId, name }: { productId: string; name: string | null }): string[] {
  return [cell(productId, 70), cell(name)]
}

/** What became of its records; the sum is their number. */
function formatFates({ became, overridden = [], rejected, unchanged }: ImportReport): string[] {
  if (!became) return [`${formatCount(rejected)} rejected, ${formatCount(unchanged)} unchanged`]
  const words: Record<keyof RecordFates, string> = {
    changed: 'changed',
    unchanged: 'unchanged',
    overridden: 'overridden',
    incomplete: 'incomplete',
    rejected: 'rejected',
    superseded: 'replaced by a later one of the same id',
    skipped: 'skipped, as in the last full file',
    leftOut: 'left out by the transform',
    notApplied: 'not applied',
  }
  const shown = (Object.keys(words) as (keyof RecordFates)[]).filter((fate) => became[fate] > 0)
  const texts = shown.map((fate) => `${formatCount(became[fate])} ${words[fate]}`)
  return [texts.join(', ') || 'none', ...formatOverridden(overridden)]
}

function formatEntry({
  sequence,
  feed,
  file,
  mode,
  outcome,
  decision,
  archive,
  report,
}: ImportEntry): string[] {
  const lines = [
    `import ${sequence}: ${file}, ${mode} file of feed ${feed}, ${formatOutcome(outcome, decision)}`,
  ]
  lines.push(`  archived as ${archive ?? 'nothing any more: it was removed after archive.keep'}`)
  if (!report) return lines
  if (report.dialect !== undefined) lines.push(`  ${report.dialect}`)
  if (report.asOf !== undefined) lines.push(`  as of ${formatTime(report.asOf)}`)
  if (report.reason !== undefined) lines.push(`  ${report.reason}`)
  // What to do about something held is no longer of use when it was decided.
  if (report.hint !== undefined && decision === null) lines.push(`  → ${report.hint}`)
  const rows = report.rows === undefined ? '' : ` of ${countOf(report.rows, 'row')}`
  const [fates, ...overridden] = formatFates(report)
  lines.push(
    `  ${countOf(report.records, 'record')}${rows} in ${report.seconds} s: ${fates}`,
    ...overridden.map((line) => `  ${line}`),
    `  ${formatChanges(report)}`,
    ...report.warnings.map((warning) => `  warning: ${warning}`),
    ...formatProblems(report.problems),
  )
  if (report.rejectsFile !== undefined)
    lines.push(`  rejected records to correct and drop again: ${report.rejectsFile}`)
  return lines
}
