import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Redis } from 'ioredis'

const keptForMs = 75_000

interface Copy<Content> {
  at: number
  content: Content
}

/** What a Redis had on its disk at moments of the last minute, to be put back while it is stopped. */
export abstract class RedisCopies<Content> implements Disposable {
  #copies: Copy<Content>[] = []
  readonly #timer: NodeJS.Timeout
  #isTaking = false

  constructor(everyMs: number) {
    this.#timer = setInterval(() => void this.#take(), everyMs)
  }

  /** Waits until there is a copy of so long ago. */
  async untilThere(ageMs: number): Promise<void> {
    while (!this.#before(ageMs)) await delay(50)
  }

  /** Redis is as it was so long ago, or as its first copy. */
  putBack(ageMs: number): void {
    const copy = this.#before(ageMs) ?? this.#copies[0]
    if (!copy) return
    // What was written since has not happened.
    this.#copies = this.#copies.filter(({ at }) => at <= copy.at)
    this.restore(copy.content)
  }

  /** What happened on the disk behind its back makes earlier copies useless. */
  forget(): void {
    this.#copies = []
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** Undefined: not now. */
  protected abstract copy(): Promise<Content | undefined>

  protected abstract restore(content: Content): void

  #before(ageMs: number): Copy<Content> | undefined {
    const until = Date.now() - ageMs
    return this.#copies.findLast(({ at }) => at <= until)
  }

  async #take(): Promise<void> {
    if (this.#isTaking) return
    this.#isTaking = true
    const content = await this.copy().catch(() => undefined)
    this.#isTaking = false
    const at = Date.now()
    if (content !== undefined) this.#copies.push({ at, content })
    while ((this.#copies[0]?.at ?? at) < at - keptForMs) this.#copies.shift()
  }
}

/** An append-only file is longer with each moment: the length says what it was. */
export class AofCopies extends RedisCopies<ReadonlyMap<string, number>> {
  readonly #dir: string

  constructor(redisDir: string) {
    super(20)
    this.#dir = path.join(redisDir, 'appendonlydir')
  }

  protected override async copy() {
    const files = readdirSync(this.#dir).filter((name) => name.endsWith('.aof'))
    return new Map(files.map((name) => [name, statSync(path.join(this.#dir, name)).size]))
  }

  protected override restore(sizes: ReadonlyMap<string, number>): void {
    for (const [name, size] of sizes) truncateSync(path.join(this.#dir, name), size)
  }
}

/** The server saves itself every half second. */
export class RdbCopies extends RedisCopies<Buffer> {
  readonly #file: string
  readonly #redis: Redis

  constructor(redisDir: string, redis: Redis) {
    super(500)
    this.#file = path.join(redisDir, 'dump.rdb')
    this.#redis = redis
  }

  protected override async copy() {
    await this.#redis.save()
    return readFileSync(this.#file)
  }

  protected override restore(content: Buffer): void {
    writeFileSync(this.#file, content)
  }
}
