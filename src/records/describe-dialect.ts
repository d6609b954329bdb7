import type { Dialect } from './model.ts'

/** One line for reports and `check`: how the file was read, and what of that was a guess. */
export function describeDialect(dialect: Dialect): string {
  const { type, compression, encoding, delimiter, quote, basis } = dialect
  if (compression === 'xlsx') {
    return dialect.sheet === undefined ? 'XLSX, first sheet' : `XLSX, sheet ${JSON.stringify(dialect.sheet)}`
  }
  const parts = [
    type === 'csv' ? `CSV with ${nameOf(delimiter)} (${basis.delimiter})` : `NDJSON (${basis.type})`,
    ...(type === 'csv' ? [quote === undefined ? 'no quotes' : `quote ${quote} (${basis.quote})`] : []),
    `${encoding} (${basis.encoding === 'bom' ? 'byte order mark' : basis.encoding})`,
    ...(compression === 'none' ? [] : [compression]),
  ]
  return parts.join(', ')
}

function nameOf(delimiter: string): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`
}
