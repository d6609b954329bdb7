import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { startRedis } from './redis-server.ts'

test('a server keeps its data and its address over kill and restart', async () => {
  await using server = await startRedis({ aof: true })
  const first = new Redis(server.url)
  await first.set('key', 'value')
  first.disconnect()
  await server.kill()
  await server.restart()
  const second = new Redis(server.url)
  expect(await second.get('key')).toBe('value')
  second.disconnect()
})

test('a server on a socket listens on no port', async () => {
  await using server = await startRedis({ socket: true })
  const redis = new Redis(server.socketPath)
  expect(await redis.config('GET', 'port')).toEqual(['port', '0'])
  redis.disconnect()
})

test('a paused server is silent until it is resumed', async () => {
  await using server = await startRedis()
  const redis = new Redis(server.url)
  await redis.ping()
  server.pause()
  const reply = redis.ping()
  server.resume()
  expect(await reply).toBe('PONG')
  redis.disconnect()
})
