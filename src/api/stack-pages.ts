import { withoutUndefined } from '../lib/without-undefined.ts'
import type { RequestOptions } from './api-caller.ts'
import { ContractError } from './api-error.ts'
import { limitDefault, limitMax, pageDefault } from './contract/paging.ts'
import type { StackAnswer } from './stack-calls.ts'

/** A server that answers ever new records without an end is left after so many pages. */
const pagesMax = 100_000

export interface StackPage<Item> {
  records: Item[]
  page: number
  limit: number
  /** How many there are in all; undefined when the server does not say. */
  total: number | undefined
}

export type ReadPage<Item> = (
  query: Readonly<Record<string, unknown>>,
  options: RequestOptions,
) => Promise<{ records: Item[]; counts: number[]; answer: StackAnswer }>

export async function readPage<Item>(
  read: ReadPage<Item>,
  query: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): Promise<StackPage<Item>> {
  const { records, counts } = await read(withoutUndefined(query), options)
  const { page, limit } = query
  return {
    records,
    page: typeof page === 'number' ? page : pageDefault,
    limit: typeof limit === 'number' ? limit : limitDefault,
    total: counts[0],
  }
}

/**
 * All records, page by page, each once: what comes again on a later page, because something changed meanwhile, is passed
 * over. Ends at a page that is not full, unless the server counts more than came, and where nothing new comes.
 *
 * Throws `ApiResponseError` (`incomplete`) when the server answers the same page again although there must be more.
 */
export async function* readAllPages<Item extends { id: number | string }>(
  read: ReadPage<Item>,
  query: Readonly<Record<string, unknown>>,
  options: RequestOptions,
): AsyncGenerator<Item, void, undefined> {
  const limit = typeof query.limit === 'number' ? query.limit : limitMax
  const seen = new Set<string>()
  for (let page = pageDefault; page < pagesMax; page += 1) {
    const { records, counts, answer } = await read(withoutUndefined({ ...query, limit, page }), options)
    const fresh = records.filter(({ id }) => !seen.has(String(id)))
    for (const record of fresh) {
      seen.add(String(record.id))
      yield record
    }
    const mostCounted = counts.length === 0 ? undefined : Math.max(...counts)
    const leastCounted = counts.length === 0 ? undefined : Math.min(...counts)
    if (mostCounted !== undefined && seen.size >= mostCounted) return
    const isShort = records.length < limit
    if (isShort && (leastCounted === undefined || seen.size >= leastCounted)) return
    if (fresh.length > 0) continue
    // An empty page is the end, whatever is counted. A page that is longer than asked for was all there is.
    if (records.length === 0 || records.length > limit) return
    throw answer.error('incomplete', `the same page again after ${seen.size} records: it does not page`)
  }
}

/** Callers in JavaScript may name an option as the service does: it would have no effect, and nobody would notice. */
export function refuseUnknown(call: string, query: object, known: readonly string[]): void {
  const problems = Object.entries(query)
    .filter(([name, value]) => !known.includes(name) && value !== undefined)
    .map(([field]) => ({
      field,
      message: `${field}: found an unknown option, expected one of ${known.join(', ')}`,
    }))
  if (problems.length > 0) throw new ContractError(`${call} was not sent`, problems)
}
