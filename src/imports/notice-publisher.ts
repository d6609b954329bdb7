import type { Clock } from '../lib/clock.ts'
import { redactText } from '../lib/redact.ts'
import type { Mirror } from '../mirror/reader.ts'

const againAfterMs = 2_000

/** Notices that outlive the process that raised them: they are about files, not about this process. */
const lastingPrefix = 'failed:'

/**
 * Puts what the operator should know into the mirror, where `status` reads it. What the disk refuses is kept and
 * published later. The holder of the state lock owns them.
 */
export class NoticePublisher implements AsyncDisposable {
  readonly #mirror: Mirror
  readonly #clock: Clock
  readonly #unpublished = new Map<string, string | undefined>()
  readonly #timer: NodeJS.Timeout
  #publishing: Promise<void> = Promise.resolve()

  /** Removes what a process that is gone has left. */
  constructor({ mirror, clock }: { mirror: Mirror; clock: Clock }) {
    this.#mirror = mirror
    this.#clock = clock
    this.#timer = setInterval(() => this.#publish(), againAfterMs)
    for (const key of mirror.notices().keys()) {
      if (!key.startsWith(lastingPrefix)) this.set(key, undefined)
    }
  }

  /** `text` undefined: it is over. Names of files may hold addresses and secrets: they are hidden as in logs. */
  set(key: string, text: string | undefined): void {
    const at = new Date(this.#clock.now()).toISOString()
    this.#unpublished.set(
      key,
      text === undefined ? undefined : JSON.stringify({ text: redactText(text), at }),
    )
    this.#publish()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.#publishing
  }

  #publish(): void {
    this.#publishing = this.#publishing.then(() => this.#publishAll()).catch(() => undefined)
  }

  async #publishAll(): Promise<void> {
    const notices = [...this.#unpublished].map(([key, value]) => ({ key, value }))
    if (notices.length === 0) return
    await this.#mirror.update([], () => ({ writes: [], notices }))
    for (const { key, value } of notices) {
      // It may have changed again meanwhile.
      if (this.#unpublished.get(key) === value) this.#unpublished.delete(key)
    }
  }
}
