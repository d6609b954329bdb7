import type { FastifyInstance } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { describeError, OperatingError, systemErrorCode } from '../lib/errors.ts'
import { redactText } from '../lib/redact.ts'
import type { Access, Session } from './access.ts'
import type { ActionName, ActionRequest } from './act.ts'
import type { Assets } from './assets.ts'
import type { AuditEntry, AuditLog } from './audit-log.ts'
import type { Configured } from './configured.ts'
import { enterToAct, type Form, formOf, ownPath, sendPage } from './guard-pages.ts'
import { html } from './html.ts'
import { messagePage } from './layout.ts'
import type { Note, Notes } from './notes.ts'
import type { ReadThread } from './read-thread.ts'

interface ActionsOptions {
  access: Access
  audit: AuditLog
  assets: Assets
  notes: Notes
  thread: ReadThread
  configured: () => Configured
  clock: Clock
  /** Something may be another than before. */
  onDone: () => void
}

const actionNames: ReadonlySet<string> = new Set<ActionName>([
  ...(['approve', 'discard', 'pause', 'resume', 'resync'] as const),
  ...(['retry-dead', 'drop-dead'] as const),
])
/** A large one goes on after the page has been answered. */
const answerWithinMs = 8_000

/** `POST /actions/<name>`: a decision of the operator, as the command of that name makes it. */
export function registerActions(app: FastifyInstance, options: ActionsOptions): void {
  const { access, assets, notes, configured } = options
  app.post<{ Params: { name: string } }>('/actions/:name', async (request, reply) => {
    const { name } = request.params
    if (!actionNames.has(name)) return reply.callNotFound()
    const refuse = async (text: ReturnType<typeof html>) =>
      sendPage(reply, messagePage({ head: await assets.head(), title: 'Nothing was done', text }), 403)
    const session = await enterToAct(request, reply, { access, refuse })
    if (!session) return reply
    const form = formOf(request)
    const catalog = configured().catalogs.find((one) => one.name === form.catalog)
    if (!catalog) return refuse(html`There is no such catalog any more.`)
    const asked = { name: name as ActionName, catalog: catalog.name, fields: form }
    const note = await carryOut(options, { session, from: request.ip, asked }).catch((error: unknown) => {
      const code = systemErrorCode(error)
      if (code === undefined) throw error
      return {
        kind: 'problem',
        text: html`The audit log cannot be written (${code}), so nothing was done.`,
      } as const
    })
    const back = new URL(ownPath(form.back), 'http://console')
    back.searchParams.set('note', notes.put(note))
    return reply.redirect(ownPath(`${back.pathname}${back.search}`), 303)
  })
}

interface Carried {
  session: Session
  from: string
  asked: ActionRequest
}

/** Written down before it begins and when it has ended, whoever still waits for it. */
async function carryOut(
  { audit, thread, clock, onDone }: ActionsOptions,
  { session, from, asked }: Carried,
): Promise<Note> {
  const { name, catalog, fields } = asked
  const who = session.by === 'this-machine' ? 'this-machine' : session.role
  const entry: Omit<AuditEntry, 'at' | 'outcome'> = {
    who,
    from,
    action: name,
    catalog,
    what: aboutOf(fields),
  }
  await audit.write({ ...entry, outcome: 'begun' })
  const done = thread.read('act', asked).then(
    async (text): Promise<Note> => {
      await audit.write({ ...entry, what: text, outcome: 'done' })
      return { kind: 'done', text: html`${text}` }
    },
    async (error: unknown): Promise<Note> => {
      const reason = redactText(describeError(error))
      await audit.write({ ...entry, outcome: 'failed', reason })
      if (!(error instanceof OperatingError)) throw error
      return { kind: 'problem', text: html`${reason}` }
    },
  )
  done.finally(onDone).catch(() => undefined)
  const stop = new AbortController()
  const late = clock.sleep(answerWithinMs, stop.signal).then((): Note => {
    return { kind: 'done', text: html`It is written down and goes on; this page shows when it is done.` }
  })
  // Whoever comes second has nobody that waits for it.
  late.catch(() => undefined)
  return Promise.race([done, late]).finally(() => stop.abort())
}

function aboutOf({ import: sequence, ids, reason }: Form): string {
  if (sequence !== undefined) return `import ${sequence}`
  if (ids !== undefined) return ids
  return reason === undefined ? 'all' : `all refused as: ${reason}`
}
