import { contractProblems } from '../api/contract/problems.ts'
import { termCombinationProblems } from '../api/contract/term.ts'
import { hasKnownType } from './existing-items.ts'
import { fieldSchemaOf, isEmptyValue, type KindRules } from './kinds.ts'
import type { DesiredItem, ExistingItem, FieldChange, Fields, StackProblem, Step } from './model.ts'
import { isSameValue } from './same-value.ts'

export type ItemPlan =
  | { kind: 'unchanged' }
  | { kind: 'step'; step: Step }
  | { kind: 'problems'; problems: StackProblem[] }

/** What to do for an item that the service does not have. */
export function planNewItem(rules: KindRules, desired: DesiredItem): ItemPlan {
  const { name, fields, place } = desired
  if (rules.createSchema === undefined) {
    const message = `the service has no ${rules.word} ${JSON.stringify(name)}; users are invited, not created from files: correct the name or remove the entry`
    return { kind: 'problems', problems: [{ place, message }] }
  }
  const problems = checkCreate(rules, desired)
  if (problems.length > 0) return { kind: 'problems', problems }
  return { kind: 'step', step: { action: 'create', kind: rules.kind, name, fields } }
}

/** What to do for an item that the service has, other or the same. */
export function planKnownItem(rules: KindRules, desired: DesiredItem, existing: ExistingItem): ItemPlan {
  const changes = findChanges(rules, desired, existing)
  if (changes.length === 0) return { kind: 'unchanged' }
  const { kind } = rules
  const { name } = desired
  if (changes.some(({ createOnly }) => createOnly)) return planReplace(rules, { desired, existing, changes })
  const fields = Object.fromEntries(changes.map(({ field, after }) => [field, after]))
  const problems = checkUpdate(rules, desired, fields, existing)
  if (problems.length > 0) return { kind: 'problems', problems }
  return { kind: 'step', step: { action: 'update', kind, name, id: existing.id, changes, fields } }
}

function findChanges(rules: KindRules, desired: DesiredItem, existing: ExistingItem): FieldChange[] {
  return Object.entries(desired.fields).flatMap(([field, after]) => {
    const isOther = isOtherField(rules, field, existing)
    const before = isOther ? existing.others[field] : existing.fields[field]
    if (isSameValue(fieldSchemaOf(rules, field), before, after)) return []
    const createOnly = rules.createOnly.has(field) ? { createOnly: true as const } : {}
    return [{ field, before, after, ...createOnly }]
  })
}

interface Replacing {
  desired: DesiredItem
  existing: ExistingItem
  changes: FieldChange[]
}

/** Created again with what the file says and, for the rest, what it had, as far as it may still have that. */
function planReplace(rules: KindRules, { desired, existing, changes }: Replacing): ItemPlan {
  const kept = Object.entries(existing.fields).filter(
    ([field, value]) => !Object.hasOwn(desired.fields, field) && !isEmptyValue(value),
  )
  const whole = { ...Object.fromEntries(kept), ...desired.fields }
  const refused = rules.createSchema === undefined ? [] : contractProblems(rules.createSchema, whole)
  const lost = kept
    .map(([field]) => field)
    .filter((field) => refused.some((problem) => problem.field === field))
  const fields: Fields = Object.fromEntries(Object.entries(whole).filter(([field]) => !lost.includes(field)))
  const problems = checkCreate(rules, desired, fields)
  if (problems.length > 0) return { kind: 'problems', problems }
  const losses = lost.map((field) => ({ field, before: existing.fields[field], after: undefined }))
  const { kind } = rules
  const { name } = desired
  const { id } = existing
  return {
    kind: 'step',
    step: { action: 'replace', kind, name, id, changes: [...changes, ...losses], fields },
  }
}

function checkCreate(
  { createSchema, word }: KindRules,
  { fields, place, places }: DesiredItem,
  whole: Fields = fields,
): StackProblem[] {
  if (createSchema === undefined) return []
  return contractProblems(createSchema, whole, { whole: word }).map(({ field, message }) => ({
    place: places.get(field) ?? place,
    message,
  }))
}

/** What the contract says against what a file changes; what stays as the service has it is not looked at. */
function checkUpdate(
  rules: KindRules,
  { place, places }: DesiredItem,
  changed: Fields,
  existing: ExistingItem,
): StackProblem[] {
  const known = Object.entries(changed).filter(([field]) => !isOtherField(rules, field, existing))
  const problems = contractProblems(rules.schema, Object.fromEntries(known), { whole: rules.word })
  const joined = rules.kind === 'terms' ? checkCombination(existing.fields, changed) : []
  return [...problems, ...joined].map(({ field, message }) => ({
    place: places.get(field) ?? place,
    message,
  }))
}

/** A field that the contract does not show, but that the service is seen to have. */
function isOtherField(rules: KindRules, field: string, existing: ExistingItem): boolean {
  return rules.hasOthers && fieldSchemaOf(rules, field) === undefined && Object.hasOwn(existing.others, field)
}

/** Rules that join fields hold for the term as it would become; what was broken before is not blamed on the change. */
function checkCombination(before: Fields, changed: Fields): { field: string; message: string }[] {
  const becoming = { ...before, ...changed }
  if (!hasKnownType(becoming)) return []
  const earlier = hasKnownType(before) ? termCombinationProblems(before).map(({ field }) => field) : []
  return termCombinationProblems(becoming)
    .filter(({ field }) => !earlier.includes(field))
    .map(({ field, message }) => ({ field, message: `${field}: ${message}` }))
}
