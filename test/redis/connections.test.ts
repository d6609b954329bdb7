import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { closeConnection } from '../../src/redis/connection.ts'
import { connectionOptions } from '../../src/redis/connection-options.ts'
import { openRedis } from '../../src/redis/connections.ts'
import { openTicketQueue } from '../../src/redis/tickets.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { freePort, startRedis } from '../support/redis-server.ts'
import { startCuttingProxy } from './cutting-proxy.ts'

const nextTick = promisify(process.nextTick)

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const open = (url: string, log = collectLog().log, openWithinMs = 2_000, clock: Clock = systemClock) =>
  openRedis({ address: { kind: 'url', url }, clock, log, openWithinMs })

describe('opening', () => {
  test('a server that would evict keys is refused', async () => {
    await using server = await startRedis({
      config: { maxmemory: '50mb', 'maxmemory-policy': 'allkeys-lru' },
    })
    await expect(open(server.url)).rejects.toMatchObject({
      code: 'redis-eviction',
      message: expect.stringContaining('allkeys-lru'),
      hint: expect.stringContaining('noeviction'),
    })
  })

  test('an eviction policy without a memory limit evicts nothing', async () => {
    await using server = await startRedis({ config: { 'maxmemory-policy': 'allkeys-lru' } })
    await using redis = await open(server.url)
    expect(await redis.commands.ping()).toBe('PONG')
  })

  test('a server that is not there is reported with its address', async () => {
    const port = await freePort()
    await expect(open(`redis://:secret@127.0.0.1:${port}/3`, undefined, 300)).rejects.toMatchObject({
      code: 'redis-down',
      exitCode: 4,
      message: expect.stringMatching(
        `^Redis at redis://127.0.0.1:${port}/3 cannot be reached: .*ECONNREFUSED`,
      ),
    })
  })

  test('a wrong password is reported at once, without the password', async () => {
    await using server = await startRedis({ config: { requirepass: 'right' } })
    const error = await open(server.url.replace('//', '//:wrong@')).catch((error: Error) => error)
    expect(error).toMatchObject({ code: 'redis-credentials' })
    expect((error as Error).message).not.toContain('wrong@')
    await using redis = await open(server.url.replace('//', '//:right@'))
    expect(await redis.commands.ping()).toBe('PONG')
  })

  test('a server that is still loading its data is waited for', async () => {
    await using server = await startRedis({ aof: true })
    const filling = await open(server.url)
    const batch = filling.commands.pipeline()
    for (let i = 0; i < 6_000; i++) batch.set(`k${i}`, 'x')
    await batch.exec()
    await filling[Symbol.asyncDispose]()
    await server.kill()
    // Redis waits this many µs for each key that it loads: longer in all than the time that opening is given.
    await server.restart({ config: { 'key-load-delay': '300' }, untilListening: true })
    const { log, lines } = collectLog()
    await using redis = await open(server.url, log, 300)
    expect(await redis.commands.get('k5999')).toBe('x')
    expect(lines).toEqual([])
  })
})

test('a connection is closed while it connects, whatever ioredis says of that', async () => {
  await using server = await startRedis()
  const connection = new Redis(connectionOptions({ kind: 'url', url: server.url }, 'commands'))
  const errors: string[] = []
  connection.on('error', ({ message }) => errors.push(message))
  connection.connect().catch(() => {})
  // From here on ioredis has a socket, which has not connected yet.
  await nextTick()
  await closeConnection(connection, systemClock)
  expect(connection.status).toBe('end')
  expect(errors).toEqual([expect.stringContaining("Stream isn't writeable")])
})

describe('a server that goes away while it is opened', () => {
  test('and comes back is used', async () => {
    await using server = await startRedis()
    await using proxy = await startCuttingProxy(server.port)
    proxy.cutInfo(2)
    await using redis = await open(proxy.url)
    expect(proxy.cutsLeft).toBe(0)
    expect(await redis.commands.ping()).toBe('PONG')
  })

  test('again and again is given up', async () => {
    await using server = await startRedis()
    await using proxy = await startCuttingProxy(server.port)
    proxy.cutInfo(1_000)
    await expect(open(proxy.url)).rejects.toMatchObject({ code: 'redis-down' })
  })

  test('and comes back gets its queue of tickets', async () => {
    await using server = await startRedis()
    await using proxy = await startCuttingProxy(server.port)
    await using connections = await open(proxy.url)
    proxy.cutInfo(2)
    const catalog = 'main' as CatalogName
    const { log } = collectLog()
    await using tickets = await openTicketQueue({ connections, catalog, clock: systemClock, log })
    expect(proxy.cutsLeft).toBe(0)
    expect(await tickets.ensureTicket({ id: 'urgent', priority: 1 })).toBe('added')
  })
})

test('nothing waits any more once the state is known', async () => {
  await using server = await startRedis()
  let sleeping = 0
  const sleep: Clock['sleep'] = async (...given) => {
    sleeping++
    await systemClock.sleep(...given).finally(() => sleeping--)
  }
  await using redis = await open(server.url, undefined, undefined, { ...systemClock, sleep })
  await redis.state()
  await new Promise(setImmediate)
  expect(sleeping).toBe(0)
})

describe('while Redis is away', () => {
  test('commands fail at once with a reason, and work again when it is back', async () => {
    await using server = await startRedis({ aof: true })
    const { log, lines } = collectLog()
    await using redis = await open(server.url, log)
    await redis.commands.set('key', 'kept')
    await server.stop()
    await waitFor(() => redis.failure !== undefined)
    const error = await redis.commands.get('key').catch((error: unknown) => redis.explain(error))
    expect(error).toMatchObject({ code: 'redis-down' })
    expect(await redis.state()).toMatchObject({ up: false })

    await server.restart()
    await redis.waitUntilReady()
    expect(await redis.commands.get('key')).toBe('kept')
    expect(await redis.state()).toMatchObject({ up: true, info: { aof: 'ok', maxMemoryBytes: 0 } })
    const said = lines.filter((line) => line.level !== 'debug').map((line) => line.msg)
    expect(said).toEqual(['Redis cannot be reached; trying again', 'Redis is back'])
  })

  test('a command under way is rejected when the connection breaks, not sent again', async () => {
    await using server = await startRedis({ aof: true })
    await using redis = await open(server.url)
    server.pause()
    const outcome = redis.commands.incr('count').catch((error: unknown) => redis.explain(error))
    await server.kill()
    expect(await outcome).toMatchObject({ code: 'redis-down' })
    await server.restart()
    await redis.waitUntilReady()
    expect(await redis.commands.get('count')).toBeNull()
  })

  test('waiting ends with its signal', async () => {
    await using server = await startRedis()
    await using redis = await open(server.url)
    await server.stop()
    await waitFor(() => redis.failure !== undefined)
    const abort = new AbortController()
    const waiting = redis.waitUntilReady({ signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow()
  })

  test('a silent server is given up and found again', { timeout: 300_000 }, async () => {
    await using server = await startRedis()
    await using redis = await open(server.url)
    server.pause()
    const error = await redis.commands.ping().catch((error: unknown) => redis.explain(error))
    expect(error).toMatchObject({ code: 'redis-down' })
    expect(await redis.state()).toMatchObject({ up: false, error: expect.stringContaining('Socket timeout') })
    server.resume()
    await redis.waitUntilReady()
    expect(await redis.commands.ping()).toBe('PONG')
  })
})

describe('a writer', () => {
  test('is dead after its connection broke, although the server is back', async () => {
    await using server = await startRedis({ aof: true })
    await using redis = await open(server.url)
    const writer = await redis.openWriter()
    await writer.watch('position')
    await server.stop()
    await server.restart()
    await redis.waitUntilReady()
    await expect(writer.multi().set('position', 2).exec()).rejects.toThrow()
    await expect(writer.get('position')).rejects.toThrow()
    expect(await redis.commands.get('position')).toBeNull()

    const next = await redis.openWriter()
    expect(await next.multi().set('position', 2).exec()).toEqual([[null, 'OK']])
    next.disconnect()
  })

  test('settles a transaction whose reply never came', async () => {
    await using server = await startRedis()
    await using redis = await open(server.url)
    const writer = await redis.openWriter()
    server.pause()
    const outcome = writer
      .multi()
      .set('a', 1)
      .exec()
      .then(
        () => 'applied',
        () => 'unknown',
      )
    await server.kill()
    expect(await outcome).toBe('unknown')
    expect(writer.status).toBe('end')
  })

  test.each([
    ['redis-full', 'maxmemory', '1mb'],
    ['redis-readonly', 'min-replicas-to-write', '1'],
  ])('a transaction that is discarded says why (%s)', async (code, setting, value) => {
    await using server = await startRedis()
    await using redis = await open(server.url)
    const writer = await redis.openWriter()
    await redis.commands.config('SET', setting, value)
    const error = await writer
      .multi()
      .set('a', 1)
      .exec()
      .catch((error: unknown) => redis.explain(error))
    expect(error).toMatchObject({ code })
    writer.disconnect()
  })

  test('cannot be opened while Redis is away', async () => {
    await using server = await startRedis()
    await using redis = await open(server.url)
    await server.stop()
    await expect(redis.openWriter()).rejects.toMatchObject({ code: 'redis-down' })
  })
})
