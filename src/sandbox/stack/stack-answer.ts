import type { FastifyReply } from 'fastify'
import type { JsonValue } from '../../api/contract/json-value.ts'

/** What the errors are about; the first half of their `message_id`. */
export type StackSubject = 'rule' | 'moderationview' | 'user' | 'term' | 'request'

export interface StackRefusal {
  kind: 'refused'
  status: 400 | 401 | 403 | 404 | 405 | 409 | 429 | 500
  subject: StackSubject
  /** The second half of the `message_id`. */
  reason: string
  /** One error each; at least one. */
  messages: readonly string[]
}

export type StackAnswer =
  | { kind: 'found'; data: JsonValue }
  /** `total`: of all that the page was cut from. */
  | { kind: 'listed'; data: readonly JsonValue[]; total: number }
  | StackRefusal

export type StackOutcome = Promise<StackAnswer> | StackAnswer

/** The middle of an `error_code`, which real servers number by resource (`1080404`: a term that is not there). */
const subjectCodes: Readonly<Record<StackSubject, number>> = {
  request: 100,
  rule: 105,
  moderationview: 106,
  user: 107,
  term: 108,
}

/** Enough to correct a body; a list of ten thousand wrong elements would only make a long answer. */
const messagesMax = 50

export function refused(
  status: StackRefusal['status'],
  place: { subject: StackSubject; reason: string },
  ...messages: string[]
): StackRefusal {
  return { kind: 'refused', status, ...place, messages }
}

/** Every answer has the same envelope; the status is 200 or that of the error. */
export function sendStackAnswer(reply: FastifyReply, answer: StackAnswer): FastifyReply {
  reply.type('application/json; charset=utf-8')
  switch (answer.kind) {
    case 'found':
      return reply.send(JSON.stringify({ data: answer.data, errors: [] }))
    case 'listed': {
      const total = String(answer.total)
      const count = { results_total: total, total }
      return reply.send(JSON.stringify({ data: answer.data, errors: [], count }))
    }
    case 'refused':
      return reply.code(answer.status).send(JSON.stringify({ data: [], errors: describeErrors(answer) }))
    default:
      return answer satisfies never
  }
}

function describeErrors({ status, subject, reason, messages }: StackRefusal): object[] {
  return messages.slice(0, messagesMax).map((message) => ({
    message,
    code: status,
    error_code: subjectCodes[subject] * 10_000 + status,
    message_id: `${subject}:${reason}`,
  }))
}
