import type { Database } from '../lib/database.ts'
import { damaged } from './digest.ts'
import type { CallsDecision } from './model.ts'
import type { FactKind } from './schema.ts'

type FactValue = string | number

export function readFact<Value extends FactValue>(
  database: Database,
  kind: FactKind,
  name: string,
): Value | undefined {
  const sql = 'SELECT value FROM facts WHERE kind = ? AND name = ?'
  return database.get<{ value: Value }>(sql, kind, name)?.value
}

export function readFacts<Name extends string, Value extends FactValue>(
  database: Database,
  kind: FactKind,
): Map<Name, Value> {
  const sql = 'SELECT name, value FROM facts WHERE kind = ?'
  const rows = database.all<{ name: Name; value: Value }>(sql, kind)
  return new Map(rows.map(({ name, value }) => [name, value]))
}

/** Some file is applied in part. */
export function isImporting(database: Database): boolean {
  const sql = "SELECT 1 FROM facts WHERE kind > 'count:' AND kind < 'count;' LIMIT 1"
  return database.get(sql) !== undefined
}

/** Of the mirror itself: written as JSON; undefined where it was never written. */
export function readIdentityFact<Value>(database: Database, name: string): Value | undefined {
  const text = readFact<string>(database, 'identity', name)
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Value)
  } catch {
    throw damaged(database.file)
  }
}

/** Undefined removes it. */
export function writeFact(
  database: Database,
  kind: FactKind,
  name: string,
  value: FactValue | undefined,
): void {
  if (value === undefined) database.run('DELETE FROM facts WHERE kind = ? AND name = ?', kind, name)
  else database.run('INSERT OR REPLACE INTO facts VALUES (?, ?, ?)', kind, name, value)
}

export function addToFact(database: Database, kind: FactKind, name: string, by: number): void {
  const sql = 'INSERT INTO facts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value'
  if (by !== 0) database.run(sql, kind, name, by)
}

export function removeFacts(database: Database, kind: FactKind): void {
  database.run('DELETE FROM facts WHERE kind = ?', kind)
}

/** The operator's last decision about all calls. */
export function readCalls(database: Database): CallsDecision | undefined {
  const facts = readFacts<'decision' | 'at', string>(database, 'calls')
  const [decision, at] = [facts.get('decision'), facts.get('at')]
  if (decision === undefined || at === undefined) return undefined
  return { decision: decision as CallsDecision['decision'], at }
}
