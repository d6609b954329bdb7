import { openCatalogCalls } from '../../src/api/catalog-calls.ts'
import { productCalls } from '../../src/api/classify.ts'
import type { DeliveryConfig } from '../../src/config/model.ts'
import { CallGate } from '../../src/delivery/call-gate.ts'
import type { DeliveryContext } from '../../src/delivery/context.ts'
import { runTicket } from '../../src/delivery/run-ticket.ts'
import { Standing } from '../../src/delivery/standing.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { type Endpoint, openEndpoint, type Script } from './endpoint.ts'
import { ManualClock } from './manual-clock.ts'
import { openToldOutbox } from './told-outbox.ts'

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

/** One process's delivery against a real HTTP server, and the outbox on a Redis that goes by the same manual clock. */
export async function openHarness(script?: Script, overrides: Partial<DeliveryConfig> = {}) {
  const endpoint: Endpoint = await openEndpoint(script)
  const clock = new ManualClock()
  const giveUp = new AbortController()
  const stop = new AbortController()
  const settings = { ...config, ...overrides }
  const told = await openToldOutbox(clock, settings)
  const { outbox } = told
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
    readToken: () => token.value,
    callLog: {
      begin: async ({ ids }) => `call-${logged.push({ event: 'begin', ids })}`,
      end: async ({ outcome }) => void logged.push({ event: 'end', outcome }),
    },
    config: settings,
    clock,
    log,
    progress: { expected() {}, made() {}, limited() {}, waiting: () => ({ [Symbol.dispose]() {} }) },
    gate: new CallGate(),
    standing: new Standing(clock),
    processName: '',
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
    /** Lets time pass until it has happened, never while the outbox is asked: leases do not end for slowness. */
    until: (happened: () => boolean, stepMs = 1_000) =>
      waitFor(() => {
        if (happened()) return true
        if (outbox.isQuiet) clock.advance(stepMs)
        return false
      }),
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
      await told[Symbol.asyncDispose]()
    },
  }
}
