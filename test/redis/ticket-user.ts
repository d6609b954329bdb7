// A process that runs tickets: reports what begins and ends, holds a ticket until it reads a line.
import readline from 'node:readline'
import type { CatalogName } from '../../src/lib/brand.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openLog } from '../../src/lib/log.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openTicketQueue } from '../../src/redis/tickets.ts'

const [url = ''] = process.argv.slice(2)
const log = openLog({ level: 'warn', pretty: false })
const connections = await openRedis({ address: { kind: 'url', url }, clock: systemClock, log })
const tickets = await openTicketQueue({
  connections,
  catalog: 'main' as CatalogName,
  clock: systemClock,
  log,
})
const lines = readline.createInterface({ input: process.stdin })
const runner = tickets.runTickets({
  concurrency: 2,
  onTicket: async (id) => {
    console.log(`began ${id}`)
    await new Promise((resolve) => lines.once('line', resolve))
  },
  onEnded: (id) => console.log(`ended ${id}`),
})
console.log('ready')
process.once('SIGTERM', async () => {
  await runner[Symbol.asyncDispose]()
  await tickets[Symbol.asyncDispose]()
  await connections[Symbol.asyncDispose]()
  process.stdin.destroy()
  console.log('left')
})
