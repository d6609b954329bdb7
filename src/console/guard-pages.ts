import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Access, isCsrf, refuseForNow, type Session } from './access.ts'
import { type Html, html } from './html.ts'

/** Nothing from elsewhere, nothing inline, and no page of somebody else around. */
const policy = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
].join('; ')

export const pageHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  // The browser names the origin in the forms of a page, which it would not with `no-referrer`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
}

export function sendPage(reply: FastifyReply, page: Html, status = 200): FastifyReply {
  return reply.code(status).headers(pageHeaders).type('text/html; charset=utf-8').send(page.text)
}

export type Form = Readonly<Record<string, string>>

const formBytesMax = 1_000_000

/** Forms of pages: names and values. */
export function readForms(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: formBytesMax },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
}

export function formOf(request: FastifyRequest): Form {
  return (request.body ?? {}) as Form
}

/** Who asks; undefined: the answer is given, with what to do. */
export async function enter(
  request: FastifyRequest,
  reply: FastifyReply,
  access: Access,
): Promise<Session | undefined> {
  const waitS = access.waitFor(request)
  if (waitS !== undefined) {
    await refuseForNow(reply.headers(pageHeaders), waitS)
    return undefined
  }
  const session = access.sessionOf(request)
  if (session) return session
  const isPage = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html')
  if (isPage) await reply.redirect(`/login?${new URLSearchParams({ next: request.url })}`, 303)
  else
    await reply
      .code(401)
      .headers(pageHeaders)
      .send({ error: 'unauthorized', message: 'log in, or show a token' })
  return undefined
}

/** The same for what changes something; `refuse` answers with a page. */
export async function enterToAct(
  request: FastifyRequest,
  reply: FastifyReply,
  { access, refuse }: { access: Access; refuse: (text: Html) => Promise<FastifyReply> },
): Promise<Session | undefined> {
  const session = await enter(request, reply, access)
  if (!session) return undefined
  if (!isCsrf(session, formOf(request).csrf ?? '')) {
    await refuse(
      html`This form is of an earlier session. Go back, load the page again, and repeat what you did.`,
    )
    return undefined
  }
  if (session.role === 'operator') return session
  await refuse(
    html`This token may look, and change nothing. Log in with the token of <code>console.token</code>.`,
  )
  return undefined
}

/** A path of this console, wherever a link wants to lead. */
export function ownPath(given: string | undefined): string {
  return given !== undefined && /^\/(?![/\\])[^\s\\]*$/.test(given) ? given : '/'
}
