import { compareNames } from './format-file.ts'
import { kindRules } from './kinds.ts'
import { type Matched, matchItems } from './match-items.ts'
import {
  type DesiredItem,
  type ExistingItem,
  type ItemReference,
  type StackItems,
  type StackKind,
  type StackPlan,
  type StackProblem,
  type Step,
  stackKinds,
} from './model.ts'
import { planKnownItem, planNewItem } from './plan-item.ts'

export interface PlanInput {
  /** Kinds that are left out are not managed. */
  desired: StackItems<DesiredItem>
  /** At least of the kinds that are desired. */
  existing: StackItems<ExistingItem>
  /** Deletes what the files do not name, except users. */
  prune: boolean
}

export type Planned = { kind: 'plan'; plan: StackPlan } | { kind: 'problems'; problems: StackProblem[] }

/**
 * What makes the service as the files want it. Pure, and the same whatever the order of the items. Views name terms, so
 * terms are made first; what is deleted goes last, in reverse.
 */
export function planStack({ desired, existing, prune }: PlanInput): Planned {
  const problems: StackProblem[] = []
  const steps: Step[] = []
  const left: ItemReference[] = []
  let unchanged = 0
  for (const kind of ['users', 'terms', 'views', 'rules'] as const) {
    const wanted = desired[kind]
    if (wanted === undefined) continue
    const matched = matchItems(kind, wanted, existing[kind] ?? [])
    problems.push(...matched.problems)
    const planned = planKind(kind, matched)
    problems.push(...planned.problems)
    steps.push(...planned.steps.toSorted((one, other) => compareNames(one.name, other.name)))
    unchanged += planned.unchanged
    left.push(...matched.others.map(({ id, name }) => ({ kind, id, name })))
  }
  if (problems.length > 0) return { kind: 'problems', problems: inFileOrder(problems) }
  const named = inShownOrder(left.filter(({ name }) => name !== ''))
  const doomed = prune ? named.filter(({ kind }) => kind !== 'users') : []
  steps.push(...doomed.map((item): Step => ({ action: 'delete', ...item })))
  return {
    kind: 'plan',
    plan: {
      steps,
      unchanged,
      notInFiles: named.filter((item) => !doomed.includes(item)),
      unnamed: inShownOrder(left.filter(({ name }) => name === '')),
      warnings: findStaleTermIds(steps, existing.views ?? []).toSorted(),
    },
  }
}

function planKind(kind: StackKind, { pairs }: Matched) {
  const rules = kindRules[kind]
  const planned = { steps: [] as Step[], problems: [] as StackProblem[], unchanged: 0 }
  for (const { desired, existing } of pairs) {
    const plan = existing ? planKnownItem(rules, desired, existing) : planNewItem(rules, desired)
    if (plan.kind === 'step') planned.steps.push(plan.step)
    else if (plan.kind === 'problems') planned.problems.push(...plan.problems)
    else planned.unchanged += 1
  }
  return planned
}

/** Views hold the ids of terms, which a term that is created again does not keep. */
function findStaleTermIds(steps: readonly Step[], views: readonly ExistingItem[]): string[] {
  return steps.flatMap((step) => {
    if (step.kind !== 'terms' || (step.action !== 'replace' && step.action !== 'delete')) return []
    const users = views.filter(({ fields }) => idsIn(fields.filter_value_terms).includes(String(step.id)))
    return users.map(
      ({ name }) =>
        `moderation view ${JSON.stringify(name)} filters by term ${step.id} (${JSON.stringify(step.name)}), which will be gone`,
    )
  })
}

function idsIn(value: unknown): string[] {
  return typeof value === 'string' ? value.split(',').map((id) => id.trim()) : []
}

function inShownOrder(items: readonly ItemReference[]): ItemReference[] {
  return items.toSorted(
    (one, other) =>
      stackKinds.indexOf(one.kind) - stackKinds.indexOf(other.kind) ||
      compareNames(one.name, other.name) ||
      compareNames(String(one.id), String(other.id)),
  )
}

function inFileOrder(problems: readonly StackProblem[]): StackProblem[] {
  return problems.toSorted(
    (one, other) =>
      compareNames(one.place?.file ?? '', other.place?.file ?? '') ||
      (one.place?.line ?? 0) - (other.place?.line ?? 0),
  )
}
