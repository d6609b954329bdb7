import { ExitCode } from '../lib/errors.ts'
import type { FileCheck } from '../operations/check-file.ts'
import type { CommandDefinition } from './context.ts'
import { findFeed } from './feeds.ts'
import { withReadBar } from './read-bar.ts'
import { countOf, formatCount, formatProblems, formatTable } from './table.ts'

export const checkCommand: CommandDefinition = {
  usage: 'check <feed> <file>',
  summary: 'read a file as the feed would, and say what is wrong with it',
  details:
    'Touches nothing and needs neither Redis nor credentials. Exit code 1 when a record would be rejected or its id cannot be read.',
  examples: ['catalogd check products ./export.csv'],
  needsConfigFile: true,
  async run(context, { args: [name = '', file = ''] }) {
    const { checkFile } = await import('../operations/check-file.ts')
    const feed = findFeed(await context.catalog(), name)
    const { barLine, clock, signal } = context
    const check = await withReadBar(file, { label: 'checking', passes: 2, barLine, clock }, (onProgress) =>
      checkFile({ feed, file, nowMs: clock.now(), signal, onProgress }),
    )
    context.print(check, formatCheck)
    return check.ok ? ExitCode.done : ExitCode.data
  },
}

function formatCheck(check: FileCheck): string {
  return [
    `${check.file} as ${check.mode} file of feed ${check.feed}: ${check.dialect ?? 'not readable'}`,
    ...check.warnings.map((warning) => `Warning: ${warning}`),
    ...formatFindings(check),
  ].join('\n')
}

function formatFindings(check: FileCheck): string[] {
  const { refused } = check
  if (refused) return [`Refused: ${refused.reason}`, ...(refused.hint ? [`  → ${refused.hint}`] : [])]
  if (check.missingColumns) return formatMissingColumns(check)
  return [
    formatCounts(check),
    ...formatIds(check),
    ...formatProblems(check.problems),
    ...formatGaps(check),
    ...formatNext(check),
  ]
}

function formatMissingColumns({ missingColumns = [], columns = [] }: FileCheck): string[] {
  const lines = missingColumns.map(({ column, field, suggestion }) => {
    return `  "${column}" (for ${field})${suggestion === undefined ? '' : `; did you mean "${suggestion}"?`}`
  })
  return [
    'Held: columns that the configuration maps are not in the header:',
    ...lines,
    `The header has: ${columns.map((column) => `"${column}"`).join(', ')}`,
    '→ Correct the names in fields, or set optional: true where a column may be absent; nothing of the file is imported before',
  ]
}

function formatCounts({ records, rows, applied, rejected, superseded }: FileCheck): string {
  const ofRows = rows === undefined ? '' : ` of ${countOf(rows, 'row')}`
  const replaced = superseded > 0 ? `, ${countOf(superseded, 'record')} replaced by a later one` : ''
  return `${countOf(records, 'record')}${ofRows}: ${applied} good, ${rejected} rejected${replaced}`
}

/** Only where the ids are not what ids should be. */
function formatIds({ ids, rows, kind, mode }: FileCheck): string[] {
  if (!ids || (ids.repeated === 0 && ids.unreadable === 0)) return []
  const { columns, different, repeated, unreadable, example } = ids
  const place = columns.length === 0 ? '' : ` in ${columns.map((column) => `"${column}"`).join(', ')}`
  const parts = [`${different} different`]
  if (repeated > 0) {
    const first =
      example === undefined
        ? ''
        : ` (such as ${example.id === undefined ? '' : `${JSON.stringify(example.id)} `}in line ${example.line})`
    parts.push(`${repeated} of them in several records, of which the last counts${first}`)
  }
  if (unreadable > 0) parts.push(`none can be read in ${countOf(unreadable, 'record')}`)
  const lines = [`Ids${place}: ${parts.join('; ')}`]
  if (repeated > 0 && rows === undefined && kind === 'products')
    lines.push(
      '  → where several rows make one product, set group; else map product_id to a column that tells products apart',
    )
  if (unreadable > 0 && mode === 'full')
    lines.push(
      '  → give every record an id, or map product_id to a column that has one: until then a full file takes nothing out of stock without approval',
    )
  return lines
}

function formatGaps({ incomplete: { products, fields }, applied }: FileCheck): string[] {
  if (products === 0) return []
  const rows = Object.entries(fields)
    .sort(([, one], [, other]) => other - one)
    .map(([field, count]) => [field, count === applied ? 'all' : formatCount(count)])
  return [
    `${countOf(products, 'product')} incomplete, and not sent before another feed or file brings what is required:`,
    formatTable(rows, '  '),
  ]
}

function formatNext({ ok, rejected, incomplete, warned }: FileCheck): string[] {
  const steps: string[] = []
  if (rejected > 0) {
    steps.push(
      `→ Correct ${rejected === 1 ? 'the rejected record' : 'the rejected records'} in the export, or the rules in fields; imported as it is, the file brings the others, and these are written to a file to correct and drop again`,
    )
  }
  if (incomplete.products > 0)
    steps.push('→ Map what is required from a column, give it a value in fields, or leave it to another feed')
  if (ok && steps.length === 0) steps.push(warned > 0 ? 'Nothing is rejected.' : 'Nothing to correct.')
  return steps
}
