import { kindRules } from './kinds.ts'
import type { DesiredItem, ExistingItem, StackKind, StackProblem } from './model.ts'
import { formatPlace } from './problems.ts'

export interface Matched {
  pairs: { desired: DesiredItem; existing: ExistingItem | undefined }[]
  /** At the service only. */
  others: ExistingItem[]
  problems: StackProblem[]
}

/** Which item of the files is which of the service. Two of one name, on either side, are a problem. */
export function matchItems(
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
