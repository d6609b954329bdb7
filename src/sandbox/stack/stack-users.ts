import type { StackOperation } from './stack-call.ts'
import { type ListQuery, pageOperation } from './stack-page.ts'
import { deleteOperation, getOperation, type RecordKind, updateOperation } from './stack-records.ts'
import type { StackRecord } from './stack-table.ts'

const user: RecordKind = { subject: 'user', word: 'user', table: 'users' }

/** Users are never created here. */
export const userOperations = {
  listUsers: pageOperation(user, orderUsers),
  getUser: getOperation(user),
  deleteUser: deleteOperation(user),
  updateUser: updateOperation(user),
} satisfies Record<string, StackOperation>

const orderFields: Readonly<Record<string, string>> = { created: 'created_at' }

/** Names of any script in the order of English; letters of either case stand together. */
const collator = new Intl.Collator('en')

/** Users of equal value stay in the order of their ids, in both directions: they come in it, and sorting is stable. */
function orderUsers(users: StackRecord[], query: ListQuery): StackRecord[] {
  const { order_by: order = 'id', order_by_direction: direction = 'asc' } = query
  const field = orderFields[String(order)] ?? String(order)
  const sign = direction === 'desc' ? -1 : 1
  return users.toSorted((a, b) => sign * compareValues(a[field], b[field]))
}

function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return collator.compare(textOf(a), textOf(b))
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
