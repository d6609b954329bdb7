import { compareNames } from './files.ts'
import { kindRules } from './kinds.ts'
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
import { formatPlace } from './problems.ts'

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

interface Matched {
  pairs: { desired: DesiredItem; existing: ExistingItem | undefined }[]
  /** At the service only. */
  others: ExistingItem[]
  problems: StackProblem[]
}

/** Which item of the files is which of the service. Two of one name, on either side, are a problem. */
function matchItems(
  kind: StackKind,
  desired: readonly DesiredItem[],
  existing: readonly ExistingItem[],
): Matched {
  const problems = [...findRepeatedHere(kind, desired), ...findRepeatedThere(kind, existing)]
  const byName = new Map(existing.map((item) => [item.name, item]))
  const byEmail = Map.groupBy(existing, ({ fields }) => fields.email)
  const taken = new Map<ExistingItem, DesiredItem>()
  const pairs = desired.map((item) => {
    const [sameEmail, ...more] = item.namedBy === 'email' ? (byEmail.get(item.name) ?? []) : []
    if (more.length > 0) {
      const message =
        'email: found several users of this address at the service; name the one that is meant by username'
      problems.push({ place: item.place, message })
    }
    const found = item.namedBy === 'email' ? sameEmail : byName.get(item.name)
    if (found === undefined) return { desired: item, existing: undefined }
    const earlier = taken.get(found)
    if (earlier !== undefined && earlier.namedBy !== item.namedBy) {
      const message = `found the user of ${formatPlace(earlier.place)} again, by another of username and email; keep one`
      problems.push({ place: item.place, message })
    }
    taken.set(found, item)
    return { desired: item, existing: found }
  })
  return { pairs, others: existing.filter((item) => !taken.has(item)), problems }
}

function findRepeatedHere(kind: StackKind, desired: readonly DesiredItem[]): StackProblem[] {
  const first = new Map<string, DesiredItem>()
  return desired.flatMap((item) => {
    const earlier = first.get(item.name)
    first.set(item.name, earlier ?? item)
    if (earlier === undefined) return []
    const { line } = earlier.place
    const message = `found a second ${kindRules[kind].word} named ${quote(item.name)}, the first stands in line ${line}; rename or remove one`
    return [{ place: item.place, message }]
  })
}

/** Also users of one e-mail address, where that is all they are known by. */
export function findRepeatedThere(kind: StackKind, existing: readonly ExistingItem[]): StackProblem[] {
  const byName = Map.groupBy(
    existing.filter(({ name }) => name !== ''),
    ({ name }) => name,
  )
  return [...byName].flatMap(([name, items]) => {
    if (items.length < 2) return []
    const ids = items.map(({ id }) => id).join(', ')
    const what = `${items.length} ${kindRules[kind].word}s named ${quote(name)}`
    const remedy = `rename or delete all but one, with catalogd stack ${kind} update|delete <id>`
    return [{ message: `the service has ${what} (ids ${ids}), expected one; ${remedy}` }]
  })
}

function quote(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name)
}
