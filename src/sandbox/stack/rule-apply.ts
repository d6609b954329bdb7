import { setImmediate as nextTurn } from 'node:timers/promises'
import { MingoError } from 'mingo/util'
import { parseActions, performActions, type RuleAction } from './rule-action.ts'
import { compileMatch } from './rule-match.ts'
import { parseTrigger } from './rule-trigger.ts'
import type { StackRecord, StackTable } from './stack-table.ts'

export type Applied =
  | { kind: 'applied'; records: number; matched: number; changed: number }
  | { kind: 'problems'; problems: readonly string[] }

/**
 * Applies a rule to all records that exist: all or nothing. The records are read first and changed together at the
 * end, so that a rule whose action cannot be performed on one of them changes none.
 */
export async function applyRule(rule: StackRecord, table: StackTable): Promise<Applied> {
  const trigger = parseTrigger(rule.trigger)
  const parsed = parseActions(rule.action)
  if (trigger.kind === 'problems') return trigger
  if (parsed.kind === 'problems') return parsed
  try {
    const matches = compileMatch(trigger.query)
    for (;;) {
      const before = table.list()
      const reading = await readChanges(before, { matches, actions: parsed.actions })
      // Another rule was applied meanwhile, or the sandbox was reset; each time one of them is done.
      if (before.some((record) => table.get(record.id) !== record)) continue
      if (reading.problems.size > 0) return { kind: 'problems', problems: [...reading.problems] }
      for (const changed of reading.changed) table.replace(changed)
      const { matched, changed } = reading
      return { kind: 'applied', records: before.length, matched, changed: changed.length }
    }
  } catch (error) {
    if (!(error instanceof MingoError)) throw error
    return { kind: 'problems', problems: [`trigger: ${error.message}`] }
  }
}

interface Reading {
  matched: number
  changed: StackRecord[]
  problems: Set<string>
}

const problemsMax = 5

async function readChanges(
  records: readonly StackRecord[],
  { matches, actions }: { matches: (record: StackRecord) => boolean; actions: readonly RuleAction[] },
): Promise<Reading> {
  const reading: Reading = { matched: 0, changed: [], problems: new Set() }
  for (const record of records) {
    // Other requests get their turn: conditions of people we do not know may take long.
    await nextTurn()
    if (!matches(record)) continue
    reading.matched += 1
    const changed = performActions(record, actions)
    if (typeof changed === 'string') {
      if (reading.problems.size < problemsMax) reading.problems.add(changed)
    } else if (changed !== record) reading.changed.push(changed)
  }
  return reading
}
