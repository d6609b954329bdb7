import { refused, type StackOutcome, type StackRefusal, type StackSubject } from './stack-answer.ts'
import { type StackCall, type StackOperation, secondsNow } from './stack-call.ts'
import { type FieldRules, readWrittenFields, type WrittenFields } from './stack-fields.ts'
import type { StackTableName } from './stack-store.ts'
import type { StackRecord, StackTable } from './stack-table.ts'

/** Keeps a client that creates in a loop from filling the memory. */
const recordsMax = 100_000

/** A kind of record and how it is spoken of. */
export interface RecordKind {
  subject: StackSubject
  /** For sentences: `moderation view`. */
  word: string
  table: StackTableName
  /** Fields that say in Unix seconds when a record was created and changed; default `created_at` and `updated_at`. */
  times?: { created: string; changed: string }
  /** Why a record must not become so; undefined when it may. */
  check?: (becoming: WrittenFields, call: StackCall) => StackRefusal | undefined
}

/** All records, in the order of their ids. */
export function listOperation(kind: RecordKind): StackOperation {
  return (call) => {
    const records = tableOf(call, kind).list()
    return { kind: 'listed', data: records, total: records.length }
  }
}

export function getOperation(kind: RecordKind): StackOperation {
  return (call) => withRecord(call, kind, (record) => ({ kind: 'found', data: record }))
}

export function deleteOperation(kind: RecordKind): StackOperation {
  return (call) =>
    withRecord(call, kind, (record) => {
      tableOf(call, kind).remove(record.id)
      return { kind: 'found', data: [] }
    })
}

const timesDefault = { created: 'created_at', changed: 'updated_at' }

export interface CreateRules extends FieldRules {
  /** The record without id and times; default: what was written. */
  create?: (fields: WrittenFields) => WrittenFields
}

export function createOperation(kind: RecordKind, { create, ...rules }: CreateRules = {}): StackOperation {
  return async (call) => {
    const { subject, word } = kind
    const written = await readWrittenFields(call, { ...rules, subject })
    if (written.kind === 'refused') return written
    const { fields } = written
    const { times = timesDefault } = kind
    const now = secondsNow(call)
    const created = { ...(create?.(fields) ?? fields), [times.created]: now, [times.changed]: now }
    const refusal = kind.check?.(created, call)
    if (refusal !== undefined) return refusal
    const table = tableOf(call, kind)
    if (table.size < recordsMax) return { kind: 'found', data: table.add(created) }
    return refused(
      409,
      { subject, reason: 'too_many' },
      `the sandbox takes no more than ${recordsMax} of a ${word}`,
    )
  }
}

export interface UpdateRules extends FieldRules {
  /** Looks at what was sent before that is dropped which the service keeps. */
  precheck?: (sent: Readonly<Record<string, unknown>>, current: StackRecord) => StackRefusal | undefined
  /** What is changed; default: what was written. */
  change?: (current: StackRecord, fields: WrittenFields, call: StackCall) => WrittenFields
}

/** Changes the fields that are sent; all others stay. */
export function updateOperation(
  kind: RecordKind,
  { change, precheck, ...rules }: UpdateRules = {},
): StackOperation {
  return (call) =>
    withRecord(call, kind, async (before) => {
      const written = await readWrittenFields(call, { ...rules, subject: kind.subject }, (sent) =>
        precheck?.(sent, before),
      )
      if (written.kind === 'refused') return written
      const table = tableOf(call, kind)
      // It may have changed or gone while the body was read.
      const current = table.get(before.id)
      if (current === undefined) return notFound(kind)
      const { fields } = written
      const { times = timesDefault } = kind
      const becoming = { ...current, ...(change?.(current, fields, call) ?? fields) }
      const changed = { ...becoming, id: current.id, [times.changed]: secondsNow(call) }
      return kind.check?.(changed, call) ?? { kind: 'found', data: table.replace(changed) }
    })
}

/** Answers for the record that the path names, or why there is none. */
export function withRecord(
  call: StackCall,
  kind: RecordKind,
  answer: (record: StackRecord) => StackOutcome,
): StackOutcome {
  const { subject, word } = kind
  if (!/^\d+$/.test(call.id)) {
    const message = `${idNameOf(call)}: the id of a ${word} is a whole number; take it from the list`
    return refused(400, { subject, reason: 'invalid_id' }, message)
  }
  const record = tableOf(call, kind).get(Number(call.id))
  return record === undefined ? notFound(kind) : answer(record)
}

/** As the contract calls the part of the path. */
function idNameOf({ endpoint }: StackCall): string {
  return /\{(\w+)\}/.exec(endpoint.path)?.[1] ?? 'id'
}

export function tableOf(call: StackCall, { table }: RecordKind): StackTable {
  return call.store.tables[table]
}

function notFound({ subject, word }: RecordKind): StackRefusal {
  return refused(404, { subject, reason: 'not_found' }, `there is no ${word} with this id`)
}
