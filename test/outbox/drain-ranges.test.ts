import { expect, test } from 'vitest'
import { openHarness, write } from './harness.ts'

const products = 25_000
const isEdited = (n: number) => n % 1_000 === 7

test('many acknowledgements are drained in several transactions, and what was edited since is sent again', async () => {
  await using box = await openHarness()
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
  await using box = await openHarness()
  await box.settle()
  const ids = Array.from({ length: products }, (_, n) => `p${n}`)
  box.commitAll(ids.map((id) => write(id, id, 'new')))
  await box.connection.hset(box.keys.positions, 'new', products)
  const [first, last] = ['p0', 'p9999']
  for (let start = 0; start < products; start += 5_000) {
    const part = ids.slice(start, start + 5_000)
    const fields = part.flatMap((id) => [id, id === first || id === last ? '' : box.digestOf(id)])
    await box.connection.hset(box.keys.acknowledged, ...fields)
  }
  for (const id of [first, last]) {
    const letter = Buffer.from(JSON.stringify({ reason: 'bad', status: 422, at: '2026-01-01T00:00:00.000Z' }))
    await box.connection.hset(box.keys.dead, id, Buffer.concat([box.digestOf(id), letter]))
  }
  await box.settle()
  expect(box.deadIds()).toEqual([first, last])
  expect(box.places().map(({ id }) => id)).toEqual([first, last])
})
