import type { RequestOptions } from './api-caller.ts'
import { endpoints } from './contract/endpoints.ts'
import type { UserListQuery } from './contract/paging.ts'
import { type User, type UserUpdate, userSchema } from './contract/user.ts'
import type { StackCalls, StackId } from './stack-calls.ts'
import { type ReadPage, readAllPages, readPage, refuseUnknown, type StackPage } from './stack-pages.ts'
import { StackRecords } from './stack-records.ts'

/** What is left out is left to the server: page 1, 25 a page, by `id`, `asc`. */
export interface UserPageQuery {
  /** Counted from 1. */
  page?: number | undefined
  /** 1 to 100. */
  limit?: number | undefined
  orderBy?: UserListQuery['order_by']
  orderByDirection?: UserListQuery['order_by_direction']
}

/** Users of the admin portal: `/api/users`. None is ever created here. All methods throw as `StackClient` says. */
export class StackUsers {
  readonly #records: StackRecords<typeof userSchema>
  readonly #readPage: ReadPage<User>

  constructor(calls: StackCalls) {
    this.#records = new StackRecords(calls, userSchema, {
      list: endpoints.listUsers,
      get: endpoints.getUser,
      update: endpoints.updateUser,
      delete: endpoints.deleteUser,
    })
    this.#readPage = (query, options) => this.#records.list(query, options)
  }

  /** One page. Throws `ContractError` for a limit above 100. */
  async list(query: UserPageQuery = {}, options: RequestOptions = {}): Promise<StackPage<User>> {
    return readPage(this.#readPage, toListQuery(query, [...optionsOfAll, 'page']), options)
  }

  /** All users, 100 a page unless `limit` says otherwise: `for await (const user of users.all({ orderBy: 'email' }))`. */
  all(
    query: Omit<UserPageQuery, 'page'> = {},
    options: RequestOptions = {},
  ): AsyncGenerator<User, void, undefined> {
    return readAllPages(this.#readPage, toListQuery(query, optionsOfAll), options)
  }

  async get(id: StackId, options: RequestOptions = {}): Promise<User> {
    return this.#records.get(id, options)
  }

  /** Fields that are left out stay as they are. */
  async update(id: StackId, changes: UserUpdate, options: RequestOptions = {}): Promise<User> {
    return this.#records.update(id, changes, options)
  }

  async delete(id: StackId, options: RequestOptions = {}): Promise<void> {
    await this.#records.delete(id, options)
  }
}

const optionsOfAll = ['limit', 'orderBy', 'orderByDirection']

function toListQuery(query: UserPageQuery, known: readonly string[]) {
  refuseUnknown('listUsers', query, known)
  const { page, limit, orderBy, orderByDirection } = query
  return { page, limit, order_by: orderBy, order_by_direction: orderByDirection }
}
