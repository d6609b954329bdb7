import type { RequestOptions } from './api-caller.ts'
import type { UserListQuery } from './contract/paging.ts'
import { type User, type UserUpdate, userSchema } from './contract/user.ts'
import type { StackCalls } from './stack-calls.ts'
import { readAllPages, readPage, refuseUnknown, type StackPage } from './stack-pages.ts'
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
export class StackUsers extends StackRecords<User, UserUpdate> {
  constructor(calls: StackCalls) {
    super(calls, userSchema, 'User')
  }

  /** One page. Throws `ContractError` for a limit above 100. */
  async list(query: UserPageQuery = {}, options: RequestOptions = {}): Promise<StackPage<User>> {
    return readPage(this.read, toListQuery(query, [...optionsOfAll, 'page']), options)
  }

  /** All users, 100 a page unless `limit` says otherwise: `for await (const user of users.all({ orderBy: 'email' }))`. */
  all(
    query: Omit<UserPageQuery, 'page'> = {},
    options: RequestOptions = {},
  ): AsyncGenerator<User, void, undefined> {
    return readAllPages(this.read, toListQuery(query, optionsOfAll), options)
  }
}

const optionsOfAll = ['limit', 'orderBy', 'orderByDirection']

function toListQuery(query: UserPageQuery, known: readonly string[]) {
  refuseUnknown('listUsers', query, known)
  const { page, limit, orderBy, orderByDirection } = query
  return { page, limit, order_by: orderBy, order_by_direction: orderByDirection }
}
