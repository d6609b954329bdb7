import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { startRedis } from '../support/redis-server.ts'
import { counter, openQueue } from './ticket-queue.ts'

// Most of these wait for the outage: they run side by side, each with a server of its own.
const leaks = leakCheck()
beforeAll(leaks.remember)
afterAll(leaks.check)

describe.concurrent('after an outage', () => {
  test.each(['port', 'socket'])(
    'of 5 s on a %s: waiting tickets run afterwards, one log line each way',
    async (kind) => {
      await using server = await startRedis({ aof: true, socket: kind === 'socket' })
      await using queue = await openQueue(server)
      const { ran, ended, options } = counter()
      await using _runner = queue.tickets.runTickets(options)
      await queue.tickets.ensureTicket({ id: 'before', priority: 1 })
      await waitFor(() => ended.length === 1)
      await server.stop()
      await delay(5_000)
      await server.restart()
      await queue.connections.waitUntilReady()
      await queue.tickets.ensureTicket({ id: 'after', priority: 1 })
      await waitFor(() => ran.includes('after'))
      expect(queue.said()).toEqual(['Redis cannot be reached; trying again', 'Redis is back'])
    },
  )

  test('in which Redis lost everything: new tickets run', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const finish = Promise.withResolvers<void>()
    const { ran, options } = counter(async (id) => (id === 'lost' ? finish.promise : undefined))
    await using _runner = queue.tickets.runTickets(options)
    await queue.tickets.ensureTicket({ id: 'lost', priority: 1 })
    await waitFor(() => ran.length === 1)
    await server.kill()
    await server.restart()
    await queue.connections.waitUntilReady()
    finish.resolve()
    await queue.tickets.ensureTicket({ id: 'next', priority: 1 })
    await waitFor(() => ran.includes('next'))
  })

  test('in which its connections are silent: recovers when it answers again', {
    timeout: 300_000,
  }, async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const { ran, options } = counter()
    await using _runner = queue.tickets.runTickets(options)
    await queue.tickets.ensureTicket({ id: 'before', priority: 1 })
    await waitFor(() => ran.length === 1)
    server.pause()
    await expect(queue.connections.commands.ping()).rejects.toThrow()
    server.resume()
    await queue.connections.waitUntilReady()
    await queue.tickets.ensureTicket({ id: 'after', priority: 1 })
    await waitFor(() => ran.includes('after'), { withinMs: 180_000 })
  })

  test('in which memory is full: adding fails with what to do, and goes on by itself', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const { ran, options } = counter()
    await using _runner = queue.tickets.runTickets(options)
    await queue.connections.commands.config('SET', 'maxmemory', '1')
    const refused = queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await expect(refused).rejects.toMatchObject({ code: 'redis-full' })
    await queue.connections.commands.config('SET', 'maxmemory', '0')
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await waitFor(() => ran.length === 1)
  })

  test('in which the server refuses what it is asked: it is asked at a measured pace', async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    const finish = Promise.withResolvers<void>()
    const { ran, options } = counter(() => finish.promise)
    await using _runner = queue.tickets.runTickets({ ...options, concurrency: 1 })
    await queue.tickets.ensureTicket({ id: 'running', priority: 1 })
    await waitFor(() => ran.length === 1)
    await queue.tickets.ensureTicket({ id: 'waiting', priority: 1 })
    const operator = await queue.connections.openWriter()
    // Stands for all that a server refuses for a while, such as writes when its disk is full.
    await operator.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha')
    // BullMQ can neither take the finished ticket away nor fetch the next, and knows that one waits.
    finish.resolve()
    const refusals = async () =>
      Number((await operator.info('errorstats')).match(/errorstat_NOPERM:count=(\d+)/)?.[1] ?? 0)
    await waitFor(async () => (await refusals()) > 0)
    await delay(3_000)
    // Without a pause it would be thousands.
    expect(await refusals()).toBeLessThan(200)
    expect(queue.said().filter((text) => text.startsWith('Redis refuses')).length).toBeLessThan(10)
    await operator.call('ACL', 'SETUSER', 'default', '+@all')
    operator.disconnect()
    await waitFor(() => ran.includes('waiting'))
  })

  test('a ticket of a killed process is run by another', { timeout: 300_000 }, async () => {
    await using server = await startRedis()
    await using queue = await openQueue(server)
    await using killed = await startChild(new URL('ticket-user.ts', import.meta.url), { args: [server.url] })
    await killed.line('ready')
    await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })
    await killed.line('began urgent')
    await killed.kill('SIGKILL')
    const { ran, options } = counter()
    await using _runner = queue.tickets.runTickets(options)
    expect(await queue.tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('present')
    await waitFor(() => ran.length === 1, { withinMs: 180_000 })
  })
})
