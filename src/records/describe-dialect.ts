import type { Dialect } from './model.ts'

/** One line for reports and `check`: how the file was read, and what of that was a guess. */
export function describeDialect(dialect: Dialect): string {
  const { type, compression, encoding, delimiter, quote, basis } = dialect
  if (compression === 'xlsx') {
    const sheet = dialect.sheet === undefined ? 'first sheet' : `sheet ${JSON.stringify(dialect.sheet)}`
    return ['XLSX', sheet, ...(dialect.packing === undefined ? [] : [dialect.packing])].join(', ')
  }
  const parts = [
    type === 'csv'
      ? `CSV with ${nameOf(delimiter)} (${basis.delimiter})`
      : `${formatOf(dialect)} (${basis.type})`,
    ...(type === 'csv' && dialect.header !== undefined ? ['no header'] : []),
    ...(type === 'csv' ? [quote === undefined ? 'no quotes' : `quote ${quote} (${basis.quote})`] : []),
    `${encoding} (${basis.encoding === 'bom' ? 'byte order mark' : basis.encoding})`,
    ...(compression === 'none' ? [] : [compression]),
  ]
  return parts.join(', ')
}

function formatOf({ type, path }: Dialect): string {
  if (type === 'ndjson') return 'NDJSON'
  return `${type.toUpperCase()}, records at ${path === '' ? 'the root' : path}`
}

function nameOf(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`
}
