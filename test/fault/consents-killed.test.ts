import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { ConsentSite, concurrency } from './consent-site.ts'
import { consentFile } from './consent-versions.ts'
import { faultScale, type SeededRandom, seededRandom } from './random.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const people = faultScale > 1 ? Math.min(100_000, 5_000 * faultScale) : 3_000
const kills = 5 * faultScale
/** A larger file takes longer to import. */
const betweenMsMax = faultScale > 1 ? 10_000 : 3_000
/** After one, all files are applied again before anything is sent. */
const wipesShare = faultScale > 1 ? 0.05 : 0.2
const timeout = 300_000 * faultScale

/** What a call may meet at the endpoint, each so many times. */
function faults(random: SeededRandom): Record<string, unknown>[] {
  const kinds = [
    { status: 500 },
    { status: 500, apply: 'before' },
    { status: 503 },
    { hang: true },
    { hang: true, apply: 'before' },
    { reset: 'before' },
    { reset: 'after' },
    { half: true },
    { half: true, apply: 'never' },
  ]
  return kinds.map((kind) => ({ ...kind, share: 0.01, seed: random.between(1, 1e6), calls: 2 * faultScale }))
}

test('daemon and Redis killed, Redis wiped, and an endpoint that fails: hardly a call more, and the last states', {
  timeout,
}, async () => {
  const random = seededRandom('killed consents')
  await using site = await ConsentSite.open({ settings: 'timeout: 1s, horizon: 2m', latencyMs: 5 })
  await site.start()
  await site.run('pause')
  let version = 0
  const dropNext = async () => {
    version += 1
    await site.drop(consentFile(version, people))
  }
  for (let files = 0; files < 3; files += 1) await dropNext()
  await site.noteApplied()
  await site.fault(...faults(random))
  await site.run('resume')
  const began = performance.now()
  for (let kill = 1; kill <= kills; kill += 1) {
    // While it starts, while it imports, or while it sends.
    await delay(random.between(0, random.chance(0.3) ? 400 : betweenMsMax))
    await strike(site, random)
    if (kill % 5 === 2 && version < 6) {
      await site.noteApplied()
      await dropNext()
    }
  }
  await site.untilQuiet()
  const dead = await retryDead(site)
  const calls = await site.calls()
  const failed = calls.filter(({ fault }) => fault !== null).length
  const { repeated } = site.history().judge(calls)
  const seconds = Math.round((performance.now() - began) / 1000)
  await site.stop()
  console.log(
    `${site.history().emails} addresses, ${version} files, ${kills} kills: ${calls.length} calls, ${failed} of them failed, ${repeated} were repeated without a fault, ${dead} waited for a decision; ${seconds} s; peak RSS ${Math.max(...site.peaks)} MB`,
  )
  expect(failed).toBeGreaterThan(0)
  await site.expectRight(kills * concurrency)
})

/** Grants that a long outage, of which there is none in a short run, kept from being repeated in time. */
async function retryDead(site: ConsentSite): Promise<number> {
  const { dead } = await site.work()
  if (faultScale === 1) expect(dead).toBe(0)
  if (dead === 0) return 0
  await site.run('dead', 'retry', '--all', '--consents')
  await waitFor(async () => (await site.work()).dead === 0)
  await site.untilQuiet()
  return dead
}

async function strike(site: ConsentSite, random: SeededRandom): Promise<void> {
  const isWipe = random.chance(wipesShare)
  const what = isWipe ? 'wipe' : random.pick(['daemon', 'daemon', 'Redis', 'both'] as const)
  if (what === 'wipe') {
    // Redis may be away at this moment, with a daemon that has just begun.
    await waitFor(
      () =>
        site
          .wipeRedis()
          .then(() => true)
          .catch(() => false),
      { what: () => site.logs() },
    )
    if (random.chance(0.5)) return
  }
  if (what === 'Redis') {
    await site.killRedis()
    return
  }
  await site.kill()
  if (what === 'both') await site.killRedis()
  await site.start('')
}

test('grants that were not confirmed in time are dead letters, and sent once more when told so', {
  timeout: 300_000,
}, async () => {
  await using site = await ConsentSite.open({ settings: 'timeout: 5s, horizon: 8s' })
  const file = consentFile(1, 40)
  const grants = [...file.states].flatMap(([email, consent]) => (consent ? [email] : [])).slice(0, 3)
  await site.fault({ hang: true, apply: 'before', emails: grants })
  await site.start()
  await site.drop(file)
  const parked = async () => (await site.work()).dead === grants.length
  await waitFor(parked, { withinMs: 180_000, what: () => `${grants.length} dead letters\n${site.logs()}` })
  const letters = JSON.parse(await site.run('dead', 'list', '--consents', '--json')) as {
    email: string
    consent: boolean
    reason: string
  }[]
  expect(letters.map(({ email }) => email.trim().toLowerCase()).sort()).toEqual([...grants].sort())
  for (const { consent, reason } of letters)
    expect([consent, reason]).toEqual([true, expect.stringMatching(/^not confirmed/)])
  await site.clearFaults()
  await site.untilQuiet()
  const before = (await site.summary()).calls.total
  await site.run('dead', 'retry', '--all', '--consents')
  await waitFor(async () => (await site.work()).dead === 0)
  await site.untilQuiet()
  expect((await site.summary()).calls.total - before).toBe(grants.length)
  await site.expectRight()
})
