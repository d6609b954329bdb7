import { copyFile, cp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openSite, type Site } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const emails = (count: number) => Array.from({ length: count }, (_, index) => `person${index}@example.org`)

/** Several accepted states of each address; the last one is delivered. */
async function deliverHistory(site: Site) {
  for (const round of [true, false, true]) {
    await site.drop(emails(40).map((email, index) => [email, index % 2 === 0 ? round : !round]))
  }
  await site.settled()
}

async function untilCaughtUp(site: Site) {
  const { redis, keys } = site
  const journalBytes = async () => Buffer.byteLength(await site.journal())
  await waitFor(
    async () => Number((await redis.get(keys.journal))?.split(':').at(-1)) === (await journalBytes()),
  )
  await site.settled()
}

describe('a Redis that is wiped', () => {
  test('while running: nothing that was acknowledged is sent again, no older state either', async () => {
    await using site = await openSite()
    await site.start()
    await deliverHistory(site)
    const calls = site.endpoint.calls.length
    await site.redis.flushall()
    await untilCaughtUp(site)
    await site.drop([['person0@example.org', false]])
    await site.settled()
    await waitFor(() => site.endpoint.held.get('person0@example.org') === false)
    expect(site.endpoint.calls.length).toBe(calls + 1)
  })

  test('between runs', async () => {
    await using site = await openSite()
    await site.start()
    await deliverHistory(site)
    await site.stop()
    const calls = site.endpoint.calls.length
    await site.redis.flushall()
    await site.start()
    await untilCaughtUp(site)
    await site.drop([['person1@example.org', true]])
    await site.settled()
    expect(site.endpoint.calls.length).toBe(calls + 1)
  })

  test('under load, again and again: each address ends with its last state, and no older one follows it', async () => {
    await using site = await openSite({
      script: async () => {
        await new Promise((resolve) => setTimeout(resolve, 2))
        return { status: 200 }
      },
    })
    await site.start()
    const people = emails(400)
    await site.drop(people.map((email) => [email, true]))
    await site.drop(people.map((email, index) => [email, index % 3 !== 0]))
    for (const count of [60, 250]) {
      await waitFor(() => site.endpoint.calls.length >= count)
      await site.redis.flushall()
    }
    await site.settled()
    for (const [index, email] of people.entries()) {
      const last = index % 3 !== 0
      const states = site.endpoint.callsOf(email)
      expect(states.at(-1)).toBe(last)
      // A grant that was sent before the revocation was applied may precede it; nothing is sent twice.
      expect(new Set(states).size).toBe(states.length)
    }
    expect([...site.endpoint.overlapping]).toEqual([])
  })

  test('during a call: its acknowledgement counts', async () => {
    const called = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    await using site = await openSite()
    site.endpoint.answerWith(async () => {
      called.resolve()
      await answer.promise
      return { status: 200 }
    })
    await site.start()
    await site.drop([['a@example.org', true]])
    await called.promise
    await site.redis.flushall()
    const id = await site.idOf('a@example.org')
    // It is applied again, and due, while the call is still under way.
    await waitFor(async () => (await site.redis.hexists(site.keys.pending, id)) === 1)
    answer.resolve()
    await untilCaughtUp(site)
    expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
  })
})

test('a Redis that was rolled back by a moment sends nothing again, and nothing older', async () => {
  await using site = await openSite({ redis: { aof: true } })
  await site.start()
  await site.drop([
    ['a@example.org', true],
    ['b@example.org', true],
  ])
  await site.settled()
  await site.stop()
  // Accepted, applied, but not sent yet: the operator has stopped the calls.
  await site.redis.hset(site.keys.pause, 'operator', '{}')
  await site.start()
  await site.drop([['c@example.org', true]])
  const c = await site.idOf('c@example.org')
  await waitFor(async () => (await site.redis.hexists(site.keys.pending, c)) === 1)
  await site.server.stop()
  const saved = join(site.dir.path, 'redis-copy')
  await cp(site.server.dir, saved, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  await site.server.restart()
  await site.drop([
    ['c@example.org', false],
    ['a@example.org', false],
  ])
  await waitFor(async () => (await site.redis.zcard(site.keys.urgent)) === 2)
  await site.redis.hdel(site.keys.pause, 'operator')
  await site.settled()
  const calls = site.endpoint.calls.length
  await site.server.kill()
  for (const name of await readdir(site.server.dir))
    await rm(join(site.server.dir, name), { recursive: true })
  await cp(saved, site.server.dir, { recursive: true })
  await site.server.restart()
  await site.redis.hdel(site.keys.pause, 'operator')
  await untilCaughtUp(site)
  expect(site.endpoint.callsOf('c@example.org')).toEqual([false])
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true, false])
  expect(site.endpoint.calls.length).toBe(calls)
})

test('a journal that another key wrote is refused, and one that was restored is followed from its beginning', async () => {
  await using site = await openSite()
  await site.start()
  await site.drop([['a@example.org', true]])
  await site.settled()
  await site.stop()
  const path = site.dir.join('state', 'main', 'consents', 'acknowledged.ndjson')
  await copyFile(path, `${path}.copy`)
  await site.start()
  await site.drop([['a@example.org', false]])
  await site.settled()
  await site.stop()
  await copyFile(`${path}.copy`, path)
  await site.start()
  await untilCaughtUp(site)
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true, false])
  await site.stop()
  const key = site.dir.join('state', 'consents.key')
  await rm(key)
  await site.start()
  await waitFor(() => site.failures.length > 0)
  expect(site.failures[0]).toMatchObject({ code: 'consent-key' })
  await expect(stat(key)).rejects.toThrow()
})
