import { ExitCode } from '../lib/errors.ts'
import type { FileCheck } from '../operations/check-file.ts'
import type { CommandDefinition } from './command.ts'
import { findFeed } from './feeds.ts'
import { formatProblems } from './problems.ts'
import { countOf } from './table.ts'

export const checkCommand: CommandDefinition = {
  usage: 'check <feed> <file>',
  summary: 'read a file as the feed would, and say what is wrong with it',
  details:
    'Touches nothing and needs neither Redis nor credentials. Exit code 1 when a record would be rejected.',
  examples: ['catalogd check products ./export.csv'],
  async run(context, { args: [name = '', file = ''] }) {
    const { checkFile } = await import('../operations/check-file.ts')
    const feed = findFeed(await context.catalog(), name)
    const check = await checkFile({ feed, file, nowMs: context.clock.now(), signal: context.signal })
    context.print(check, () => formatCheck(check))
    return check.ok ? ExitCode.done : ExitCode.data
  },
}

function formatCheck(check: FileCheck): string {
  const lines = [
    `${check.file} as ${check.mode} file of feed ${check.feed}: ${check.dialect ?? 'not readable'}`,
  ]
  if (check.refused) {
    lines.push(
      `Refused: ${check.refused.reason}`,
      ...(check.refused.hint ? [`  → ${check.refused.hint}`] : []),
    )
    return lines.join('\n')
  }
  lines.push(...check.warnings.map((warning) => `Warning: ${warning}`))
  if (check.missingColumns) {
    lines.push('Held: columns that the configuration maps are not in the header:')
    for (const { column, field, suggestion } of check.missingColumns) {
      lines.push(
        `  "${column}" (for ${field})${suggestion === undefined ? '' : `; did you mean "${suggestion}"?`}`,
      )
    }
    lines.push(`The header has: ${(check.columns ?? []).map((column) => `"${column}"`).join(', ')}`)
    return lines.join('\n')
  }
  const superseded =
    check.superseded > 0 ? `, ${countOf(check.superseded, 'record')} replaced by a later one` : ''
  const rows = check.rows === undefined ? '' : ` of ${countOf(check.rows, 'row')}`
  lines.push(
    `${countOf(check.records, 'record')}${rows}: ${check.applied} good, ${check.rejected} rejected${superseded}`,
  )
  const { products, fields } = check.incomplete
  if (products > 0) {
    const gaps = Object.entries(fields).map(([field, count]) => `${field} (${count})`)
    lines.push(
      `${countOf(products, 'product')} incomplete until another feed or file brings ${gaps.join(', ')}`,
    )
  }
  lines.push(...formatProblems(check.problems))
  if (check.ok) lines.push('Nothing to correct.')
  return lines.join('\n')
}
