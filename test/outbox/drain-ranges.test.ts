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
