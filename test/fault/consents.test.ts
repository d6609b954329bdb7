import { afterEach, beforeEach, expect, test } from 'vitest'
import { leakCheck } from '../support/leak-check.ts'
import { ConsentSite, concurrency } from './consent-site.ts'
import { consentFile } from './consent-versions.ts'
import { faultScale } from './random.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const people = faultScale > 1 ? Math.min(100_000, 5_000 * faultScale) : 1_000
const timeout = 300_000 * faultScale

/** A site whose newest file is number `version`, all of it delivered. */
class Story {
  readonly site: ConsentSite
  version = 0
  #calls = 0
  #repeatedMax = 0

  constructor(site: ConsentSite) {
    this.site = site
  }

  async drop(version = this.version + 1): Promise<void> {
    this.version = version
    await this.site.drop(consentFile(version, people))
  }

  /** Everything is delivered, by exactly so many calls since the last time, or by at most `more` of them more. */
  async expectCalls(wanted: number, more = 0): Promise<void> {
    await this.site.untilQuiet()
    await this.site.noteApplied()
    const { total } = (await this.site.summary()).calls
    const made = total - this.#calls
    console.log(`version ${this.version}: ${made} calls`)
    this.#calls = total
    expect(made).toBeGreaterThanOrEqual(wanted)
    expect(made).toBeLessThanOrEqual(wanted + more)
    this.#repeatedMax += more
    await this.site.expectRight(this.#repeatedMax)
  }

  /** How many addresses have another state than before the last file. */
  get changed(): number {
    const changed = this.site.history().changedSince(this.site.files - 1)
    expect(changed).toBeGreaterThan(people / 10)
    return changed
  }

  /** Half of what the last file changed has been sent. */
  async untilHalfSent(): Promise<void> {
    await this.site.untilCalled(Math.round(this.changed / 2), this.#calls)
  }
}

test('one call for each address and settled state, whatever is repeated, wiped or rolled back', {
  timeout,
}, async () => {
  await using site = await ConsentSite.open()
  const story = new Story(site)
  await site.start()

  // Three files that contradict themselves and each other, accepted before anything is sent; then Redis is wiped, when
  // half is sent and two calls are under way.
  await site.run('pause')
  for (let files = 0; files < 3; files += 1) await story.drop()
  await site.noteApplied()
  await site.run('resume')
  await site.untilCalled(people / 2, 0)
  await site.faultNow({ slow: 7_000, calls: 2 })
  await site.wipeRedis()
  await story.expectCalls(site.history().emails)
  await story.drop()
  await story.expectCalls(story.changed)
  await story.drop(story.version)
  await story.expectCalls(0)

  await site.wipeRedis()
  await story.expectCalls(0)
  await story.drop()
  await story.expectCalls(story.changed)

  await site.stop()
  await site.removeRedis()
  await site.start()
  await story.expectCalls(0)
  await story.drop()
  await story.expectCalls(story.changed)

  // Redis loses what it learnt last, and so does the process.
  await story.drop()
  await story.untilHalfSent()
  const restore = await site.copyRedis()
  await site.untilAcknowledged(50)
  await site.kill()
  await site.killRedis()
  await restore()
  await site.start()
  await story.expectCalls(story.changed, concurrency)

  // Redis alone loses it, under a process that goes on.
  await story.drop()
  await story.untilHalfSent()
  const restoreAgain = await site.copyRedis()
  await site.untilAcknowledged(50)
  await site.whileSuspended(async () => {
    await site.killRedis()
    await restoreAgain()
  })
  await story.expectCalls(story.changed)
  await site.stop()
  console.log(`peak RSS of each daemon: ${site.peaks.join(', ')} MB`)
})
