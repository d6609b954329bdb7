import { limitDefault, pageDefault } from '../../api/contract/paging.ts'
import { contractProblems } from '../../api/contract/problems.ts'
import { inWireForm } from '../../api/contract/wire-form.ts'
import { refused, type StackRefusal } from './stack-answer.ts'
import type { StackCall, StackOperation } from './stack-call.ts'
import { fieldNames } from './stack-fields.ts'
import { type RecordKind, tableOf } from './stack-records.ts'
import type { StackRecord } from './stack-table.ts'

export type ListQuery = Readonly<Record<string, unknown>>

/** A page of all records, in the order that the query asks for. */
export function pageOperation(
  kind: RecordKind,
  order: (records: StackRecord[], query: ListQuery) => StackRecord[] = (records) => records,
): StackOperation {
  return (call) => {
    const query = readListQuery(call, kind)
    if (query.kind === 'refused') return query
    const { page = pageDefault, limit = limitDefault } = query.values
    const records = order(tableOf(call, kind).list(), query.values)
    const from = (Number(page) - 1) * Number(limit)
    return { kind: 'listed', data: records.slice(from, from + Number(limit)), total: records.length }
  }
}

function readListQuery(
  call: StackCall,
  { subject }: RecordKind,
): { kind: 'query'; values: ListQuery } | StackRefusal {
  const schema = call.endpoint.query
  if (schema === undefined) throw new Error(`${call.endpoint.name} has no query`)
  const known = fieldNames(schema).filter((name) => Object.hasOwn(call.query, name))
  const sent = Object.fromEntries(known.map((name) => [name, call.query[name]]))
  // A query is all texts, in strict mode too.
  const values = inWireForm(schema, sent) as ListQuery
  const problems = contractProblems(schema, values, { whole: 'query' })
  if (problems.length === 0) return { kind: 'query', values }
  return refused(400, { subject, reason: 'invalid_query' }, ...problems.map(({ message }) => message))
}
