import { contractProblems } from '../api/contract/problems.ts'
import { termCombinationProblems } from '../api/contract/term.ts'
import { hasKnownType } from './existing-items.ts'
import { fieldSchemaOf, type KindRules } from './kinds.ts'
import type { DesiredItem, ExistingItem, Fields, StackProblem } from './model.ts'

/** What the contract says against creating an item so. */
export function checkCreate(
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
export function checkUpdate(
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
export function isOtherField(rules: KindRules, field: string, existing: ExistingItem): boolean {
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
