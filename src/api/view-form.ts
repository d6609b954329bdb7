import { isObject, type JsonValue } from './contract/json-value.ts'
import {
  type ModerationView,
  type ModerationViewField,
  type ModerationViewWrite,
  moderationViewFields,
  moderationViewWriteSchema,
  type ViewGroup,
  viewGroups,
} from './contract/moderation-view.ts'
import { inWireForm } from './contract/wire-form.ts'

/** A view as it is read, but for what the service itself gives it. */
export type GroupedView = Pick<ModerationView, 'view_name' | 'type' | 'access_type' | 'sort_by'> & {
  [group in ViewGroup]: Record<string, JsonValue>
}

const fields: ReadonlySet<string> = new Set(moderationViewFields)
const prefixes = Object.entries(viewGroups) as [ViewGroup, string][]

/** Names under which servers give the groups, and what they write before a name inside one. */
const spellings: Readonly<Record<ViewGroup, { names: readonly string[]; before: readonly string[] }>> = {
  column: { names: ['column', 'columns'], before: ['columns_', 'column_'] },
  filter: { names: ['filter', 'filters'], before: ['filter_value_', 'filter_', 'value_'] },
  other: { names: ['other', 'others'], before: ['other_', 'others_'] },
  date: { names: ['date', 'dates', 'date_range'], before: ['date_range_', 'date_', 'range_'] },
}

/**
 * What would have to be written to get this view: its groups flattened, values in the contract's form where they can be
 * brought into it. What cannot be written (ids, owners, times, fields that the contract does not have) and what is null is
 * left out. Pure.
 */
export function flattenView(view: Readonly<Record<string, unknown>>): ModerationViewWrite {
  const entries = new Map<string, unknown>()
  for (const [group, prefix] of prefixes) {
    for (const [name, value] of groupEntries(view, group)) {
      const field = fieldNamed(name, group, prefix)
      if (field !== undefined) entries.set(field, value)
    }
  }
  // Some servers have flattened fields beside the groups, or none at all.
  for (const [name, value] of Object.entries(view)) if (fields.has(name)) entries.set(name, value)
  return inWireForm(moderationViewWriteSchema, Object.fromEntries(entries)) as ModerationViewWrite
}

/** How a view that was written so is read: the inverse of `flattenView`. Pure. */
export function groupView(write: ModerationViewWrite): GroupedView {
  const grouped: GroupedView = { column: {}, filter: {}, other: {}, date: {} }
  for (const [field, value] of Object.entries(write) as [ModerationViewField, JsonValue | undefined][]) {
    if (value === undefined) continue
    const [group, prefix] = prefixes.find(([, one]) => field.startsWith(one)) ?? []
    if (group === undefined || prefix === undefined) Object.assign(grouped, { [field]: value })
    else grouped[group][field.slice(prefix.length)] = value
  }
  return grouped
}

function groupEntries(view: Readonly<Record<string, unknown>>, group: ViewGroup): [string, unknown][] {
  return spellings[group].names.flatMap((name) => {
    const members = view[name]
    return isObject(members) ? Object.entries(members) : []
  })
}

/** The written field that a name inside a group stands for; undefined for one that cannot be written. */
function fieldNamed(name: string, group: ViewGroup, prefix: string): string | undefined {
  // As it is first: a name of its own may begin like a prefix (`filter_by_claimed`).
  const bare = spellings[group].before
    .filter((before) => name.startsWith(before))
    .map((before) => name.slice(before.length))
  return [name, ...bare].map((one) => prefix + one).find((field) => fields.has(field))
}
