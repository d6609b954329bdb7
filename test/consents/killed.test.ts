import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openSite, type Site } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** The program in a process of its own, for killing. */
function startDaemon(site: Site): Promise<Child> {
  return startChild(program, {
    args: ['start', '--config', site.dir.join('catalogd.yaml')],
    cwd: site.dir.path,
  })
}

test('killed right after an answer is durable: the consent is not sent again', async () => {
  await using site = await openSite()
  await site.drop([['a@example.org', true]])
  await using daemon = await startDaemon(site)
  await waitFor(() => site.rowOf('a@example.org')?.known === 1, { what: () => daemon.stderr })
  await daemon.kill()
  await site.start()
  await site.drop([['b@example.org', true]])
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org')).toEqual([true])
  expect(site.endpoint.callsOf('b@example.org')).toEqual([true])
})

test('killed during a grant: the call counts as not confirmed', async () => {
  await using site = await openSite({ settings: 'horizon: 300ms', script: () => 'hang' })
  await site.drop([['a@example.org', true]])
  await using daemon = await startDaemon(site)
  await waitFor(() => site.endpoint.calls.length === 1)
  await daemon.kill()
  site.endpoint.answerWith(() => ({ status: 200 }))
  await waitFor(() => Date.now() > (site.endpoint.calls[0]?.at ?? 0) + 300)
  await site.start()
  await waitFor(() => site.letterOf('a@example.org') !== undefined)
  expect(site.letterOf('a@example.org')?.reason).toMatch(/^not confirmed/)
  expect(site.endpoint.calls.length).toBe(1)
})

test('killed again and again: at most as many calls more as could be under way, and the last states', async () => {
  const kills = 2
  await using site = await openSite({
    settings: 'concurrency: 4, callsPerSecond: 10000',
    script: async () => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      return { status: 200 }
    },
  })
  const people = Array.from({ length: 1_000 }, (_, index) => `person${index}@example.org`)
  const last = (index: number) => index % 3 !== 0
  await site.drop(people.map((email, index) => [email, !last(index)]))
  await site.drop(people.map((email, index) => [email, last(index)]))
  for (let kill = 0; kill < kills; kill++) {
    await using daemon = await startDaemon(site)
    await waitFor(() => site.endpoint.calls.length > (kill + 1) * 150)
    await daemon.kill()
  }
  await site.start()
  await site.settled()
  for (const [index, email] of people.entries()) expect(site.endpoint.held.get(email)).toBe(last(index))
  const repeated = people.reduce((sum, email) => {
    const states = site.endpoint.callsOf(email)
    return sum + states.length - new Set(states).size
  }, 0)
  expect(repeated).toBeLessThanOrEqual(kills * 4)
  expect([...site.endpoint.overlapping]).toEqual([])
})
