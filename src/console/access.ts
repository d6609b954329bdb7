import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
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
  readonly #sessions = new Map<string, StoredSession>()
  /** Of all who need no session. */
  readonly #csrf = newSecret()

  constructor(config: Pick<ConsoleConfig, 'token' | 'readToken' | 'tls'>, clock: Clock) {
    this.#config = config
    this.#clock = clock
  }

  get needsToken(): boolean {
    return this.#config.token !== undefined || this.#config.readToken !== undefined
  }

  sessionOf({ authorization, cookie }: IncomingHttpHeaders): Session | undefined {
    if (!this.needsToken) return { role: 'operator', csrf: this.#csrf, by: 'this-machine' }
    const [, token] = /^bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
    if (token !== undefined) {
      const role = this.roleOf(token)
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
const failuresMax = { ofOne: 5, ofAll: 60 } as const

/** Wrong tokens of the last minute, by the address they came from. */
export class LoginLimit {
  readonly #clock: Clock
  #failures: { from: string; atMs: number }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Seconds until another attempt is taken; undefined: now. */
  waitFor(from: string): number | undefined {
    const now = this.#clock.monotonic()
    this.#failures = this.#failures.filter(({ atMs }) => now - atMs < withinMs)
    const own = this.#failures.filter((failure) => failure.from === from)
    const counted =
      own.length >= failuresMax.ofOne ? own : this.#failures.length >= failuresMax.ofAll ? this.#failures : []
    const [first] = counted
    return first && Math.ceil((first.atMs + withinMs - now) / 1000)
  }

  failed(from: string): void {
    this.#failures.push({ from, atMs: this.#clock.monotonic() })
  }
}
