import { afterEach, beforeEach, expect, test } from 'vitest'
import { readDelivery } from '../../src/outbox/overview.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type Harness, openHarness } from './harness.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const document = (index: number) => JSON.stringify({ product_id: `p${index}`, text: 'x'.repeat(9_970) })

async function openFilled(products: number): Promise<Harness> {
  const box = await openHarness()
  for (let index = 0; index < products; index += 1) await box.put(`p${index}`, document(index))
  return box
}

/** How many products each of the next calls has; each is taken. */
async function sizesOf(box: Harness, calls: number): Promise<number[]> {
  const sizes: number[] = []
  for (let call = 0; call < calls; call += 1) {
    const claim = await box.claim()
    sizes.push(claim.products.length)
    await box.outbox.acknowledge(claim.token, claim.products)
  }
  return sizes
}

const limitOf = async (box: Harness) => (await readDelivery(box.connection, box.keys)).learnedBodyBytes
const times = (count: number, size: number) => Array.from({ length: count }, () => size)

test('a limit is never below 64 KiB, and doubles after eight full calls until it is that of the configuration', async () => {
  await using box = await openFilled(8 * (6 + 13 + 26) + 52)
  await box.outbox.learnBodyBytes(207)
  // Of 65,536, 131,072, 262,144 and 524,288 bytes, 10,000 a product.
  expect(await sizesOf(box, 25)).toEqual([...times(8, 6), ...times(8, 13), ...times(8, 26), 52])
})

test('a limit that is refused again after it grew is tried less often; a late refusal of a larger call changes nothing', async () => {
  await using box = await openFilled(250)
  await box.outbox.learnBodyBytes(65_536)
  await sizesOf(box, 8)
  expect(await limitOf(box)).toBe(131_072)
  await box.outbox.learnBodyBytes(900_000)
  expect(await limitOf(box)).toBe(131_072)
  await box.outbox.learnBodyBytes(65_536)
  await sizesOf(box, 15)
  expect(await limitOf(box)).toBe(65_536)
  await sizesOf(box, 1)
  expect(await limitOf(box)).toBe(131_072)
})

test('with time a limit grows at any call that is taken, also after the clock was set back', async () => {
  await using box = await openFilled(0)
  await box.outbox.learnBodyBytes(600_000)
  const { pace } = box.keys
  const minutes = 60_000
  const takeOne = async (text: string) => {
    await box.put('small', text)
    await sizesOf(box, 1)
  }
  await box.connection.hset(pace, 'bodyBytesChangedAt', Date.now() + 60 * minutes)
  await takeOne('"1"')
  expect(Number(await box.connection.hget(pace, 'bodyBytesChangedAt'))).toBeLessThanOrEqual(Date.now())
  expect(await limitOf(box)).toBe(600_000)
  await box.connection.hset(pace, 'bodyBytesChangedAt', Date.now() - 11 * minutes)
  await takeOne('"2"')
  expect(await limitOf(box)).toBe(1_200_000)
  await box.connection.hset(pace, 'bodyBytesChangedAt', Date.now() - 11 * minutes)
  await takeOne('"3"')
  expect(await limitOf(box)).toBeUndefined()
})

test('a limit that an earlier version learned, which knew no times, grows at the first call that is taken', async () => {
  await using box = await openFilled(1)
  await box.connection.hset(box.keys.pace, { bodyBytes: 600_000 })
  await sizesOf(box, 1)
  expect(await limitOf(box)).toBe(1_200_000)
  await box.put('small', '"1"')
  await sizesOf(box, 1)
  expect(await limitOf(box)).toBe(1_200_000)
})

test('resume forgets a limit, a probe does not; it has an age', async () => {
  await using box = await openFilled(0)
  await box.outbox.learnBodyBytes(600_000)
  await box.connection.hset(box.keys.pace, 'bodyBytesAt', Date.now() - 120_000)
  const { learnedBodyBytesAgeMs = 0 } = await readDelivery(box.connection, box.keys)
  expect(learnedBodyBytesAgeMs).toBeGreaterThanOrEqual(119_000)
  await box.outbox.resume('credentials', 'probed')
  expect(await limitOf(box)).toBe(600_000)
  await box.outbox.resume('operator', 'operator')
  expect(await limitOf(box)).toBeUndefined()
  expect(await box.connection.hkeys(box.keys.pace)).not.toContain('bodyBytesNeeded')
})
