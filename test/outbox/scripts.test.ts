import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { OutboxScripts } from '../../src/outbox/scripts/scripts.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const keys = catalogKeys('main' as CatalogName)
let server: RedisServer
let connection: Redis
let scripts: OutboxScripts

beforeAll(async () => {
  server = await startRedis()
  connection = new Redis(server.url)
  scripts = await OutboxScripts.read(keys)
})

afterAll(async () => {
  connection?.disconnect()
  await server?.[Symbol.asyncDispose]()
})

test('binary arguments come back byte for byte', async () => {
  const digest = Buffer.concat([Buffer.from([0, 255, 13, 10, 128]), randomBytes(11)])
  await scripts.write(connection, 'pace', ['HSET', 'digest', digest])
  expect(await scripts.write(connection, 'pace', ['HGET', 'digest'])).toEqual(digest)
})

test('a script that the server forgot is run all the same', async () => {
  await connection.script('FLUSH')
  expect(await scripts.write(connection, 'pace', ['HSET', 'a', 1])).toBe(1)
})

test('inside a transaction a script runs whether the server knows it or not, with binary replies', async () => {
  const digest = randomBytes(16)
  await connection.hset(keys.pace, 'digest', digest)
  await connection.script('FLUSH')
  const batch = connection.multi().set('{t}:position', 7)
  scripts.append(batch, 'write', ['pace', 'HGET', 'digest'])
  expect(await batch.exec()).toEqual([
    [null, 'OK'],
    [null, digest],
  ])
})
