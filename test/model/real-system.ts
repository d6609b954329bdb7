import type { ProductId } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import type { MirrorChunk } from '../../src/mirror/model.ts'
import type { OutboxLoop } from '../../src/outbox/loop.ts'
import type { Claim } from '../../src/outbox/model.ts'
import { type Harness, write } from '../outbox/harness.ts'
import { setClockBack } from '../outbox/set-clock-back.ts'
import { waitFor } from '../support/events.ts'
import type { Command } from './commands.ts'
import { apply, deadlineOf, type Ending } from './delivery.ts'
import { editedDocument } from './mirror.ts'
import { fields, observeMirror, observeRedis } from './real-state.ts'
import { badText, type Document, digestOf, type Edit, type Endpoint, limits, type Request } from './state.ts'
import type { Observed, System } from './system.ts'

/** One second of the model, so that the lease is as long as the real one. */
const unitMs = 5_000
const delivery = { timeoutMs: limits.timeout * unitMs, horizonMs: limits.horizon * unitMs }
/** Documents are what the model has as digests. */
const documentBytes = 4
/** With brackets and commas. */
const bodyBytesMax = 1 + limits.productsPerCall * (documentBytes + 1)

interface RealCall {
  claim: Claim
  leaseEnds: number
  request: Request | undefined
}

/**
 * The real mirror, scripts and loop of one installation, with a real Redis, under the model's commands. A turn does what
 * several of the model do where Redis is repaired. Single steps of the loop, and what befalls Redis' files, it cannot do.
 */
export class RealSystem implements System {
  readonly #box: Harness
  readonly #documents = new Map<string, Document>()
  readonly #texts = new Map<string, string>()
  readonly #archive: Edit[] = []
  readonly #processes: RealCall[][] = [[], []]
  readonly #endpoint: Endpoint = {
    products: new Map(),
    requests: [],
    refusesAll: false,
    refused: new Set(),
  }
  readonly #outbox: Harness['outbox']
  #loop: OutboxLoop
  #applied = 0
  #now = 0

  constructor(box: Harness) {
    this.#box = box
    this.#loop = this.#openLoop()
    this.#outbox = box.openOutbox({
      delivery: { callBytes: 2_000_000, concurrency: 1, callsPerSecond: 1_000_000_000, ...delivery },
    })
  }

  async run(command: Command): Promise<void> {
    switch (command.kind) {
      case 'edit':
        this.#archive.push(command)
        return
      case 'import':
        for (const edit of this.#archive.slice(this.#applied, this.#applied + command.count)) {
          this.#applied += 1
          this.#commit(edit)
        }
        return
      case 'turn':
        return this.#turn()
      case 'claim':
        return this.#claim(this.#callsOf(command.process), command.mode)
      case 'send':
        return this.#send(this.#callsOf(command.process), command.call)
      case 'finish':
        return this.#finish(this.#callsOf(command.process), command)
      case 'expire':
        await this.#outbox.expireClaims()
        return
      case 'crash-process': {
        const calls = this.#callsOf(command.process)
        for (const { request } of calls) if (request) request.ended = this.#now
        calls.length = 0
        return
      }
      case 'apply': {
        const { requests } = this.#endpoint
        const request = requests[command.request % Math.max(1, requests.length)]
        if (request) apply(this.#endpoint, request)
        return
      }
      case 'tick':
        return this.#tick(command.by)
      case 'wipe':
        await this.#box.connection.flushall()
        return
      case 'crash':
        this.#loop.forget()
        this.#box.reopenMirror()
        this.#loop = this.#openLoop()
        return
      case 'resync':
        this.#commitChunk({ writes: [], resend: [command.id as ProductId] })
        return
      default:
        throw new Error(`the real system cannot ${command.kind}`)
    }
  }

  #openLoop(): OutboxLoop {
    return this.#box.openLoop({
      mirror: this.#box.mirror,
      pendingBytes: limits.pendingPerLane * documentBytes,
      // Four calls of echoes are served at once.
      delivery: { callBytes: (limits.servedAtOnce * documentBytes) / 4, ...delivery },
      deferredAfterMs: limits.deferredAfter * unitMs,
      clock: { ...systemClock, now: () => this.#nowMs() },
    })
  }

  #nowMs(): number {
    return Date.now() + this.#now * unitMs
  }

  #callsOf(process: number): RealCall[] {
    return this.#processes[process % this.#processes.length] ?? []
  }

  #commit(edit: Edit): void {
    const before = this.#documents.get(edit.id)
    const document = editedDocument(before, edit, { owner: 0, version: 0 })
    const text = digestOf(document)
    this.#documents.set(edit.id, document)
    this.#texts.set(digestDocument(Buffer.from(text)).toString('hex'), text)
    if (before && text === digestOf(before)) return
    const lane = before === undefined ? 'new' : document.price === before.price ? 'deferred' : 'urgent'
    this.#commitChunk({ writes: [write(edit.id, text, lane)] })
  }

  #commitChunk(chunk: MirrorChunk): void {
    let next: MirrorChunk | undefined = chunk
    this.#box.mirror.commit(() => {
      const given = next
      next = undefined
      return given
    }, this.#nowMs())
  }

  async #turn(): Promise<void> {
    try {
      await this.#loop.turn()
    } catch {
      this.#loop.forget()
    }
  }

  async #claim(calls: RealCall[], mode: 'urgent' | 'any'): Promise<void> {
    // No lane has a turn before the others: the model knows none.
    await this.#box.connection.hdel(this.#box.keys.pace, 'calls')
    const answer = await waitFor(async () => {
      const asked = await this.#outbox.claim({ mode, bodyBytesMax })
      // Urgent changes wait a moment for others.
      return asked.kind === 'wait' && asked.forMs <= 20 ? undefined : asked
    })
    if (answer.kind !== 'claimed') return
    calls.push({ claim: answer.claim, leaseEnds: this.#now + limits.lease, request: undefined })
  }

  #send(calls: readonly RealCall[], index: number): void {
    const call = calls[index % Math.max(1, calls.length)]
    if (!call || call.request || call.leaseEnds <= this.#now) return
    const documents = call.claim.products.map(({ productId, document }): [string, Document] => {
      return [productId, parseDocument(document.toString())]
    })
    call.request = {
      documents: new Map(documents),
      began: this.#now,
      ended: undefined,
      refused: undefined,
    }
    this.#endpoint.requests.push(call.request)
  }

  async #finish(calls: RealCall[], { call: index, ending }: { call: number; ending: Ending }): Promise<void> {
    const [call] = calls.splice(index % Math.max(1, calls.length), 1)
    if (!call) return
    const { token, products } = call.claim
    const outcome = this.#end(call.request, ending)
    if (outcome !== 'answered') {
      const ids = products.map(({ productId }) => productId)
      return this.#outbox.release(token, ids, outcome)
    }
    const isRefused = (id: string) => call.request?.refused?.has(id) === true
    const refused = products.filter(({ productId }) => isRefused(productId))
    const accepted = products.filter(({ productId }) => !isRefused(productId))
    const reason = { status: 400, requestId: undefined, reason: 'no' }
    if (refused.length > 0) {
      await this.#outbox.reject(
        token,
        refused.map((product) => ({ ...product, ...reason })),
      )
    }
    if (accepted.length > 0) await this.#outbox.acknowledge(token, accepted)
  }

  /** What the process learns of its request. */
  #end(request: Request | undefined, ending: Ending): 'answered' | 'not-sent' | 'sent' | 'unknown' {
    if (!request) return 'not-sent'
    const isLate = this.#now > request.began + limits.timeout
    const isKnown = ending === 'answered' && (!isLate || request.refused !== undefined)
    const isSent = (ending === 'failed' || ending === 'failed-applied') && !isLate
    request.ended = this.#now
    if (isKnown || ending === 'failed-applied') apply(this.#endpoint, request)
    if (isKnown || isSent) this.#forget((each) => each === request)
    return isKnown ? 'answered' : isSent ? 'sent' : 'unknown'
  }

  #forget(isOver: (request: Request) => boolean): void {
    this.#endpoint.requests = this.#endpoint.requests.filter((each) => !isOver(each))
  }

  /** Everything in Redis is that much older then. */
  async #tick(by: number): Promise<void> {
    const { connection, keys } = this.#box
    this.#now += by
    await setClockBack(connection, keys, -by * unitMs)
    const echoUntil = await connection.hget(keys.guard, 'echoUntil')
    if (echoUntil !== null) await connection.hincrby(keys.guard, 'echoUntil', -by * unitMs)
    this.#forget((request) => deadlineOf(request) <= this.#now)
  }

  async observe(): Promise<Observed> {
    const { products } = this.#endpoint
    const endpoint = fields([...products].map(([id, document]) => [id, digestOf(document)]))
    const seen = { box: this.#box, texts: this.#texts, unitMs, nowMs: this.#nowMs() }
    const mirror = { ...observeMirror(seen), applied: this.#applied }
    return { redis: await observeRedis(seen), installations: [{ mirror, endpoint }] }
  }
}

function parseDocument(text: string): Document {
  const [owner = 0, price = 0, value = badText, form = 0] = [...text].map(Number)
  return { owner, price, text: value, form, version: 0 }
}
