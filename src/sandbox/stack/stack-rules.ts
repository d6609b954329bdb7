import { setImmediate as nextTurn } from 'node:timers/promises'
import { MingoError } from 'mingo/util'
import { isObject } from '../../api/contract/json-value.ts'
import { actionFieldProblem, parseActions, performActions, type RuleAction } from './rule-action.ts'
import { compileMatch } from './rule-match.ts'
import { placeBelow } from './rule-path.ts'
import { parseTrigger } from './rule-trigger.ts'
import { refused, type StackAnswer, type StackRefusal } from './stack-answer.ts'
import type { StackCall, StackOperation } from './stack-call.ts'
import type { WrittenFields } from './stack-fields.ts'
import {
  createOperation,
  deleteOperation,
  getOperation,
  listOperation,
  type RecordKind,
  updateOperation,
  withRecord,
} from './stack-records.ts'
import type { StackRecord, StackTable } from './stack-table.ts'

const rule: RecordKind = { subject: 'rule', word: 'rule', table: 'rules', check: refuseRule }

/** Which records a rule of each type is for. */
const recordTables = { tile: 'tiles', asset: 'assets' } as const
type RecordType = keyof typeof recordTables

/** The contract does not show the fields of a rule that is read; these are kept beside those that are written. */
const kept = ['id', 'created_at', 'updated_at']

export const ruleOperations = {
  listRules: listOperation(rule),
  getRule: getOperation(rule),
  deleteRule: deleteOperation(rule),
  createRule: createOperation(rule, { kept }),
  updateRule: updateOperation(rule, { kept }),
  applyRule: (call) => withRecord(call, rule, (record) => apply(call, record)),
} satisfies Record<string, StackOperation>

/** Also a rule that is not active: who applies it asks for just that. */
async function apply(call: StackCall, record: StackRecord): Promise<StackAnswer> {
  const table = tableFor(call, record.type)
  if (table === undefined) {
    return invalid([`type: found ${JSON.stringify(record.type)}, expected tile or asset; change the rule`])
  }
  const applied = await applyRule(record, table)
  if (applied.kind === 'problems') return invalid(applied.problems)
  const { records, matched, changed } = applied
  return { kind: 'found', data: { id: record.id, type: record.type ?? null, records, matched, changed } }
}

function refuseRule(becoming: WrittenFields, call: StackCall): StackRefusal | undefined {
  const trigger = parseTrigger(becoming.trigger)
  const problems = trigger.kind === 'problems' ? trigger.problems : []
  problems.push(...(call.strict ? strictProblems(becoming, call) : reservedFields(becoming.action)))
  return problems.length === 0 ? undefined : invalid(problems)
}

/** Lenient, because the contract does not show how an action is built: only what could do harm is refused. */
function reservedFields(action: unknown): string[] {
  if (!Array.isArray(action)) return []
  return action.flatMap((one, position) => {
    if (!isObject(one) || typeof one.field !== 'string') return []
    const problem = actionFieldProblem(one.field)
    return problem === undefined ? [] : [`${placeBelow('action', position)}.field: ${problem}`]
  })
}

function strictProblems({ type, action }: WrittenFields, call: StackCall): string[] {
  const table = tableFor(call, type)
  if (table === undefined) {
    return [`type: found ${JSON.stringify(type)}, expected tile or asset; choose one of these`]
  }
  const parsed = parseActions(action)
  if (parsed.kind === 'problems') return parsed.problems
  const known = new Set(table.list().flatMap((record) => Object.keys(record)))
  return parsed.actions
    .filter(({ field }) => !known.has(field.split('.', 1)[0] ?? ''))
    .map(
      ({ field, place }) =>
        `${place}.field: ${JSON.stringify(field)} is no field of a record of type ${String(type)}`,
    )
}

function tableFor({ store }: StackCall, type: unknown): StackTable | undefined {
  return isRecordType(type) ? store.tables[recordTables[type]] : undefined
}

function isRecordType(type: unknown): type is RecordType {
  return typeof type === 'string' && Object.hasOwn(recordTables, type)
}

function invalid(problems: readonly string[]): StackRefusal {
  return refused(400, { subject: 'rule', reason: 'invalid' }, ...problems)
}

type Applied =
  | { kind: 'applied'; records: number; matched: number; changed: number }
  | { kind: 'problems'; problems: readonly string[] }

/**
 * Applies a rule to all records that exist: all or nothing. The records are read first and changed together at the
 * end, so that a rule whose action cannot be performed on one of them changes none.
 */
async function applyRule(rule: StackRecord, table: StackTable): Promise<Applied> {
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
