import type { ParsedRecord, RecordIssue } from '../records/model.ts'

interface KeyFinding {
  record: Pick<ParsedRecord, 'record' | 'line'>
  key: string
  value: string
  /** Products that have the value: none, or the first two of several. */
  matches: readonly string[]
}

/** Why a record that names its product by a key is not applied. */
export function describeUnknownKey({
  record: { record, line },
  key,
  value,
  matches,
}: KeyFinding): RecordIssue {
  const found = `${key}: found ${JSON.stringify(value)}`
  if (matches.length === 0) {
    const message = `${found}, which no product has, expected that of a known product; drop the record again when its product has been imported`
    return { record, line, field: key, code: 'unknown-key', message, severity: 'reject' }
  }
  const names = matches.map((id) => JSON.stringify(id)).join(' and ')
  const message = `${found}, which several products have (${names}), expected that of one; give each product its own and drop the record again`
  return { record, line, field: key, code: 'ambiguous-key', message, severity: 'reject' }
}
