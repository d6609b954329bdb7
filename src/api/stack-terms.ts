import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import { type Term, type TermCreate, type TermUpdate, termSchema } from './contract/term.ts'
import type { StackCalls, StackId } from './stack-calls.ts'
import { type ReadPage, readAllPages, readPage, refuseUnknown, type StackPage } from './stack-pages.ts'
import { StackRecords } from './stack-records.ts'

/** What is left out is left to the server: page 1, 25 a page. */
export interface TermPageQuery {
  /** Counted from 1. */
  page?: number | undefined
  /** 1 to 100. */
  limit?: number | undefined
}

/** Terms, the queries that bring content in: `/api/terms`. All methods throw as `StackClient` says. */
export class StackTerms {
  readonly #records: StackRecords<typeof termSchema>
  readonly #readPage: ReadPage<Term>

  constructor(calls: StackCalls) {
    this.#records = new StackRecords(calls, termSchema, {
      list: endpoints.listTerms,
      get: endpoints.getTerm,
      update: endpoints.updateTerm,
      delete: endpoints.deleteTerm,
    })
    this.#readPage = (query, options) => this.#records.list(query, options)
  }

  /** One page. Throws `ContractError` for a limit above 100. */
  async list(query: TermPageQuery = {}, options: RequestOptions = {}): Promise<StackPage<Term>> {
    refuseUnknown('listTerms', query, ['page', 'limit'])
    return readPage(this.#readPage, { ...query }, options)
  }

  /** All terms, 100 a page unless `limit` says otherwise: `for await (const term of terms.all())`. */
  all(
    query: Omit<TermPageQuery, 'page'> = {},
    options: RequestOptions = {},
  ): AsyncGenerator<Term, void, undefined> {
    refuseUnknown('listTerms', query, ['limit'])
    return readAllPages(this.#readPage, { limit: query.limit }, options)
  }

  async get(id: StackId, options: RequestOptions = {}): Promise<Term> {
    return this.#records.get(id, options)
  }

  async create(term: TermCreate, options: RequestOptions = {}): Promise<Term> {
    return this.#records.create(endpoints.createTerm, term, options)
  }

  /** Fields that are left out stay as they are; `type`, `network` and `num_of_backfill` cannot be changed. */
  async update(id: StackId, changes: TermUpdate, options: RequestOptions = {}): Promise<Term> {
    return this.#records.update(id, changes, options)
  }

  async delete(id: StackId, options: RequestOptions = {}): Promise<void> {
    await this.#records.delete(id, options)
  }
}
