import { describe, expect, test } from 'vitest'
import { openHarness, write } from './harness.ts'

const products = 25_000
const isEdited = (n: number) => n % 1_000 === 7

const ways = { 'by the products of the mirror': 20_000, 'by a scan of Redis': Number.POSITIVE_INFINITY }

describe.each(Object.entries(ways))('%s', (_, walkFrom) => {
  test('many acknowledgements are drained in several transactions, and what was edited since is sent again', async () => {
    await using box = await openHarness({ walkFrom })
    await box.settle()
    const numbers = Array.from({ length: products }, (_, n) => n)
    box.commitAll(numbers.map((n) => write(`p${n}`, `${n}`, 'new')))
    await box.connection.hset(box.keys.positions, 'new', products)
    for (let start = 0; start < products; start += 5_000) {
      const fields = numbers.slice(start, start + 5_000).flatMap((n) => [`p${n}`, box.digestOf(`${n}`)])
      await box.connection.hset(box.keys.acknowledged, ...fields)
    }
    const edited = numbers.filter(isEdited)
    box.commitAll(edited.map((n) => write(`p${n}`, `${n} newer`, 'new')))
    await box.settle()
    expect(await box.connection.hlen(box.keys.acknowledged)).toBe(0)
    expect(box.places().map(({ id }) => id)).toEqual(edited.map((n) => `p${n}`).sort())
  })

  test('a refusal after a doubt counts, wherever the product stands among many', async () => {
    await using box = await openHarness({ walkFrom })
    await box.settle()
    const ids = Array.from({ length: products }, (_, n) => `p${n}`)
    box.commitAll(ids.map((id) => write(id, id, 'new')))
    await box.connection.hset(box.keys.positions, 'new', products)
    // By id as by row, some of them stand in other ranges than the last.
    const refused = ['p0', 'p12345', 'p24999', 'p9999']
    for (let start = 0; start < products; start += 5_000) {
      const part = ids.slice(start, start + 5_000)
      const fields = part.flatMap((id) => [id, refused.includes(id) ? '' : box.digestOf(id)])
      await box.connection.hset(box.keys.acknowledged, ...fields)
    }
    for (const id of refused) {
      const letter = Buffer.from(
        JSON.stringify({ reason: 'bad', status: 422, at: '2026-01-01T00:00:00.000Z' }),
      )
      await box.connection.hset(box.keys.dead, id, Buffer.concat([box.digestOf(id), letter]))
    }
    await box.settle()
    expect(box.deadIds()).toEqual(refused)
    expect(box.places().map(({ id }) => id)).toEqual(refused)
  })
})

test('a connection that breaks in the midst of a walk costs nothing but another turn', async () => {
  await using box = await openHarness()
  await box.settle()
  const ids = Array.from({ length: products }, (_, n) => `p${n}`)
  box.commitAll(ids.map((id) => write(id, id, 'new')))
  await box.connection.hset(box.keys.positions, 'new', products)
  for (let start = 0; start < products; start += 5_000) {
    const part = ids.slice(start, start + 5_000)
    await box.connection.hset(box.keys.acknowledged, ...part.flatMap((id) => [id, box.digestOf(id)]))
  }
  const { mirror } = box
  const drain = mirror.drain.bind(mirror)
  let ranges = 0
  mirror.drain = (...given) => {
    drain(...given)
    ranges += 1
    // The next range may have been read by then.
    if (ranges === 2) box.loop.forget()
  }
  await expect(box.loop.turn()).rejects.toThrow(/Connection is closed|Stream isn't writeable/)
  await box.settle()
  expect(await box.connection.hlen(box.keys.acknowledged)).toBe(0)
  expect(box.places()).toEqual([])
})

test('acknowledgements that the mirror has no use for are drained by a scan, with the others', async () => {
  await using box = await openHarness()
  await box.settle()
  const known = Array.from({ length: 500 }, (_, n) => `p${n}`)
  box.commitAll(known.map((id) => write(id, id, 'new')))
  await box.connection.hset(box.keys.positions, 'new', known.length)
  for (let start = 0; start < products; start += 5_000) {
    const unknown = Array.from({ length: 5_000 }, (_, n) => `gone${start + n}`)
    await box.connection.hset(box.keys.acknowledged, ...unknown.flatMap((id) => [id, box.digestOf(id)]))
  }
  await box.connection.hset(box.keys.acknowledged, ...known.flatMap((id) => [id, box.digestOf(id)]))
  await box.settle()
  expect(await box.connection.hlen(box.keys.acknowledged)).toBe(0)
  expect(box.places()).toEqual([])
})

test('among many unsent products few are acknowledged: a scan finds them', async () => {
  await using box = await openHarness({ walkFrom: 1_000 })
  await box.settle()
  const ids = Array.from({ length: products }, (_, n) => `p${n}`)
  box.commitAll(ids.map((id) => write(id, id, 'new')))
  await box.connection.hset(box.keys.positions, 'new', products)
  const acknowledged = ids.filter((_, n) => n % 20 === 7)
  await box.connection.hset(box.keys.acknowledged, ...acknowledged.flatMap((id) => [id, box.digestOf(id)]))
  const asked: number[] = []
  const { mirror } = box
  const readUnsent = mirror.readUnsent.bind(mirror)
  mirror.readUnsent = (after, rowsMax) => {
    asked.push(after)
    return readUnsent(after, rowsMax)
  }
  await box.settle()
  expect(await box.connection.hlen(box.keys.acknowledged)).toBe(0)
  expect(box.places()).toHaveLength(products - acknowledged.length)
  expect(asked).toEqual([0])
})
