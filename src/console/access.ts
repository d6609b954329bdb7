import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleConfig, Deferred } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'

/** `reader`: may look at everything, and change nothing. */
export type AccessRole = 'operator' | 'reader'

export interface Session {
  role: AccessRole
  /** What each form must bring along; a page from elsewhere cannot read it. */
  csrf: string
  /** By what it was let in: a header is sent by a program, never by a browser on its own. */
  by: 'cookie' | 'header' | 'this-machine'
}

interface StoredSession extends Session {
  expiresMs: number
  /** Of the token by which it was opened: another token ends it. */
  token: Buffer
}

const sessionMs = 12 * 3_600_000
const sessionsMax = 1_000
const cookieName = 'catalogd_session'

/**
 * Who may use the pages. Without any token everybody who reaches the console may do all, which only this machine can
 * (`config` refuses to listen elsewhere without a token). Sessions live in memory: they end with the process, after
 * twelve hours, and with a new token.
 */
export class Access {
  readonly #config: Pick<ConsoleConfig, 'token' | 'readToken' | 'tls'>
  readonly #clock: Clock
  readonly #limit: TokenLimit
  readonly #sessions = new Map<string, StoredSession>()
  /** Of all who need no session. */
  readonly #csrf = newSecret()

  constructor(
    config: Pick<ConsoleConfig, 'token' | 'readToken' | 'tls'>,
    { clock, limit }: { clock: Clock; limit: TokenLimit },
  ) {
    this.#config = config
    this.#clock = clock
    this.#limit = limit
  }

  get needsToken(): boolean {
    return this.#config.token !== undefined || this.#config.readToken !== undefined
  }

  sessionOf({ headers: { authorization, cookie }, ip }: Asking): Session | undefined {
    if (!this.needsToken) return { role: 'operator', csrf: this.#csrf, by: 'this-machine' }
    const token = bearerIn(authorization)
    if (token !== undefined) {
      if (this.#limit.waitForProgram(ip) !== undefined) return undefined
      const role = this.roleOf(token)
      if (role === undefined) this.#limit.failedProgram(ip, token)
      return role && { role, csrf: '', by: 'header' }
    }
    const id = idIn(cookie)
    const session = id === undefined ? undefined : this.#sessions.get(id)
    if (id === undefined || session === undefined) return undefined
    const current = this.#tokens().find(([role]) => role === session.role)?.[1]
    if (session.expiresMs > this.#clock.now() && current?.equals(session.token)) return session
    this.#sessions.delete(id)
    return undefined
  }

  /** Seconds until a token in a header is looked at again; undefined: now, or none is shown. */
  waitFor({ headers, ip }: Asking): number | undefined {
    if (!this.needsToken || bearerIn(headers.authorization) === undefined) return undefined
    return this.#limit.waitForProgram(ip)
  }

  roleOf(token: string): AccessRole | undefined {
    const digest = digestOf(token)
    // All are compared, so that the time tells nothing.
    const found = this.#tokens().filter(([, own]) => timingSafeEqual(own, digest))
    return found[0]?.[0]
  }

  /** The header `Set-Cookie` of a new session. */
  open(role: AccessRole, token: string): string {
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size >= sessionsMax && oldest !== undefined) this.#sessions.delete(oldest)
    const id = newSecret()
    const expiresMs = this.#clock.now() + sessionMs
    this.#sessions.set(id, { role, csrf: newSecret(), by: 'cookie', expiresMs, token: digestOf(token) })
    return this.#cookie(id, sessionMs / 1000)
  }

  /** The header `Set-Cookie` that removes it. */
  close({ cookie }: IncomingHttpHeaders): string {
    this.#sessions.delete(idIn(cookie) ?? '')
    return this.#cookie('', 0)
  }

  /** `Lax`: a link in an alert leads to the page. What changes something needs more than the cookie. */
  #cookie(id: string, seconds: number): string {
    const secure = this.#config.tls === undefined ? '' : '; Secure'
    return `${cookieName}=${id}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`
  }

  /** Read again at every use: a file may hold a new one. */
  #tokens(): (readonly [AccessRole, Buffer])[] {
    const { token, readToken } = this.#config
    const digest = (role: AccessRole, given: Deferred<string> | undefined) =>
      given === undefined ? [] : [[role, digestOf(given.value())] as const]
    return [...digest('operator', token), ...digest('reader', readToken)]
  }
}

export function isCsrf(session: Session, shown: string): boolean {
  return session.by === 'header' || timingSafeEqual(digestOf(session.csrf), digestOf(shown))
}

type Asking = Pick<FastifyRequest, 'headers' | 'ip'>

function bearerIn(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
}

function idIn(cookie: string | undefined): string | undefined {
  const pair = cookie?.split(/; */).find((one) => one.startsWith(`${cookieName}=`))
  return pair?.slice(cookieName.length + 1)
}

function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

const withinMs = 60_000
const wrongMax = { ofOne: 5, ofAll: 60 } as const

interface WrongToken {
  from: string
  atMs: number
  /** Of one that a program showed. */
  digest?: string
}

/**
 * Wrong tokens of the last minute, by the address they came from: of the login, and of programs, which show them in a
 * header. A program that shows one wrong token again and again guesses nothing: it counts once, and keeps nobody else on its
 * machine from working. Nor do other addresses keep a program from pushing its files.
 */
export class TokenLimit {
  readonly #clock: Clock
  #wrong: WrongToken[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Seconds until another attempt to log in is taken; undefined: now. */
  waitFor(from: string): number | undefined {
    const ofProgram = this.waitForProgram(from)
    if (ofProgram !== undefined) return ofProgram
    return this.#wrong.length >= wrongMax.ofAll ? this.#untilOver(this.#wrong) : undefined
  }

  waitForProgram(from: string): number | undefined {
    const now = this.#clock.monotonic()
    this.#wrong = this.#wrong.filter(({ atMs }) => now - atMs < withinMs)
    const own = this.#wrong.filter((wrong) => wrong.from === from)
    return own.length >= wrongMax.ofOne ? this.#untilOver(own) : undefined
  }

  failed(from: string): void {
    this.#wrong.push({ from, atMs: this.#clock.monotonic() })
  }

  failedProgram(from: string, token: string): void {
    const digest = digestOf(token).toString('base64')
    const isKnown = this.#wrong.some((wrong) => wrong.from === from && wrong.digest === digest)
    if (!isKnown) this.#wrong.push({ from, atMs: this.#clock.monotonic(), digest })
  }

  #untilOver([first]: readonly WrongToken[]): number | undefined {
    return first && Math.ceil((first.atMs + withinMs - this.#clock.monotonic()) / 1000)
  }
}

/** To a program, before its token is looked at. */
export function refuseForNow(reply: FastifyReply, waitS: number): FastifyReply {
  const message = `too many wrong tokens came from here; try again in ${waitS} s`
  return reply.code(429).header('retry-after', waitS).send({ error: 'too-many-tokens', message })
}
