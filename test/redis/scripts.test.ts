import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readScripts } from '../../src/redis/scripts.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { type TempDir, tempDir } from '../support/temp-dir.ts'

let server: RedisServer
let dir: TempDir
let connection: Redis

beforeAll(async () => {
  server = await startRedis()
  dir = await tempDir('scripts')
  connection = new Redis(server.url)
  await writeFile(
    dir.join('store.lua'),
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) return { redis.call('HGET', KEYS[1], ARGV[1]), #ARGV[2] }",
  )
})

afterAll(async () => {
  connection?.disconnect()
  await dir?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const folder = () => pathToFileURL(`${dir.path}/`)

test('binary arguments come back byte for byte', async () => {
  const scripts = await readScripts(folder(), ['store'])
  const digest = Buffer.concat([Buffer.from([0, 255, 13, 10, 128]), randomBytes(11)])
  const reply = await scripts.run(connection, 'store', { keys: ['{t}:digests'], args: ['id', digest] })
  expect(reply).toEqual([digest, 16])
})

test('a script that the server forgot is run all the same', async () => {
  const scripts = await readScripts(folder(), ['store'])
  await connection.script('FLUSH')
  const call = { keys: ['{t}:h'], args: ['a', 1] }
  expect(await scripts.run(connection, 'store', call)).toEqual([Buffer.from('1'), 1])
})

test('inside a transaction a script runs whether the server knows it or not, with binary replies', async () => {
  const scripts = await readScripts(folder(), ['store'])
  const digest = randomBytes(16)
  const call = { keys: ['{t}:h'], args: ['b', digest] }
  await connection.script('FLUSH')
  const batch = connection.multi().set('{t}:position', 7)
  const replies = await scripts.append(batch, 'store', call).exec()
  expect(replies).toEqual([
    [null, 'OK'],
    [null, [digest, 16]],
  ])
})
