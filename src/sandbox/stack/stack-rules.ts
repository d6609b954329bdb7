import { isObject } from '../../api/contract/json-value.ts'
import { actionFieldProblem, parseActions } from './rule-action.ts'
import { applyRule } from './rule-apply.ts'
import { placeBelow } from './rule-path.ts'
import { parseTrigger } from './rule-trigger.ts'
import { refused, type StackAnswer, type StackRefusal } from './stack-answer.ts'
import { type StackCall, type StackOperation, secondsNow } from './stack-call.ts'
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
  createRule: createOperation(rule, {
    kept,
    create: (fields, call) => ({ ...fields, created_at: secondsNow(call), updated_at: secondsNow(call) }),
  }),
  updateRule: updateOperation(rule, {
    kept,
    change: (current, fields, call) => ({
      ...current,
      ...fields,
      id: current.id,
      updated_at: secondsNow(call),
    }),
  }),
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
