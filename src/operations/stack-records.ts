import type { StackClient } from '../api/stack-client.ts'
import type { UserPageQuery } from '../api/stack-users.ts'
import { ConfigError } from '../lib/errors.ts'
import type { StackRecord } from '../stack/existing-items.ts'
import { kindRules } from '../stack/kinds.ts'
import type { StackKind } from '../stack/model.ts'

/** Which records: with a page or a limit one page, otherwise all. Only users have an order. */
export type ListQuery = UserPageQuery

export async function listRecords(
  client: StackClient,
  { kind, query, signal }: { kind: StackKind; query: ListQuery; signal: AbortSignal },
): Promise<StackRecord[]> {
  const options = { signal }
  if (kind === 'rules' || kind === 'views') return await client[kind].list(options)
  const { page, limit, ...order } = query
  const isOnePage = page !== undefined || limit !== undefined
  if (kind === 'users') {
    if (isOnePage) return [...(await client.users.list(query, options)).records]
    return await collect(client.users.all(order, options))
  }
  if (isOnePage) return [...(await client.terms.list({ page, limit }, options)).records]
  return await collect(client.terms.all({}, options))
}

async function collect(records: AsyncIterable<StackRecord>): Promise<StackRecord[]> {
  const collected: StackRecord[] = []
  for await (const record of records) collected.push(record)
  return collected
}

/** What a person knows a record by. */
export function nameOfRecord(kind: StackKind, record: StackRecord): string {
  const name = record[kindRules[kind].nameField]
  return typeof name === 'string' && name !== '' ? JSON.stringify(name) : 'without a name'
}

/** Throws a ConfigError for what is no id. The contract does not say what ids of rules look like; all others are numbers. */
export function checkId(kind: StackKind, id: string): string {
  if (kind === 'rules' || /^\d{1,15}$/.test(id)) return id
  throw new ConfigError('usage', `"${id}" is no id of a ${kindRules[kind].word}: ids are whole numbers`, {
    hint: `See catalogd stack ${kind} list`,
  })
}
