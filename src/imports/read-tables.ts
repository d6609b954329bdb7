import { hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { FeedConfig } from '../config/model.ts'
import type { FieldRule, LookupTable } from '../config/rule-model.ts'
import { ConfigError, FileRefusedError, systemErrorCode } from '../lib/errors.ts'
import { anyFormat } from '../records/any-format.ts'
import { judgeFile } from '../records/judge.ts'
import { readRecords } from '../records/read-records.ts'

const rowsMax = 100_000
const recordBytes = 1_000_000

interface Tables {
  read(table: LookupTable): ReadonlyMap<string, string>
  /** Of all that stands in them. */
  digest: string
}

/**
 * The tables by which the rules of a feed look values up, read once and whole: of rows with one key the first counts.
 * Undefined when no rule looks anything up. Throws a ConfigError that names the table that cannot be used.
 */
export async function readTables(feed: FeedConfig, signal?: AbortSignal): Promise<Tables | undefined> {
  const tables = Object.values(feed.fields).flatMap(tablesOf)
  if (tables.length === 0) return undefined
  const read = new Map<string, ReadonlyMap<string, string>>()
  for (const table of tables) {
    const id = idOf(table)
    if (!read.has(id)) read.set(id, await readTable(table, signal))
  }
  const text = JSON.stringify([...read].map(([id, rows]) => [id, ...rows]))
  return { read: (table) => read.get(idOf(table)) ?? new Map(), digest: hash('sha256', text) }
}

/** Of a rule and of all rules inside it. */
function tablesOf({ lookup, from }: FieldRule): LookupTable[] {
  const inside =
    from.kind === 'entries'
      ? Object.values(from.entries)
      : from.kind === 'parts'
        ? from.parts
        : from.kind === 'each'
          ? [...Object.values(from.item), ...(from.key ? [from.key] : [])]
          : []
  return [...(lookup ? [lookup] : []), ...inside.flatMap(tablesOf)]
}

function idOf({ file, key, value, format }: LookupTable): string {
  return JSON.stringify([file, key, value, format])
}

async function readTable(
  table: LookupTable,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  try {
    return await readRows(table, signal)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    if (error instanceof FileRefusedError) throw unusable(table, `cannot be read: ${error.message}`, error)
    const code = systemErrorCode(error)
    if (code === undefined) throw error
    throw unusable(table, `cannot be read (${code})`, error)
  }
}

async function readRows(table: LookupTable, signal: AbortSignal | undefined): Promise<Map<string, string>> {
  const { file, key, value, format = anyFormat } = table
  const { size } = await stat(file)
  const source = { path: file, bytes: size, name: basename(file), signal }
  const judgement = await judgeFile({
    ...source,
    format: { ...format, recordBytes },
    neededColumns: [key, value],
    openIdReader: () => undefined,
  })
  const { columns, records } = judgement
  const places = [columns.indexOf(key), columns.indexOf(value)] as const
  const missing = [key, value].filter((_, index) => places[index] === -1)
  if (missing.length > 0)
    throw unusable(table, `has no column ${missing.map((name) => `"${name}"`).join(', ')}`)
  if (records > rowsMax) throw unusable(table, `has ${records} rows, at most ${rowsMax} are read`)
  const rows = new Map<string, string>()
  for await (const batch of readRecords({ ...source, ...judgement, recordBytes })) {
    const [odd] = batch.rejected
    if (odd) throw unusable(table, `has a bad row in line ${odd.line}: ${odd.issues[0]?.message ?? ''}`)
    for (const { cells } of batch.records) {
      const [from, to] = places.map((place) => String(cells[place] ?? '').trim())
      if (from && to && !rows.has(from)) rows.set(from, to)
    }
  }
  return rows
}

function unusable({ file }: LookupTable, found: string, cause?: unknown): ConfigError {
  return new ConfigError('lookup-table', `the table ${file} ${found}`, {
    hint: 'Correct lookup in the configuration, or the table',
    cause,
  })
}
