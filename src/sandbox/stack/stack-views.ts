import { isObject, type JsonValue } from '../../api/contract/json-value.ts'
import { type ViewGroup, viewGroups } from '../../api/contract/moderation-view.ts'
import type { StackOperation } from './stack-call.ts'
import type { WrittenFields } from './stack-fields.ts'
import {
  createOperation,
  deleteOperation,
  getOperation,
  listOperation,
  type RecordKind,
  updateOperation,
} from './stack-records.ts'

const view: RecordKind = { subject: 'moderationview', word: 'moderation view', table: 'views' }

const stackId = 1
/** The first seeded user: the one whose token it is. */
const ownerId = 1

export const viewOperations = {
  listViews: listOperation(view),
  getView: getOperation(view),
  deleteView: deleteOperation(view),
  createView: createOperation(view, {
    create: (fields) => ({ ...grouped(fields, {}), stack_id: stackId, owner_id: ownerId }),
  }),
  updateView: updateOperation(view, { change: (current, fields) => grouped(fields, current) }),
} satisfies Record<string, StackOperation>

const groups = Object.entries(viewGroups) as [ViewGroup, string][]

/** Flattened fields as they are read: `columns_tags_col` becomes `tags_col` in the group `column`. */
function grouped(fields: WrittenFields, current: WrittenFields): WrittenFields {
  const isOfGroup = (name: string) => groups.some(([, prefix]) => name.startsWith(prefix))
  const others = Object.entries(fields).filter(([name]) => !isOfGroup(name))
  const read = groups.map(([group, prefix]) => {
    const written = Object.entries(fields).filter(([name]) => name.startsWith(prefix))
    const members = written.map(([name, value]) => [name.slice(prefix.length), value] as const)
    const before = current[group]
    return [group, { ...(isObject(before) ? before : {}), ...Object.fromEntries(members) }] as const
  })
  return Object.fromEntries<JsonValue>([...others, ...read])
}
