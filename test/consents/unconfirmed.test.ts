import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mayBeSent } from '../../src/consents/row.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { openSite, type Site } from './site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const settings = 'timeout: 150ms, horizon: 10m, callsPerSecond: 1000'
const horizonMs = 600_000
const grant = ['a@example.org', true] as const

const timesCalled = (site: Site, times: number) =>
  waitFor(() => site.endpoint.callsOf('a@example.org').length >= times)

describe('whether a consent may be sent', () => {
  const grant = { consent: 1, attempted: 1_000 } as const

  test('a grant within the horizon of its first call only', () => {
    expect(mayBeSent(grant, { nowMs: 1_499, horizonMs: 500 })).toBe(true)
    expect(mayBeSent(grant, { nowMs: 1_500, horizonMs: 500 })).toBe(false)
    // The clock was set back.
    expect(mayBeSent(grant, { nowMs: 500, horizonMs: 500 })).toBe(false)
  })

  test('a revocation, and a grant that was never tried, always', () => {
    expect(mayBeSent({ ...grant, consent: 0 }, { nowMs: 9_999, horizonMs: 500 })).toBe(true)
    expect(mayBeSent({ ...grant, attempted: null }, { nowMs: 9_999, horizonMs: 500 })).toBe(true)
  })
})

test('a grant that is not confirmed is repeated until the horizon, then waits; retry sends it, a later grant revives it', async () => {
  const answers = { hang: true }
  await using site = await openSite({ settings, script: () => (answers.hang ? 'hang' : { status: 200 }) })
  await site.start()
  await site.drop([grant])
  await timesCalled(site, 3)
  expect(site.letterOf('a@example.org')).toBeUndefined()
  site.passTime(horizonMs)
  await waitFor(() => site.letterOf('a@example.org') !== undefined, { withinMs: 180_000 })
  const letter = site.letterOf('a@example.org')
  expect(letter?.reason).toMatch(/^not confirmed: the grant was first sent at /)
  const parked = site.endpoint.calls.length
  await site.stop()
  answers.hang = false
  await site.start()
  await site.drop([['b@example.org', false]])
  await site.settled()
  // It waits on the disk: nothing is sent once more.
  expect(site.endpoint.callsOf('a@example.org').length).toBe(parked)
  await site.drop([grant])
  await site.settled()
  expect(site.endpoint.callsOf('a@example.org').length).toBe(parked + 1)
  expect(site.letterOf('a@example.org')).toBeUndefined()
})

test('a revocation that is not confirmed is repeated without end', async () => {
  const answers = { hang: true }
  await using site = await openSite({ settings, script: () => (answers.hang ? 'reset' : { status: 200 }) })
  await site.start()
  await site.drop([['a@example.org', false]])
  await timesCalled(site, 2)
  site.passTime(10 * horizonMs)
  await timesCalled(site, 4)
  answers.hang = false
  await site.settled()
  expect(site.endpoint.held.get('a@example.org')).toBe(false)
})

test('a state that is taken back after an unconfirmed call is sent, also after a restart', async () => {
  const answers = { hang: false }
  await using site = await openSite({ settings, script: () => (answers.hang ? 'hang' : { status: 200 }) })
  await site.start()
  await site.drop([['a@example.org', false]])
  await site.settled()
  answers.hang = true
  await site.drop([grant])
  await timesCalled(site, 2)
  await site.stop()
  answers.hang = false
  await site.drop([['a@example.org', false]])
  await site.start()
  await site.settled()
  const states = site.endpoint.callsOf('a@example.org')
  expect(states[0]).toBe(false)
  expect(states.at(-1)).toBe(false)
  expect(states.length).toBeGreaterThanOrEqual(3)
})

test('a grant that is not confirmed is repeated before all others, lest it miss its horizon behind them', async () => {
  const answers = { hang: true }
  await using site = await openSite({
    settings: `concurrency: 1, ${settings}`,
    script: () => {
      if (!answers.hang) return { status: 200 }
      answers.hang = false
      return 'hang'
    },
  })
  await site.start()
  await site.drop(Array.from({ length: 20 }, (_, index) => [`person${index}@example.org`, true] as const))
  await site.settled()
  const [first, second] = site.endpoint.calls
  expect(second?.email).toBe(first?.email)
  expect(site.endpoint.calls.length).toBe(21)
})
