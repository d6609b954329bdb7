import { z } from 'zod'
import { integer, oneOf } from './fields.ts'

export const pageDefault = 1
export const limitDefault = 25
export const limitMax = 100

/** Pages are counted from 1. */
const page = integer('Which page, counted from 1').min(1).default(pageDefault)
const limit = integer('How many a page').min(1).max(limitMax).default(limitDefault)

export const userOrders = ['id', 'name', 'email', 'surname', 'username', 'created'] as const
export const orderDirections = ['asc', 'desc'] as const

export const termListQuerySchema = z.strictObject({ page, limit })

export const userListQuerySchema = z.strictObject({
  page,
  limit,
  order_by: oneOf(userOrders, 'The field to order by').default('id'),
  order_by_direction: oneOf(orderDirections, 'Ascending or descending').default('asc'),
})

export type UserListQuery = z.input<typeof userListQuerySchema>
