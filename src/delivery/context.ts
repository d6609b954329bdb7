import type { CallOutcome } from '../api/call-outcome.ts'
import type { CallOptions, CatalogCalls } from '../api/catalog-calls.ts'
import type { CallKind, Verdict } from '../api/classify.ts'
import type { DeliveryConfig } from '../config/model.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { MadeCall } from '../mirror/calls.ts'
import type { ClaimedProduct } from '../outbox/model.ts'
import type { RedisOutbox } from '../outbox/outbox.ts'
import type { CallGate } from './call-gate.ts'
import type { CallLog } from './call-log.ts'
import type { Standing } from './standing.ts'

/** What the watchdog of the process is told (G11). */
export interface DeliveryProgress {
  /** There is work that could be done now: the watchdog counts from here, unless it counts already. */
  expected(): void
  /** Something was done, there is nothing to do, or the endpoint, Redis or a schedule is waited for. */
  made(): void
  /** The call rate is waited for. As long as the number of calls grows somebody gets a turn; else it is a stall. */
  limited(calls: number): void
  /** The endpoint is waited for until it is disposed: no stall, whatever is expected meanwhile. */
  waiting(): Disposable
}

/** One request, when it was answered or given up. Times in ms. */
export interface CallMade {
  /** What its answer meant; `not-sent`: it never left. */
  outcome: Verdict['kind'] | 'not-sent'
  status: number | undefined
  products: readonly ClaimedProduct[]
  bodyBytes: number
  durationMs: number
}

/** Who counts what is sent. Nothing depends on it. */
export interface DeliveryMeter {
  called(call: CallMade): void
  /** Products that were acknowledged, and how many were refused. */
  settled(taken: readonly ClaimedProduct[], refused: number): void
}

/** How documents reach the endpoint. */
export interface DeliveryClient extends Pick<CatalogCalls, 'upsert'> {
  /** Finds out whether the endpoint takes the credentials; undefined: there is nothing to find it out with at present. */
  probe(options: CallOptions, context: DeliveryContext): Promise<CallOutcome | undefined>
}

/** What every part of delivery of one catalog shares. */
export interface DeliveryContext {
  outbox: RedisOutbox
  client: DeliveryClient
  /** What the client sends, read again. Where another one than was refused is there, it is tried at once. */
  readToken?: (() => string) | undefined
  callLog: Pick<CallLog, 'begin' | 'end'>
  /** Keeps what became of a call where the mirror is. */
  noteCall?: ((call: MadeCall) => void) | undefined
  config: DeliveryConfig
  calls: CallKind
  clock: Clock
  log: Log
  meter?: DeliveryMeter | undefined
  progress: DeliveryProgress
  gate: CallGate
  /** Unique among all processes of the catalog; without colons. */
  processName: string
  /** Of this process among those that deliver the catalog. */
  standing: Standing
  random: () => number
  /** Aborted when even running calls are given up. */
  giveUp: AbortSignal
}
