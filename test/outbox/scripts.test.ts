import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CatalogName } from '../../src/lib/brand.ts'
import { inOrder } from '../../src/outbox/drain.ts'
import { catalogKeys } from '../../src/outbox/keys.ts'
import { packFields, unpackFields } from '../../src/outbox/packed-list.ts'
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

test.each([0, 1, 15, 16, 70_000])('a list of %i pairs comes back as a script packed it', async (pairs) => {
  // A length takes another form from 32, 256 and 65,536 bytes on.
  const idBytes = [1, 31, 32, 255, 256, 65_535, 65_536]
  const given = Array.from({ length: pairs }, (_, n) => ({
    id: `${n}ä`.padEnd(idBytes[n] ?? 1, 'x'),
    value: n % 3 === 0 ? randomBytes(16) : Buffer.from(n % 3 === 1 ? '' : '='),
    mark: 48 + (n % 2),
  }))
  const packed = await connection.callBuffer(
    'EVAL',
    'return cmsgpack.pack(cmsgpack.unpack(ARGV[1]))',
    0,
    packed32(given.flatMap(({ id, value }) => [Buffer.from(id), value])),
  )
  const marks = Buffer.from(given.map(({ mark }) => mark))
  const fields = unpackFields({ packed: packed as Buffer, marks })
  expect(fields).toMatchObject(given)
  // Some of them, in another order, packed again.
  const some = fields.filter((_, n) => n % 3 !== 1).reverse()
  const again = unpackFields(packFields(some))
  expect(again).toMatchObject(some.map(({ id, value, mark }) => ({ id, value, mark })))
  expect(again).toHaveLength(some.length)
})

test('fields are drained in the order of their ids, and of those told twice the later counts', () => {
  const told = ['b', 'a', 'c', 'b'].map((id, n) => field(id, String(n)))
  expect(inOrder(told).map(({ id, value }) => `${id}${value}`)).toEqual(['a1', 'b3', 'c2'])
})

function field(id: string, value: string) {
  return { id, value: Buffer.from(value), mark: 48, packed: Buffer.alloc(0), start: 0, end: 0 }
}

/** MessagePack with every length in four bytes. */
function packed32(parts: readonly Buffer[]): Buffer {
  const head = (code: number, length: number) => {
    const bytes = Buffer.alloc(5, code)
    bytes.writeUInt32BE(length, 1)
    return bytes
  }
  return Buffer.concat([
    head(0xdd, parts.length),
    ...parts.flatMap((part) => [head(0xdb, part.length), part]),
  ])
}
