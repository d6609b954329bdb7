import { setImmediate as nextTurn } from 'node:timers/promises'
import { MingoError } from 'mingo/util'
import { parseActions, performActions, type RuleAction } from './rule-action.ts'
import { compileMatch } from './rule-match.ts'
import { parseTrigger } from './rule-trigger.ts'
import type { StackRecord, StackTable } from './stack-table.ts'

export type Applied =
  | { kind: 'applied'; records: number; matched: number; changed: number }
  | { kind: 'problems'; problems: readonly string[] }

/** After so many records other requests get their turn: conditions of people we do not know may take long. */
const recordsPerTurn = 16

/**
 * Applies a rule to all records that exist: all or nothing. The records are read first and changed together at the
 * end, so that a rule whose action cannot be performed on one of them changes none.
 */
export async function applyRule(rule: StackRecord, table: StackTable): Promise<Applied> {
  const trigger = parseTrigger(rule.trigger)
  const parsed = parseActions(rule.action)
  if (trigger.kind === 'problems') return trigger
  if (parsed.kind === 'problems') return parsed
  const before = table.list()
  const changes: { from: StackRecord; to: StackRecord }[] = []
  const problems = new Set<string>()
  let matched = 0
  try {
    const matches = compileMatch(trigger.query)
    for (const [position, record] of before.entries()) {
      if (position % recordsPerTurn === 0) await nextTurn()
      if (!matches(record)) continue
      matched += 1
      const changed = performOn(record, parsed.actions, problems)
      if (changed !== record) changes.push({ from: record, to: changed })
    }
  } catch (error) {
    if (!(error instanceof MingoError)) throw error
    return { kind: 'problems', problems: [`trigger: ${error.message}`] }
  }
  if (problems.size > 0) return { kind: 'problems', problems: [...problems] }
  for (const { from, to } of changes) {
    // A reset in the meantime has the last word.
    if (table.get(from.id) === from) table.replace(to)
  }
  return { kind: 'applied', records: before.length, matched, changed: changes.length }
}

const problemsMax = 5

function performOn(record: StackRecord, actions: readonly RuleAction[], problems: Set<string>): StackRecord {
  const changed = performActions(record, actions)
  if (typeof changed !== 'string') return changed
  if (problems.size < problemsMax) problems.add(changed)
  return record
}
