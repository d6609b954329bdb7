import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import { productCalls } from '../../src/api/classify.ts'
import type { DeliveryConfig } from '../../src/config/model.ts'
import { CallGate } from '../../src/delivery/call-gate.ts'
import type { DeliveryContext } from '../../src/delivery/context.ts'
import { runTicket } from '../../src/delivery/run-ticket.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { type Endpoint, openEndpoint, type Script } from './endpoint.ts'
import { MemoryOutbox } from './memory-outbox.ts'

export const config: DeliveryConfig = {
  callBytes: 2_000_000,
  concurrency: 4,
  timeoutMs: 30_000,
  horizonMs: 120_000,
  callsPerSecond: 20,
}

export function document(id: string, text = ''): Buffer {
  return Buffer.from(JSON.stringify({ product_id: id, name: text }))
}

/** Time that passes only when a test says so; sleepers wake when it does. */
export class ManualClock implements Clock {
  #time = 1_800_000_000_000
  #sleepers = new Set<{ at: number; wake: () => void }>()

  now = () => this.#time
  monotonic = () => this.#time

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', onAbort)
        this.#sleepers.delete(sleeper)
        resolve()
      }
      const sleeper = { at: this.#time + delayMs, wake }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  advance(byMs: number): void {
    this.#time += byMs
    for (const { at, wake } of [...this.#sleepers]) if (at <= this.#time) wake()
  }
}

/** One process's delivery against a real HTTP server, with an outbox in memory. */
export async function openHarness(script?: Script, overrides: Partial<DeliveryConfig> = {}) {
  const endpoint: Endpoint = await openEndpoint(script)
  const clock = new ManualClock()
  const outbox = new MemoryOutbox(clock)
  const giveUp = new AbortController()
  const stop = new AbortController()
  const settings = { ...config, ...overrides }
  const token = { value: 'right' }
  const client = openCatalogCalls({
    url: () => endpoint.url,
    token: () => token.value,
    timeoutMs: settings.timeoutMs,
    connections: 5,
    bodyBytesMax: settings.callBytes,
    version: '0.0.0',
  })
  const logged: { event: string; outcome?: string; ids?: readonly string[] }[] = []
  const { log, lines } = collectLog()
  const context: DeliveryContext = {
    outbox,
    calls: productCalls,
    client,
    callLog: {
      begin: async ({ ids }) => `call-${logged.push({ event: 'begin', ids })}`,
      end: async ({ outcome }) => void logged.push({ event: 'end', outcome }),
    },
    config: settings,
    clock,
    log,
    progress: { expected() {}, made() {}, limited() {}, waiting: () => ({ [Symbol.dispose]() {} }) },
    gate: new CallGate(),
    random: () => 0.5,
    giveUp: giveUp.signal,
  }
  return {
    endpoint,
    clock,
    outbox,
    client,
    context,
    token,
    giveUp,
    stop,
    logged,
    lines,
    offer(ids: readonly string[], text = '') {
      for (const id of ids) outbox.offer(id, document(id, text))
    },
    run: () => runTicket('any', context, stop.signal),
    /** Runs a ticket until calls are held after so many failures, and stops it while it waits. */
    async runUntilHeld(holds = 1) {
      const running = runTicket('any', context, stop.signal)
      await waitFor(() => outbox.holds.length === holds && outbox.claimed.length === 0)
      stop.abort()
      return running
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await endpoint[Symbol.asyncDispose]()
    },
  }
}
