import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { faultScale, type SeededRandom, seededRandom } from '../fault/random.ts'
import { productsToken } from '../fault/site.ts'
import { leakCheck } from '../support/leak-check.ts'
import { type WeekDocument, type WeekFeed, WeekModel } from './week-model.ts'
import { planWeek, type WeekFile } from './week-plan.ts'
import { Recorder } from './week-recorder.ts'
import { cataloguePriceMin, catalogueQuantityMin, WeekShop } from './week-shop.ts'
import { WeekSite } from './week-site.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

/** One day of it as a rule; the whole week with `FAULT_SCALE=7`. */
const days = Math.min(7, faultScale)
const stopsADay = 3
const products = 240

test('a nightly full file, stock deltas every five minutes and prices every hour, with restarts: what is delivered is what was said, and stock is written by the stock feed alone', {
  timeout: 300_000 * days,
}, async () => {
  const random = seededRandom(`${days} simulated days`)
  const shop = new WeekShop(random, products)
  const files = planWeek({ random, shop, days })
  const model = new WeekModel()
  for (const { statement } of files) if (statement) model.apply(statement)
  await using sandbox = await openSandbox({ port: 0, productsToken })
  await using recorder = await Recorder.open(sandbox.url)
  await using site = await WeekSite.open(sandbox, recorder.url)

  await live(site, { files: interleave(files, random), random })

  const expected = model.documents()
  expectSame(await site.delivered(), expected)
  const stored = await site.stored()
  expectSame(stored.documents, expected)
  expect(stored.incomplete.sort()).toEqual(model.incomplete().sort())
  await expectReports(site, files)
  for (const [id, documents] of recorder.received) expectStockOwned({ id, documents, shop })
  expect(await site.overlapping()).toBe(0)
  const { calls, documents } = recorder
  console.log(`${files.length} files, ${site.starts} starts, ${calls} calls with ${documents} documents`)
})

interface Living {
  files: readonly WeekFile[]
  random: SeededRandom
}

/** Drops one file after the other while daemons come and go. */
async function live(site: WeekSite, { files, random }: Living): Promise<void> {
  const stops = planStops(files.length, random)
  const decisions: { atFile: number; file: WeekFile }[] = []
  let startAt = 0
  for (const [index, file] of files.entries()) {
    const rests = random.chance(0.06)
    if (!site.isUp && index >= startAt) await site.start({ waits: index % 3 > 0 })
    if (decisions[0] && index >= decisions[0].atFile) await decide(site, decisions.shift()?.file)
    if (file.comesAlone || rests) {
      await site.start()
      await site.untilImported()
    }
    await site.drop(file)
    if (file.decision) decisions.push({ atFile: index + random.between(1, 30), file })
    const stop = stops.get(index)
    if (!stop || !site.isUp) continue
    await delay(stop.afterMs)
    await site.stop(stop)
    startAt = index + stop.files
  }
  await site.start()
  for (const { file } of decisions) await decide(site, file)
  await site.untilQuiet()
}

async function decide(site: WeekSite, file: WeekFile | undefined): Promise<void> {
  await site.start()
  if (file?.decision) await site.decide(file.name, file.decision)
}

/** After which files the daemon ends, how, and how many files later it is there again. */
function planStops(files: number, random: SeededRandom) {
  const stops = stopsADay * days
  const share = files / stops
  const one = (stop: number) => ({
    atFile: Math.floor(share * (stop + random.next() * 0.8)),
    afterMs: random.between(0, 200),
    signal: random.chance(0.7) ? ('SIGKILL' as const) : ('SIGTERM' as const),
    withRedis: random.chance(0.3),
    files: random.between(1, 40),
  })
  return new Map(Array.from({ length: stops }, (_, stop) => one(stop)).map((stop) => [stop.atFile, stop]))
}

/** Each feed in its order, the feeds among each other in any; nothing passes a file that has to wait for others. */
function interleave(files: readonly WeekFile[], random: SeededRandom): WeekFile[] {
  const shuffled: WeekFile[] = []
  let window: WeekFile[] = []
  const empty = () => {
    const byFeed = Map.groupBy(window, ({ feed }) => feed)
    while (byFeed.size > 0) {
      const feed = random.pick([...byFeed.keys()]) as WeekFeed
      const [next, ...rest] = byFeed.get(feed) ?? []
      if (next) shuffled.push(next)
      if (rest.length > 0) byFeed.set(feed, rest)
      else byFeed.delete(feed)
    }
    window = []
  }
  for (const file of files) {
    if (file.comesAlone || window.length >= 30) empty()
    if (file.comesAlone) shuffled.push(file)
    else window.push(file)
  }
  empty()
  return shuffled
}

function expectSame(
  found: ReadonlyMap<string, WeekDocument>,
  expected: ReadonlyMap<string, WeekDocument>,
): void {
  const ids = new Set([...found.keys(), ...expected.keys()])
  const wrong = [...ids].flatMap((id) => {
    const [got, wanted] = [found.get(id), expected.get(id)]
    return JSON.stringify(sorted(got)) === JSON.stringify(sorted(wanted)) ? [] : [{ id, got, wanted }]
  })
  expect({ wrong: wrong.length, examples: wrong.slice(0, 2) }).toEqual({ wrong: 0, examples: [] })
}

function sorted(document: WeekDocument | undefined): unknown {
  return document && Object.entries(document).sort(([one], [other]) => (one < other ? -1 : 1))
}

async function expectReports(site: WeekSite, files: readonly WeekFile[]): Promise<void> {
  const reports = await site.reports()
  const found = files.map(({ name }) => {
    const { outcome, rejected } = reports.get(name) ?? {}
    return { name, outcome, rejected }
  })
  const wanted = files.map(({ name, outcome, rejected }) => ({ name, outcome, rejected }))
  const differing = found.flatMap((one, index) =>
    JSON.stringify(one) === JSON.stringify(wanted[index]) ? [] : [{ found: one, wanted: wanted[index] }],
  )
  expect(differing).toEqual([])
  // Each was accepted once, whatever was killed.
  expect((await site.accepted()).length).toBe(files.length)
}

interface Received {
  id: string
  documents: readonly WeekDocument[]
  shop: WeekShop
}

/** All that was ever sent of a product: never the catalogue's stock after the stock feed's, and never an older stock again. */
function expectStockOwned({ id, documents, shop }: Received): void {
  const told = shop.stockTold.get(id) ?? []
  let at = -1
  let isPriced = false
  for (const { inventory_level: level, availability, price } of documents) {
    const found = { id, level, availability, at }
    if (Number(level) < catalogueQuantityMin) {
      at = told.indexOf(level as number, Math.max(at, 0))
      expect(at, `told before: ${JSON.stringify(found)}`).toBeGreaterThanOrEqual(0)
      const said = level === 0 ? 'OutOfStock' : 'InStock'
      if (!shop.everUnlisted.has(id)) expect(availability, JSON.stringify(found)).toBe(said)
    } else expect(at, `overwritten: ${JSON.stringify(found)}`).toBe(-1)
    if (Number(price) < cataloguePriceMin) isPriced = true
    else expect(isPriced, `price ${price} of ${id}`).toBe(false)
  }
}
