import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonValue } from '../../api/contract/json-value.ts'
import { fieldPathProblem, placeBelow } from './rule-path.ts'
import type { StackRecord } from './stack-table.ts'

const actionTypes = ['$addToSet', '$set'] as const
type ActionType = (typeof actionTypes)[number]

export interface RuleAction {
  type: ActionType
  /** `tags`, `location.country`. */
  field: string
  value: JsonValue
  /** Where it stands in the rule, for messages. */
  place: string
}

export type ParsedActions =
  | { kind: 'actions'; actions: RuleAction[] }
  | { kind: 'problems'; problems: string[] }

const actionsMax = 100
const valueCharactersMax = 10_000
/** Conditions are evaluated over whole records, which therefore stay small. */
const recordCharactersMax = 20_000
const positionMax = 999

/** Reads the actions as those that the sandbox can perform. */
export function parseActions(action: unknown): ParsedActions {
  if (!Array.isArray(action)) return { kind: 'problems', problems: ['action: it is a list of actions'] }
  if (action.length > actionsMax) {
    return { kind: 'problems', problems: [`action: a rule has at most ${actionsMax} actions`] }
  }
  const parsed = action.map((one, position) => parseAction(one, placeBelow('action', position)))
  const problems = parsed.filter((one) => typeof one === 'string')
  if (problems.length > 0) return { kind: 'problems', problems }
  return { kind: 'actions', actions: parsed.filter((one) => typeof one !== 'string') }
}

function parseAction(action: unknown, place: string): RuleAction | string {
  if (!isObject(action)) return `${place}: it is an object with type, field and value`
  const { type, field, value } = action
  const known = actionTypes.find((one) => one === type)
  if (known === undefined) {
    return `${place}.type: found ${shown(type)}, expected ${actionTypes.join(' or ')}; choose one of these`
  }
  const problem = actionFieldProblem(field)
  if (problem !== undefined) return `${place}.field: ${problem}`
  if (value === undefined) return `${place}.value: found nothing; give it a value`
  if (JSON.stringify(value).length > valueCharactersMax) return `${place}.value: the value is too large`
  return { type: known, field: String(field), value: value as JsonValue, place }
}

/** A field that no action may write, whatever the rule is for. */
export function actionFieldProblem(field: unknown): string | undefined {
  if (typeof field !== 'string') return `found ${shown(field)}, expected the name of a field; give it a value`
  if (field === 'id' || field.startsWith('id.')) return 'the id of a record cannot be changed'
  return fieldPathProblem(field)
}

/** The record as it becomes, which is the record itself when nothing changes, or a sentence why it cannot be. */
export function performActions(record: StackRecord, actions: readonly RuleAction[]): StackRecord | string {
  let changed: JsonValue = record as JsonValue
  for (const action of actions) {
    const result = changeAt(changed, action.field.split('.'), action)
    if (result.kind === 'impossible') return `${action.place}: ${result.why} (record ${record.id})`
    changed = result.value
  }
  if (isDeepStrictEqual(changed, record)) return record
  if (JSON.stringify(changed).length <= recordCharactersMax) return changed as StackRecord
  return `action: record ${record.id} would have more than ${recordCharactersMax} characters`
}

type Change = { kind: 'changed'; value: JsonValue } | { kind: 'impossible'; why: string }

/** Copies what lies on the way: seeded records share their values. */
function changeAt(holder: JsonValue | undefined, [step, ...rest]: string[], action: RuleAction): Change {
  if (step === undefined) return changeValue(holder, action)
  if (Array.isArray(holder)) return changeElement(holder, { step, rest }, action)
  if (holder !== undefined && !isObject(holder) && holder !== null) {
    return { kind: 'impossible', why: `${action.field} lies below a value that has no fields` }
  }
  const fields = holder ?? {}
  const inner = Object.hasOwn(fields, step) ? fields[step] : undefined
  const change = changeAt(inner, rest, action)
  if (change.kind === 'impossible') return change
  return { kind: 'changed', value: { ...fields, [step]: change.value } }
}

function changeElement(
  list: readonly JsonValue[],
  { step, rest }: { step: string; rest: string[] },
  action: RuleAction,
): Change {
  const position = /^\d{1,4}$/.test(step) ? Number(step) : Number.POSITIVE_INFINITY
  if (position > list.length || position > positionMax) {
    return { kind: 'impossible', why: `${action.field} names no element of the list` }
  }
  const change = changeAt(list[position], rest, action)
  if (change.kind === 'impossible') return change
  const copy = [...list]
  copy[position] = change.value
  return { kind: 'changed', value: copy }
}

function changeValue(value: JsonValue | undefined, action: RuleAction): Change {
  if (action.type === '$set') return { kind: 'changed', value: action.value }
  const list = value ?? []
  if (!Array.isArray(list)) {
    return { kind: 'impossible', why: `${action.field} is no list, so that nothing can be added to it` }
  }
  const added = addedValues(action.value).filter(
    (one, position, all) =>
      !list.some((present) => isDeepStrictEqual(present, one)) &&
      all.findIndex((other) => isDeepStrictEqual(other, one)) === position,
  )
  return { kind: 'changed', value: [...list, ...added] }
}

/** A list is added as one element; `{"$each": […]}` adds its elements. */
function addedValues(value: JsonValue): readonly JsonValue[] {
  if (isObject(value) && Array.isArray(value.$each) && Object.keys(value).length === 1) return value.$each
  return [value]
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  return typeof value === 'string' ? `the text ${JSON.stringify(value.slice(0, 60))}` : `a ${typeof value}`
}
