import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import { type Term, type TermCreate, type TermUpdate, termSchema } from './contract/term.ts'
import type { StackCalls } from './stack-calls.ts'
import { readAllPages, readPage, refuseUnknown, type StackPage } from './stack-pages.ts'
import { StackRecords } from './stack-records.ts'

/** What is left out is left to the server: page 1, 25 a page. */
export interface TermPageQuery {
  /** Counted from 1. */
  page?: number | undefined
  /** 1 to 100. */
  limit?: number | undefined
}

/**
 * Terms, the queries that bring content in: `/api/terms`. `type`, `network` and `num_of_backfill` cannot be changed. All
 * methods throw as `StackClient` says.
 */
export class StackTerms extends StackRecords<Term, TermUpdate> {
  constructor(calls: StackCalls) {
    super(calls, termSchema, 'Term')
  }

  /** One page. Throws `ContractError` for a limit above 100. */
  async list(query: TermPageQuery = {}, options: RequestOptions = {}): Promise<StackPage<Term>> {
    refuseUnknown('listTerms', query, ['page', 'limit'])
    return readPage(this.read, { ...query }, options)
  }

  /** All terms, 100 a page unless `limit` says otherwise: `for await (const term of terms.all())`. */
  all(
    query: Omit<TermPageQuery, 'page'> = {},
    options: RequestOptions = {},
  ): AsyncGenerator<Term, void, undefined> {
    refuseUnknown('listTerms', query, ['limit'])
    return readAllPages(this.read, { limit: query.limit }, options)
  }

  async create(term: TermCreate, options: RequestOptions = {}): Promise<Term> {
    return this.add(endpoints.createTerm, term, options)
  }
}
