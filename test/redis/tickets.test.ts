import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import type { RedisConnections } from '../../src/redis/connections.ts'
import { startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { counter, openQueue } from './ticket-queue.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const keysOf = (connections: RedisConnections) => connections.commands.keys('*')

describe('ensuring tickets', () => {
  test('a ticket exists once, runs, and leaves nothing behind', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('added')
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('present')
    const { ran, ended, options } = counter()
    await using _runner = queue.tickets.runTickets(options)
    await waitFor(() => ended.length === 1)
    expect(ran).toEqual(['urgent'])
    const keys = await keysOf(queue.connections)
    expect(keys.every((key) => key.startsWith('catalogd:{main}:2:deliveries:'))).toBe(true)
    expect(keys.filter((key) => key.endsWith(':urgent') || key.endsWith(':completed'))).toEqual([])
    // The same id again is a new ticket.
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('added')
    await waitFor(() => ended.length === 2)
  })

  test('the more urgent one runs first', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    await queue.tickets.ensureTicket({ id: 'rest-1', priority: 10 })
    await queue.tickets.ensureTicket({ id: 'rest-2', priority: 10 })
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    const { ran, ended, options } = counter()
    await using _runner = queue.tickets.runTickets({ ...options, concurrency: 1 })
    await waitFor(() => ended.length === 3)
    expect(ran).toEqual(['urgent', 'rest-1', 'rest-2'])
  })

  test('a delayed ticket is moved earlier, never later', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const { tickets } = queue
    const { ran, options } = counter()
    expect(await tickets.ensureTicket({ id: 'rest', priority: 10, delayMs: 3_600_000 })).toBe('added')
    expect(await tickets.ensureTicket({ id: 'rest', priority: 10, delayMs: 7_200_000 })).toBe('present')
    expect(await tickets.ensureTicket({ id: 'rest', priority: 10, delayMs: 1_800_000 })).toBe('moved-earlier')
    expect(await tickets.ensureTicket({ id: 'rest', priority: 10, delayMs: 3_600_000 })).toBe('present')
    await using _runner = tickets.runTickets(options)
    expect(await tickets.ensureTicket({ id: 'rest', priority: 10, delayMs: 50 })).toBe('moved-earlier')
    await waitFor(() => ran.length === 1)
    await tickets.ensureTicket({ id: 'later', priority: 10, delayMs: 3_600_000 })
    expect(await tickets.ensureTicket({ id: 'later', priority: 10 })).toBe('moved-earlier')
    await waitFor(() => ran.includes('later'))
  })

  test('a record that Redis kept without its place in the queue does not block the id', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await queue.connections.commands.del('catalogd:{main}:2:deliveries:prioritized')
    const { ran, options } = counter()
    await using _runner = queue.tickets.runTickets(options)
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('added')
    await waitFor(() => ran.length === 1)
  })

  test('while Redis is away it fails at once with what to do', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    await server.stop()
    const failure = queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await expect(failure).rejects.toMatchObject({ code: 'redis-down' })
  })
})

describe('running tickets', () => {
  test('a ticket that fails is reported and may come again', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const { ran, ended, options } = counter(async () => {
      throw new Error('no luck')
    })
    await using _runner = queue.tickets.runTickets(options)
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await waitFor(() => ended.length === 1)
    expect(queue.said()).toContain('a ticket failed')
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('added')
    await waitFor(() => ran.length === 2)
  })

  test('closing lets running tickets finish', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const finish = Promise.withResolvers<void>()
    const { ran, options } = counter(() => finish.promise)
    const runner = queue.tickets.runTickets(options)
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await waitFor(() => ran.length === 1)
    await queue.tickets.ensureTicket({ id: 'rest', priority: 10 })
    await waitFor(() => ran.length === 2)
    await queue.tickets.ensureTicket({ id: 'third', priority: 10 })
    const closed = runner[Symbol.asyncDispose]()
    finish.resolve()
    await closed
    expect(ran).toEqual(['urgent', 'rest'])
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('added')
    expect(await queue.tickets.ensureTicket({ id: 'third', priority: 10 })).toBe('present')
  })

  test('closing ends while Redis is away', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const { ran, options } = counter()
    const runner = queue.tickets.runTickets(options)
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await waitFor(() => ran.length === 1)
    await server.kill()
    await waitFor(() => queue.connections.failure !== undefined)
    await runner[Symbol.asyncDispose]()
  })

  test('closing while Redis is away leaves nothing that keeps the process alive', async () => {
    await using server = await startRedis()
    await using child = await startChild(new URL('ticket-user.ts', import.meta.url), { args: [server.url] })
    await child.line('ready')
    await server.kill()
    await waitFor(() => child.stderr.includes('Redis cannot be reached'))
    process.kill(child.pid, 'SIGTERM')
    await child.line('left')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
  })
})

test('a closed runner leaves no timer behind that would keep its process', async () => {
  await using server = await startRedis()
  const asleep = new Set<Promise<void>>()
  const sleep: Clock['sleep'] = (delayMs, signal) => {
    const sleeping = systemClock.sleep(delayMs, signal).finally(() => asleep.delete(sleeping))
    asleep.add(sleeping)
    return sleeping
  }
  await using queue = await openQueue(server, { ...systemClock, sleep })
  const { ran, options } = counter()
  {
    await using _runner = queue.tickets.runTickets(options)
    await queue.tickets.ensureTicket({ id: 'rest', priority: 10 })
    await waitFor(() => ran.length === 1)
  }
  await new Promise(setImmediate)
  expect(asleep.size).toBe(0)
})
