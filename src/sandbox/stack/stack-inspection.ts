import type { FastifyInstance } from 'fastify'
import { type PageQuery, pageOf } from '../page-query.ts'
import type { StackStore, StackTableName } from './stack-store.ts'

/** What the API itself cannot show, or shows only by page. */
const shownTables = ['users', 'tiles', 'assets'] as const satisfies readonly StackTableName[]
const words = { users: 'user', tiles: 'tile', assets: 'asset' } as const
const usersDefault = 10_000

/** `/sandbox/users`, `/sandbox/tiles` and `/sandbox/assets`, by `offset` and `limit`, and each record by its id. */
export async function registerStackInspection(
  scope: FastifyInstance,
  { stack }: { stack: StackStore },
): Promise<void> {
  for (const name of shownTables) {
    const table = stack.tables[name]
    scope.get<{ Querystring: PageQuery }>(`/sandbox/${name}`, async ({ query }) => {
      const { offset, limit } = pageOf(query, name === 'users' ? usersDefault : undefined)
      return { total: table.size, offset, [name]: table.list().slice(offset, offset + limit) }
    })
    scope.get<{ Params: { id: string } }>(`/sandbox/${name}/:id`, async (request, reply) => {
      const { id } = request.params
      const record = /^\d+$/.test(id) ? table.get(Number(id)) : undefined
      return record ?? reply.code(404).send({ message: `there is no ${words[name]} ${JSON.stringify(id)}` })
    })
  }
}
