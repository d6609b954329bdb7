import { statSync } from 'node:fs'
import { ExitCode } from '../lib/errors.ts'
import type { FileDiff, OnChange } from '../operations/diff-file.ts'
import type { LabelledChange, RemovedBrands } from '../operations/product-labels.ts'
import type { CommandContext, CommandDefinition } from './context.ts'
import { findFeed } from './feeds.ts'
import { importNumber } from './option-values.ts'
import { withReadBar } from './read-bar.ts'
import { cell, countOf, formatCount } from './table.ts'

export const diffCommand: CommandDefinition<{ limit: number }> = {
  usage: 'diff <feed> <file>',
  summary: 'show what importing a file would change, field by field',
  details:
    'The number of an import may stand in place of a file (unless a file of that name is in the current folder): then it shows what that import, held or late, would change if it were applied now. Touches nothing and needs neither Redis nor credentials. With --json: one change a line, the summary last.',
  examples: [
    'catalogd diff products ./export.csv',
    'catalogd diff products 12',
    'catalogd diff products ./export.csv --json | tail -1',
  ],
  options: [{ flags: '--limit <n>', description: 'changes to show as text', default: 50, parse: Number }],
  async run(context, { args: [name = '', file = ''], options }) {
    let shown = 0
    const diff = await diffWithMirror(context, {
      name,
      file,
      onChange: (change, label) => {
        shown += 1
        if (!context.json && shown > options.limit) return
        context.printLine({ ...change, ...label?.() }, formatChange)
      },
    })
    context.printLine({ summary: diff }, ({ summary }) =>
      formatDiff(summary, Math.max(0, shown - options.limit)),
    )
    return diff.refused === undefined && diff.missingColumns === undefined && diff.rejected === 0
      ? ExitCode.done
      : ExitCode.data
  },
}

interface Diffing {
  name: string
  file: string
  onChange: OnChange
}

/** Compares with what is known; a state folder on which nothing ever ran is an empty mirror and stays untouched. */
export async function diffWithMirror(
  context: CommandContext,
  { name, file, onChange }: Diffing,
): Promise<FileDiff> {
  const { diffFile } = await import('../operations/diff-file.ts')
  const { diffImport } = await import('../operations/diff-import.ts')
  const { openMirror, stateDirOf } = await import('../storage.ts')
  const { config } = await context.loadedConfig()
  const catalog = await context.catalog()
  const { clock, signal } = context
  const feed = findFeed(catalog, name)
  const dir = stateDirOf(config, catalog.name)
  using mirror = await openMirror(config, catalog)
  const options = { catalog, dir, nowMs: clock.now(), signal, onChange, mirror }
  if (/^[1-9]\d{0,14}$/.test(file) && !isRegularFile(file))
    return await diffImport(options, { feed: name, sequence: importNumber(file) })
  const { barLine } = context
  return await withReadBar(file, { label: 'comparing', passes: 2, barLine, clock }, (onProgress) =>
    diffFile({ ...options, feed, file, onProgress }),
  )
}

/** A folder called `2` does not stand in the way of import 2. */
function isRegularFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

export function formatChange({ productId, name, kind, lane, fields }: LabelledChange): string {
  const changed = fields.map(({ field, before, after }) => `    ${field}: ${short(before)} → ${short(after)}`)
  const label = name ? `  ${cell(name)}` : ''
  return [`${productId}${label}  ${kind}  ${lane}`, ...changed].join('\n')
}

function short(value: unknown): string {
  const text = value === undefined ? '(none)' : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** Whose values count in place of those of the file. */
export function formatOverridden(fields: FileDiff['overridden']): string[] {
  if (fields.length === 0) return []
  const texts = fields.map(
    ({ field, by, records }) => `${field} of ${countOf(records, 'record')} by feed ${by}`,
  )
  return [`overridden: ${texts.join(', ')}`]
}

/** Of removed products: `by brand: Lumo 10 of 10, Alva 10 of 12, and 3 more`. */
export function formatBrands(removed: RemovedBrands | undefined): string[] {
  if (!removed) return []
  const { brands, more, first } = removed
  const texts = brands.map(({ brand, removed: count, products }) => {
    return `${cell(brand)} ${formatCount(count)}${products === null ? '' : ` of ${formatCount(products)}`}`
  })
  if (more > 0) texts.push(`and ${formatCount(more)} more`)
  const which = first === null ? '' : ` (of the first ${formatCount(first)} missing)`
  return [`by brand${which}: ${texts.join(', ')}`]
}

export function formatDiff(diff: FileDiff, hidden = 0): string {
  if (diff.refused !== undefined) return `Refused: ${diff.refused}`
  if (diff.missingColumns)
    return `Held: the header lacks ${diff.missingColumns.map((name) => `"${name}"`).join(', ')}`
  const { added, changed, missing, urgent, deferred, incomplete } = diff.changes
  const lines = [
    `${countOf(diff.records, 'record')}: ${added} added, ${changed} changed, ${missing} missing, ${diff.unchanged} unchanged, ${diff.rejected} rejected`,
    `lanes: ${urgent} urgent, ${diff.changes.new} new, ${deferred} deferred`,
  ]
  lines.push(...formatBrands(diff.missingBrands), ...formatOverridden(diff.overridden))
  if (incomplete > 0)
    lines.push(`${incomplete} incomplete: not sent until another feed or file brings what they lack`)
  if (hidden > 0) lines.unshift(`… and ${countOf(hidden, 'further change')} (--limit, or --json for all)`)
  return lines.join('\n')
}
