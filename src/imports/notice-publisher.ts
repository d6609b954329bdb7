import type { Clock } from '../lib/clock.ts'
import { redactText } from '../lib/redact.ts'
import type { CatalogKeys } from '../outbox/keys.ts'
import type { RedisConnection } from '../redis/connection.ts'

const againAfterMs = 2_000

/** Notices that outlive the process that raised them: they are about files, not about this process. */
const lastingPrefix = 'failed:'

interface PublisherOptions {
  connection: RedisConnection
  keys: CatalogKeys
  clock: Clock
}

/**
 * Puts what the operator should know into Redis, where `status` reads it. While Redis is away notices are kept and
 * published when it is back. The holder of the state lock owns them.
 */
export class NoticePublisher implements AsyncDisposable {
  readonly #options: PublisherOptions
  readonly #unpublished = new Map<string, string | undefined>()
  readonly #timer: NodeJS.Timeout
  #publishing: Promise<void> = Promise.resolve()

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#publish(), againAfterMs)
  }

  /** Removes what a process that is gone has left. */
  async begin(): Promise<void> {
    const { connection, keys } = this.#options
    const left = (await connection.hkeys(keys.notices)).filter((key) => !key.startsWith(lastingPrefix))
    if (left.length > 0) await connection.hdel(keys.notices, ...left)
  }

  /** `text` undefined: it is over. Names of files may hold addresses and secrets: they are hidden as in logs. */
  set(key: string, text: string | undefined): void {
    const at = new Date(this.#options.clock.now()).toISOString()
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
    if (this.#unpublished.size === 0) return
    this.#publishing = this.#publishing.then(() => this.#publishAll()).catch(() => undefined)
  }

  async #publishAll(): Promise<void> {
    const { connection, keys } = this.#options
    for (const [key, json] of this.#unpublished) {
      if (json === undefined) await connection.hdel(keys.notices, key)
      else await connection.hset(keys.notices, { [key]: json })
      // It may have changed again meanwhile.
      if (this.#unpublished.get(key) === json) this.#unpublished.delete(key)
    }
  }
}
