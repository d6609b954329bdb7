import { hostname } from 'node:os'
import type { Clock } from '../lib/clock.ts'
import { ConfigError, EndpointError } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { redactText } from '../lib/redact.ts'
import { readVersion } from '../lib/version.ts'
import type { AlertMessage, AlertPayload } from './alert-book.ts'

interface SenderOptions {
  /** Throws an EndpointError, or a ConfigError, when it was not delivered. */
  send: (payload: AlertPayload, signal: AbortSignal) => Promise<void>
  /** Left over from an earlier process. */
  waiting: readonly AlertPayload[]
  clock: Clock
  log: Log
  /** Something was delivered or dropped. */
  onChange: () => void
  /** After the first failure; doubled with each one that follows. */
  retryAfterMs: number
}

/** More would be a storm when the webhook is back. */
const waitingMax = 200
const delayMsMax = 5 * 60_000

/**
 * Delivers payloads in order, each at least once: what fails is tried again ever more seldom, and what waits longest is
 * dropped when too much waits.
 */
export class AlertSender implements AsyncDisposable {
  readonly #options: SenderOptions
  readonly #waiting: AlertPayload[]
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: SenderOptions) {
    this.#options = options
    this.#waiting = [...options.waiting]
    this.#start()
  }

  /** Not delivered yet, oldest first. */
  waiting(): readonly AlertPayload[] {
    return this.#waiting
  }

  add(payloads: readonly AlertPayload[]): void {
    this.#waiting.push(...payloads)
    const dropped = this.#waiting.length - waitingMax
    if (dropped > 0) {
      this.#waiting.splice(0, dropped)
      this.#options.log.warn({ dropped }, 'alerts were dropped: the webhook takes none and too many wait')
    }
    this.#start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #start(): void {
    if (this.#running || this.#waiting.length === 0 || this.#stop.signal.aborted) return
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      this.#start()
    })
  }

  async #run(): Promise<void> {
    const { send, clock, log, onChange, retryAfterMs } = this.#options
    const { signal } = this.#stop
    let delayMs = retryAfterMs
    for (let [payload] = this.#waiting; payload && !signal.aborted; [payload] = this.#waiting) {
      try {
        await send(payload, signal)
        delayMs = retryAfterMs
        // It may have been dropped meanwhile.
        const at = this.#waiting.indexOf(payload)
        if (at >= 0) this.#waiting.splice(at, 1)
        onChange()
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof EndpointError) && !(error instanceof ConfigError)) throw error
        log.warn({ err: error, kind: payload.kind, tryAgainMs: delayMs }, 'an alert was not delivered')
        await clock.sleep(delayMs * (0.75 + Math.random() / 2), signal).catch(() => undefined)
        delayMs = Math.min(delayMs * 2, delayMsMax)
      }
    }
  }
}

const textCharactersMax = 2_000

export function formatPayload({ id, state, sinceMs, condition }: AlertMessage, clock: Clock): AlertPayload {
  const { occurrence: _, forMs: __, ...matter } = condition
  const { kind, subject, severity, catalog } = matter
  const message = clean(condition.message)
  const hint = clean(condition.hint)
  const host = hostname()
  const where = [catalog, subject === catalog ? undefined : subject].filter(Boolean).join(' ')
  const what = state === 'firing' ? `${message}. ${hint}` : `over: ${message}`
  return {
    ...matter,
    id,
    state,
    since: new Date(sinceMs).toISOString(),
    at: new Date(clock.now()).toISOString(),
    message,
    hint,
    host,
    version: readVersion(),
    text: `catalogd on ${host}: [${state === 'firing' ? severity : 'resolved'}] ${kind} ${where}: ${what}`,
  }
}

function clean(text: string): string {
  const redacted = redactText(text)
  return redacted.length <= textCharactersMax ? redacted : `${redacted.slice(0, textCharactersMax)}…`
}
