import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { parseJsonBody, type ReceivedBody, wholeBytes } from '../request-body.ts'
import { faultSettingSchema } from './fault-schema.ts'
import type { Faults } from './faults.ts'

export async function registerFaults(scope: FastifyInstance, { faults }: { faults: Faults }): Promise<void> {
  scope.get('/sandbox/faults', async () => ({ faults: faults.list() }))

  scope.post<{ Body: ReceivedBody | undefined }>('/sandbox/faults', async (request, reply) => {
    const parsed = parseJsonBody(wholeBytes(request.body) ?? Buffer.alloc(0), 'one fault or a list of faults')
    if (parsed.kind === 'unreadable') return refuse(reply, [parsed.message])
    const setting = parsed.value
    const checked = z.array(faultSettingSchema).safeParse(Array.isArray(setting) ? setting : [setting])
    if (checked.success) return { faults: faults.add(checked.data) }
    return refuse(reply, checked.error.issues.map(describeIssue))
  })

  scope.delete('/sandbox/faults', async () => {
    faults.clear()
    return {}
  })

  scope.delete<{ Params: { id: string } }>('/sandbox/faults/:id', async (request, reply) => {
    if (faults.remove(Number(request.params.id))) return {}
    return reply.code(404).send({ message: `there is no fault ${request.params.id}` })
  })
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const place = issue.path.length > 1 ? `${issue.path.slice(1).join('.')}: ` : ''
  return `fault ${String(issue.path[0] ?? 0)}: ${place}${issue.message}`
}

function refuse(reply: FastifyReply, problems: readonly string[]): FastifyReply {
  return reply.code(400).send({ message: 'the faults were not set', problems })
}
