import type { FastifyReply } from 'fastify'

/** Why the endpoint does not take a product, in its own words. */
export interface ProductRefusal {
  product_id: string
  errors: string
}

export type Taken =
  | { kind: 'taken'; refusals: readonly ProductRefusal[] }
  | { kind: 'unreadable'; message: string }

/** 200 `{}`, or 400 with the errors as JSON under a text content type, as the endpoint does. */
export function answerTaken(reply: FastifyReply, taken: Taken): FastifyReply {
  if (taken.kind === 'unreadable') {
    reply.code(400)
    return sendError(reply, 'invalid_request', taken.message)
  }
  if (taken.refusals.length === 0) return reply.type('application/json; charset=utf-8').send('{}')
  return reply
    .code(400)
    .type('text/plain; charset=utf-8')
    .send(
      JSON.stringify({
        type: 'has_errors',
        message: 'Failed to upsert some products; see errors',
        errors: taken.refusals,
      }),
    )
}

/** JSON under a text content type, the form in which this endpoint answers every refusal. */
export function sendError(reply: FastifyReply, type: string, message: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').send(JSON.stringify({ type, message }))
}
