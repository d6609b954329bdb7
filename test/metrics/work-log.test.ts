import { expect, test } from 'vitest'
import type { CatalogConfig } from '../../src/config/model.ts'
import { openLog } from '../../src/lib/log.ts'
import { CatalogMeter } from '../../src/metrics/catalog-meter.ts'
import { WorkLog } from '../../src/metrics/work-log.ts'
import type { RedisConnections } from '../../src/redis/connections.ts'
import { ManualClock } from '../delivery/manual-clock.ts'

const minuteMs = 60_000
const redis = { up: false, since: 0, address: 'redis://shop', error: 'it does not answer' } as const

/** A catalog whose mirror tells of so many urgent products, due since then. */
function openPlace() {
  const clock = new ManualClock()
  const lines: Record<string, unknown>[] = []
  const log = openLog({ level: 'info', stream: { write: (line) => lines.push(JSON.parse(line)) } })
  const meter = new CatalogMeter(clock)
  const places = {
    urgent: { waiting: 0, sinceMs: clock.now() },
    new: { waiting: 0 },
    deferred: { waiting: 0 },
  }
  const mirror = {
    ...{ held: () => new Map(), progress: () => new Map(), notices: () => new Map() },
    count: () => ({ products: 5, incomplete: 0, dead: 0, places }),
  }
  const catalog = {
    ...{ name: 'main', feeds: new Map(), consents: { feeds: new Map() } },
    ...{ delivery: { callBytes: 1_000 }, deferred: { afterMs: 0 } },
  } as unknown as CatalogConfig
  const work = new WorkLog({
    catalogs: () => [{ catalog, meter, dir: '/nowhere', intake: { mirror, manifest: {} } as never }],
    connections: { state: async () => redis, commands: undefined } as unknown as RedisConnections,
    ...{ clock, log },
  })
  const afterMinute = async () => {
    clock.advance(minuteMs)
    await work.look()
    return lines.splice(0)
  }
  return { meter, places, afterMinute, [Symbol.dispose]: () => work[Symbol.dispose]() }
}

test('a minute with work is one line, one without is none', async () => {
  using place = openPlace()
  expect(await place.afterMinute()).toEqual([])
  const products = [{ productId: 'a', document: Buffer.alloc(800), digest: Buffer.alloc(16) }] as never
  place.meter.called({ outcome: 'acknowledge', status: 200, products, bodyBytes: 800, durationMs: 5 })
  place.meter.settled(products, 0)
  const [line, ...others] = await place.afterMinute()
  expect(line).toMatchObject({
    ...{ level: 'info', msg: 'work of the last minute', catalog: 'main' },
    ...{ products: 1, calls: 1, fill: 0.8, lastAcknowledgementSeconds: 60 },
  })
  expect(Object.values(line ?? {})).not.toContain(0)
  expect(others).toEqual([])
  expect(await place.afterMinute()).toEqual([])
})

test('a line that stands still is an error that says why, at once and every ten minutes', async () => {
  using place = openPlace()
  place.places.urgent.waiting = 3
  const told = [await place.afterMinute()]
  for (let minutes = 1; minutes <= 10; minutes++) told.push(await place.afterMinute())
  expect(told.map((lines) => lines.length)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  expect(told[0]?.[0]).toMatchObject({
    ...{ level: 'error', waiting: 3, oldestUrgentSeconds: 60 },
    msg: 'nothing is delivered: Redis at redis://shop cannot be reached: it does not answer',
  })
})
