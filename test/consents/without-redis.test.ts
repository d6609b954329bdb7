import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openSite } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const emails = (count: number) => Array.from({ length: count }, (_, index) => `person${index}@example.org`)

test('consents are taken in, sent and settled while Redis is away', async () => {
  await using site = await openSite()
  await site.start()
  await site.drop([['a@example.org', true]])
  await site.settled()
  await site.server.kill()
  await site.drop([
    ['a@example.org', false],
    ['b@example.org', true],
  ])
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true, false])
  expect(site.endpoint.callsOf('b@example.org')).toEqual([true])
  await site.server.restart()
})

test('a Redis that is wiped, under load or at rest, makes no call more, and holds nothing of consents', async () => {
  await using site = await openSite({
    script: async () => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      return { status: 200 }
    },
  })
  await using redis = Object.assign(new Redis(site.server.url), {
    [Symbol.asyncDispose]: async () => redis.disconnect(),
  })
  await site.start()
  const people = emails(400)
  await site.drop(people.map((email) => [email, true]))
  await site.drop(people.map((email, index) => [email, index % 3 !== 0]))
  for (const count of [60, 250]) {
    await waitFor(() => site.endpoint.calls.length >= count)
    await redis.flushall()
  }
  await site.settled()
  for (const [index, email] of people.entries()) {
    const states = site.endpoint.callsOf(email)
    expect(states.at(-1)).toBe(index % 3 !== 0)
    // A grant that was sent before the revocation was applied may precede it; nothing is sent twice.
    expect(new Set(states).size).toBe(states.length)
  }
  expect([...site.endpoint.overlapping]).toEqual([])
  const calls = site.endpoint.calls.length
  expect((await redis.keys('*')).filter((key) => key.includes('consents'))).toEqual([])
  await redis.flushall()
  await site.drop([['person0@example.org', true]])
  await site.settled()
  expect(site.endpoint.calls.length).toBe(calls + 1)
})
