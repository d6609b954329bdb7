import type { CatalogName } from '../../src/lib/brand.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { openRedis } from '../../src/redis/connections.ts'
import type { RunTicketsOptions } from '../../src/redis/ticket-runner.ts'
import { openTicketQueue } from '../../src/redis/tickets.ts'
import { collectLog } from '../support/log-lines.ts'
import type { RedisServer } from '../support/redis-server.ts'

const catalog = 'main' as CatalogName

export async function openQueue(server: RedisServer, clock: Clock = systemClock) {
  const { log, lines } = collectLog()
  const connections = await openRedis({
    address: { kind: 'url', url: server.url },
    clock,
    log,
  })
  const tickets = await openTicketQueue({ connections, catalog, clock, log })
  return {
    connections,
    tickets,
    /** Texts of what was logged above debug. */
    said: () => lines.filter((line) => line.level !== 'debug').map((line) => line.msg),
    [Symbol.asyncDispose]: async () => {
      await tickets[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}

/** Counts tickets as they run. */
export function counter(run?: RunTicketsOptions['onTicket']) {
  const ran: string[] = []
  const ended: string[] = []
  const options: RunTicketsOptions = {
    concurrency: 2,
    onTicket: async (id, signal) => {
      ran.push(id)
      await run?.(id, signal)
    },
    onEnded: (id) => void ended.push(id),
  }
  return { ran, ended, options }
}
