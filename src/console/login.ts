import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Log } from '../lib/log.ts'
import { type Access, isCsrf, type TokenLimit } from './access.ts'
import type { Assets } from './assets.ts'
import type { AuditLog } from './audit-log.ts'
import { formOf, ownPath, sendPage } from './guard-pages.ts'
import { loginPage } from './layout.ts'

interface LoginOptions {
  access: Access
  audit: AuditLog
  assets: Assets
  limit: TokenLimit
  log: Log
}

export function registerLogin(
  app: FastifyInstance,
  { access, audit, assets, limit, log }: LoginOptions,
): void {
  // On a full disk somebody must be able to look.
  const note = (entry: Parameters<AuditLog['write']>[0]) =>
    audit.write(entry).catch((error: unknown) => log.warn({ err: error }, 'the audit log cannot be written'))
  const show = async (reply: FastifyReply, next: string, { status = 200, problem = '' } = {}) =>
    sendPage(reply, loginPage({ head: await assets.head(), next, problem }), status)
  app.get<{ Querystring: Record<string, string> }>('/login', async (request, reply) => {
    const next = ownPath(request.query.next)
    if (access.sessionOf(request)) return reply.redirect(next, 303)
    return show(reply, next)
  })
  app.post('/login', async (request, reply) => {
    const { token = '', next } = formOf(request)
    const from = request.ip
    const waitS = limit.waitFor(from)
    if (waitS !== undefined) {
      reply.header('retry-after', waitS)
      const problem = `Too many wrong tokens. Try again in ${waitS} s.`
      return show(reply, ownPath(next), { status: 429, problem })
    }
    const role = access.roleOf(token)
    const entry = { from, action: 'log in', who: role ?? 'nobody' } as const
    if (role === undefined) {
      limit.failed(from)
      await note({ ...entry, outcome: 'failed', reason: 'wrong token' })
      return show(reply, ownPath(next), { status: 403, problem: 'This is not the right token.' })
    }
    await note({ ...entry, outcome: 'done' })
    return reply.header('set-cookie', access.open(role, token)).redirect(ownPath(next), 303)
  })
  app.post('/logout', async (request, reply) => {
    const session = access.sessionOf(request)
    if (!session || !isCsrf(session, formOf(request).csrf ?? '')) return reply.redirect('/', 303)
    return reply.header('set-cookie', access.close(request.headers)).redirect('/login', 303)
  })
}
