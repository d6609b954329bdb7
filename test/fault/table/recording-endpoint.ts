import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { SeededRandom } from '../random.ts'
import { canonical, type Wire } from './shop.ts'

/** Of this many newest states of a product it is remembered when they came. */
const historyMax = 8
/** A timer of a busy machine that is later than this: the request takes no effect at all. */
const timerLateMsMax = 1_000

interface Options {
  random: SeededRandom
  /** A request may take effect so long after it came. */
  lateMsMax: number
}

/**
 * An endpoint of products that knows nothing of catalogd: it keeps the newest state of every product that it took, in the
 * order in which requests took effect. While it is in trouble, some calls take effect without an answer, or after one that
 * says otherwise, or later than the caller waits.
 */
export class RecordingEndpoint implements AsyncDisposable {
  readonly #options: Options
  readonly #server: http.Server
  readonly #held = new Map<string, { at: number; state: string }[]>()
  /** Requests that are still to take effect. */
  readonly #coming = new Set<readonly Wire[]>()
  #isHolding = false
  /** Share of the calls that something goes wrong with. */
  trouble = 0
  calls = 0
  /** Of requests that take effect late. */
  late = 0

  private constructor(options: Options) {
    this.#options = options
    this.#server = http.createServer((request, response) => {
      this.#take(request, response).catch(() => response.destroy())
    })
  }

  static async open(options: Options): Promise<RecordingEndpoint> {
    const endpoint = new RecordingEndpoint(options)
    endpoint.#server.listen(0, '127.0.0.1')
    await once(endpoint.#server, 'listening')
    return endpoint
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Until `settled` was called, requests that come take effect late. */
  hold(): void {
    this.#isHolding = true
  }

  /** Later calls are answered again; resolves when all that came has taken effect. */
  async settled(): Promise<void> {
    this.#isHolding = false
    while (this.#coming.size > 0) await delay(20)
  }

  /** Those of these products that requests bring which are still to take effect. */
  coming(ids: readonly string[]): string[] {
    const coming = new Set([...this.#coming].flat().map(({ product_id }) => String(product_id)))
    return ids.filter((id) => coming.has(id))
  }

  /** Those of these products that were not taken since, in whatever state. */
  notTaken(ids: readonly string[], since: number): string[] {
    return ids.filter((id) => (this.#held.get(id)?.at(-1)?.at ?? 0) < since)
  }

  /** What it holds that differs: by id, with what came lately. */
  differences(expected: ReadonlyMap<string, string>): { stale: string[]; lost: string[]; foreign: string[] } {
    const newest = (id: string) => this.#held.get(id)?.at(-1)?.state
    const ids = [...expected.keys()]
    const lost = ids.filter((id) => newest(id) === undefined)
    const stale = ids.filter((id) => newest(id) !== undefined && newest(id) !== expected.get(id))
    return { stale, lost, foreign: [...this.#held.keys()].filter((id) => !expected.has(id)) }
  }

  story(id: string): string {
    const entries = this.#held.get(id) ?? []
    return entries.map(({ at, state }) => `${new Date(at).toISOString()} ${state}`).join('\n  ')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const products = JSON.parse(Buffer.concat(chunks).toString()) as Wire[]
    this.calls += 1
    this.#coming.add(products)
    try {
      await this.#answer(products, response)
    } finally {
      this.#coming.delete(products)
    }
  }

  async #answer(products: readonly Wire[], response: http.ServerResponse): Promise<void> {
    const { random } = this.#options
    const isTroubled = products.length > 0 && random.chance(this.trouble)
    if (this.#isHolding || (isTroubled && random.chance(0.4))) return this.#applyLate(products)
    await delay(random.between(0, 40))
    const how = isTroubled ? random.pick(['reset', 'failed', 'refused'] as const) : 'taken'
    if (how !== 'refused') this.#apply(products)
    if (how === 'reset') return void response.destroy()
    response.writeHead({ taken: 200, failed: 500, refused: 503 }[how], { 'content-type': 'application/json' })
    response.end('{}')
  }

  /** Without an answer: the caller has given up, or has died. */
  async #applyLate(products: readonly Wire[]): Promise<void> {
    const { random, lateMsMax } = this.#options
    // What is held comes after whatever is sent once a daemon has started again.
    const forMs = random.between(this.#isHolding ? lateMsMax * 0.9 : 200, lateMsMax)
    const due = performance.now() + forMs
    await delay(forMs)
    if (performance.now() - due > timerLateMsMax) return
    this.late += 1
    this.#apply(products)
  }

  #apply(products: readonly Wire[]): void {
    const at = Date.now()
    for (const product of products) {
      const id = String(product.product_id)
      const history = this.#held.get(id) ?? []
      history.push({ at, state: canonical(product) })
      if (history.length > historyMax) history.shift()
      this.#held.set(id, history)
    }
  }
}
