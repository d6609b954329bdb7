import type { Claim } from '../../src/outbox/model.ts'
import type { RedisOutbox } from '../../src/outbox/outbox.ts'
import { apply, deadlineOf, type Ending } from './delivery.ts'
import { badText, type Document, type Endpoint, limits, type Request } from './state.ts'

/** Documents are what the model has as digests. */
export const documentBytes = 4
/** With brackets and commas. */
const bodyBytesMax = 1 + limits.productsPerCall * (documentBytes + 1)

interface RealCall {
  claim: Claim
  leaseEnds: number
  request: Request | undefined
}

/** Delivering processes with the real outbox, and the model's endpoint. */
export class RealProcesses {
  readonly endpoint: Endpoint = { products: new Map(), requests: [], refusesAll: false, refused: new Set() }
  readonly #calls: RealCall[][]
  readonly #outboxes: readonly [RedisOutbox, RedisOutbox]
  readonly #now: () => number

  constructor(
    outboxes: readonly [RedisOutbox, RedisOutbox],
    { count, now }: { count: number; now: () => number },
  ) {
    this.#outboxes = outboxes
    this.#calls = Array.from({ length: count }, () => [])
    this.#now = now
  }

  async claim(process: number, mode: 'urgent' | 'any'): Promise<void> {
    const answer = await this.#outboxOf(process).claim({ mode, bodyBytesMax })
    if (answer.kind !== 'claimed') return
    const leaseEnds = this.#now() + limits.lease
    this.#callsOf(process).push({ claim: answer.claim, leaseEnds, request: undefined })
  }

  async renew(process: number, index: number): Promise<void> {
    const call = chosen(this.#callsOf(process), index)
    if (call && (await this.#outboxOf(process).renew(call.claim.token)))
      call.leaseEnds = this.#now() + limits.lease
  }

  send(process: number, { call: index, overslept = false }: { call: number; overslept?: boolean }): void {
    const call = chosen(this.#callsOf(process), index)
    if (!call || call.request || (call.leaseEnds <= this.#now() && !overslept)) return
    const documents = call.claim.products.map(({ productId, document }): [string, Document] => {
      return [productId, parseDocument(document.toString())]
    })
    call.request = {
      documents: new Map(documents),
      began: this.#now(),
      ended: undefined,
      refused: undefined,
    }
    this.endpoint.requests.push(call.request)
  }

  async finish(process: number, { call: index, ending }: { call: number; ending: Ending }): Promise<void> {
    const calls = this.#callsOf(process)
    const [call] = calls.splice(index % Math.max(1, calls.length), 1)
    if (!call) return
    const { token, products } = call.claim
    const outbox = this.#outboxOf(process)
    const outcome = this.#end(call.request, ending)
    if (outcome !== 'answered') {
      const ids = products.map(({ productId }) => productId)
      return outbox.release(token, ids, outcome)
    }
    const isRefused = (id: string) => call.request?.refused?.has(id) === true
    const reason = { status: 400, requestId: undefined, reason: 'no' }
    const refused = products.flatMap((each) => (isRefused(each.productId) ? [{ ...each, ...reason }] : []))
    const accepted = products.filter(({ productId }) => !isRefused(productId))
    if (refused.length > 0 && this.endpoint.refusesAll) await outbox.rejectUnnamed(token, refused)
    else if (refused.length > 0) await outbox.reject(token, refused)
    if (accepted.length > 0) await outbox.acknowledge(token, accepted)
  }

  async expire(): Promise<void> {
    await this.#outboxes[0].expireClaims()
  }

  /** What the process sent goes on. */
  crash(process: number): void {
    const calls = this.#callsOf(process)
    for (const { request } of calls) if (request) request.ended = this.#now()
    calls.length = 0
  }

  applyLate(index: number): void {
    const request = chosen(this.endpoint.requests, index)
    if (request && this.#now() < deadlineOf(request)) apply(this.endpoint, request)
  }

  forgetOld(): void {
    this.#forget((request) => deadlineOf(request) <= this.#now())
  }

  #outboxOf(process: number): RedisOutbox {
    return this.#outboxes[process % this.#calls.length === 1 ? 1 : 0]
  }

  #callsOf(process: number): RealCall[] {
    return chosen(this.#calls, process) ?? []
  }

  /** What the process learns of its request. */
  #end(request: Request | undefined, ending: Ending): 'answered' | 'not-sent' | 'sent' | 'unknown' {
    if (!request) return 'not-sent'
    const isLate = this.#now() > request.began + limits.timeout
    const isKnown = ending === 'answered' && (!isLate || request.refused !== undefined)
    const isSent = (ending === 'failed' || ending === 'failed-applied') && !isLate
    request.ended = this.#now()
    if (isKnown || ending === 'failed-applied') apply(this.endpoint, request)
    if (isKnown || isSent) this.#forget((each) => each === request)
    return isKnown ? 'answered' : isSent ? 'sent' : 'unknown'
  }

  #forget(isOver: (request: Request) => boolean): void {
    this.endpoint.requests = this.endpoint.requests.filter((each) => !isOver(each))
  }
}

function chosen<T>(list: readonly T[], index: number): T | undefined {
  return list[index % Math.max(1, list.length)]
}

function parseDocument(text: string): Document {
  const [owner = 0, price = 0, value = badText, form = 0] = [...text].map(Number)
  return { owner, price, text: value, form, version: 0 }
}
