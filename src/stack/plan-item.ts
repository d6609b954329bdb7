import { contractProblems } from '../api/contract/problems.ts'
import { checkCreate, checkUpdate, isOtherField } from './check-item.ts'
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
