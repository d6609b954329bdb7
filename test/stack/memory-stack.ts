import type { ModerationViewWrite } from '../../src/api/contract/moderation-view.ts'
import { groupView } from '../../src/api/view-form.ts'
import { type StackRecord, toExistingItems } from '../../src/stack/existing-items.ts'
import { formatFile, parseFile } from '../../src/stack/files.ts'
import type { DesiredItem } from '../../src/stack/model.ts'
import { type Fields, type StackItems, type StackKind, type Step, stackKinds } from '../../src/stack/model.ts'

export type Records = Readonly<Record<StackKind, readonly StackRecord[]>>

/** What a service holds after the steps; new items get new ids. */
export function applySteps(records: Records, steps: readonly Step[]): Records {
  let nextId = 1 + Math.max(0, ...stackKinds.flatMap((kind) => records[kind].map(({ id }) => Number(id))))
  const after: Record<StackKind, StackRecord[]> = {
    rules: [...records.rules],
    views: [...records.views],
    terms: [...records.terms],
    users: [...records.users],
  }
  for (const step of steps) {
    const list = after[step.kind]
    if (step.action !== 'create') {
      const at = list.findIndex(({ id }) => id === step.id)
      if (step.action === 'update') {
        const current = list[at] as StackRecord
        list[at] = { ...current, ...asRead(step.kind, step.fields, current) } as StackRecord
        continue
      }
      list.splice(at, 1)
    }
    if (step.action !== 'delete') list.push({ id: nextId++, ...asRead(step.kind, step.fields) })
  }
  return after
}

/** Fields as they are read: those of views in their groups. */
function asRead(kind: StackKind, fields: Fields, current: Fields = {}): Fields {
  if (kind !== 'views') return fields
  const written = Object.entries(groupView(fields as ModerationViewWrite)).map(([name, value]) => {
    const before = current[name]
    return [name, typeof value === 'object' ? { ...(before as object), ...value } : value]
  })
  return Object.fromEntries(written)
}

export const noRecords: Records = { rules: [], views: [], terms: [], users: [] }

export function toRecords(items: Readonly<Partial<Record<StackKind, readonly Fields[]>>>): Records {
  const of = (kind: StackKind) =>
    (items[kind] ?? []).map((fields, index) => ({ id: index + 1, ...asRead(kind, fields) }))
  return { rules: of('rules'), views: of('views'), terms: of('terms'), users: of('users') }
}

export function existingOf(records: Records) {
  return Object.fromEntries(stackKinds.map((kind) => [kind, toExistingItems(kind, records[kind])]))
}

/** The items of the files that a pull would write; throws when they cannot be read again. */
export function pulled(records: Records, kinds: readonly StackKind[] = stackKinds): StackItems<DesiredItem> {
  const entries = kinds.map((kind) => {
    const text = formatFile(kind, toExistingItems(kind, records[kind]))
    const { items, problems } = parseFile(kind, { file: `${kind}.yaml`, text })
    if (problems.length > 0) throw new Error(`${JSON.stringify(problems)}\n${text}`)
    return [kind, items] as const
  })
  return Object.fromEntries(entries)
}

export function parse(kind: StackKind, text: string): DesiredItem[] {
  const { items, problems } = parseFile(kind, { file: `${kind}.yaml`, text })
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  return items
}
