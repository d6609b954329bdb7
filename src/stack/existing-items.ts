import { isObject } from '../api/contract/json-value.ts'
import { type TermCreate, termCombinationProblems, termTypes } from '../api/contract/term.ts'
import { inWireForm } from '../api/contract/wire-form.ts'
import { flattenView } from '../api/view-form.ts'
import { emptyValueOf, fieldSchemaOf, isEmptyValue, type KindRules, kindRules } from './kinds.ts'
import type { ExistingItem, Fields, ItemId, StackKind } from './model.ts'
import { instantOf, isDateTime } from './same-value.ts'

/** A record of the service, as the client reads it. */
export type StackRecord = Fields & { readonly id: ItemId }

/** What the service holds of a kind, in the form of the files. */
export function toExistingItems(kind: StackKind, records: readonly StackRecord[]): ExistingItem[] {
  return records.map((record) => toExistingItem(kindRules[kind], record))
}

function toExistingItem(rules: KindRules, record: StackRecord): ExistingItem {
  const written = rules.kind === 'views' ? flatten(record) : record
  const known = rules.fields.flatMap((field) => {
    const value = Object.hasOwn(written, field) ? readField(rules, field, written[field]) : undefined
    return value === undefined ? [] : [[field, value] as const]
  })
  const fields = Object.fromEntries(known)
  const others = rules.hasOthers ? Object.entries(record).filter(([name]) => isOther(rules, name)) : []
  return {
    id: record.id,
    name: nameOf(rules, fields),
    fields: rules.kind === 'terms' ? withoutFollowerDefault(fields) : fields,
    others: Object.fromEntries(others),
  }
}

/** Nothing in a group is written as an empty text, so that a file can say that the field is empty. */
function flatten(view: StackRecord): Fields {
  const entries = Object.entries(view).map(([name, value]) => {
    if (!isObject(value)) return [name, value] as const
    const members = Object.entries(value).map(([member, one]) => [member, one ?? ''] as const)
    return [name, Object.fromEntries(members)] as const
  })
  return flattenView(Object.fromEntries(entries))
}

/** Undefined: the field has nothing, and nothing could be written to make it so. */
function readField(rules: KindRules, field: string, value: unknown): unknown {
  const schema = fieldSchemaOf(rules, field)
  if (schema === undefined) return undefined
  if (isEmptyValue(value)) return emptyValueOf(schema)
  if (isDateTime(schema) && !schema.safeParse(value).success) {
    const instant = instantOf(value)
    if (instant !== undefined) return new Date(instant).toISOString()
  }
  return (inWireForm(rules.schema, { [field]: value }) as Fields)[field] ?? value
}

function isOther({ fields }: KindRules, name: string): boolean {
  return name !== 'id' && name !== '__proto__' && !fields.includes(name)
}

function nameOf({ kind, nameField }: KindRules, fields: Fields): string {
  const name = fields[nameField]
  if (!isEmptyValue(name)) return String(name)
  return kind === 'users' && !isEmptyValue(fields.email) ? String(fields.email) : ''
}

/** Services write 0 where the number of followers means nothing; the contract refuses it there. */
function withoutFollowerDefault(fields: Fields): Fields {
  if (!fields.minimum_followers && hasKnownType(fields)) {
    const refused = termCombinationProblems(fields).some(({ field }) => field === 'minimum_followers')
    if (refused) {
      const { minimum_followers: _, ...others } = fields
      return others
    }
  }
  return fields
}

/** Whether the rules that join the fields of a term can be asked. */
export function hasKnownType(fields: Fields): fields is TermCreate {
  return (termTypes as readonly unknown[]).includes(fields.type)
}
