import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CatalogService } from '../../src/catalog-service.ts'
import { readConfig } from '../../src/config/load.ts'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { Watchdog } from '../../src/lib/watchdog.ts'
import { CatalogMeter } from '../../src/metrics/catalog-meter.ts'
import { RedisConnections } from '../../src/redis/connections.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

const text = `state: ./state
catalogs:
  main:
    api: { url: "http://127.0.0.1:9", productsToken: t }
    feeds:
      shop: { drop: ./shop, fields: { product_id: sku } }
`

test('the watchdog forgets a catalog that is closed, as a reload does, whatever was due of it', async () => {
  await using dir = await tempDir('closed')
  await writeFile(dir.join('catalogd.yaml'), text)
  const { config } = await readConfig({ file: dir.join('catalogd.yaml'), env: {} })
  const [catalog] = config.catalogs.values()
  if (!catalog) throw new Error('the configuration has no catalog')
  await using redis = await startRedis()
  const { log } = collectLog()
  await using connections = new RedisConnections({ address: { kind: 'url', url: redis.url }, clock, log })
  await connections.commands.connect()
  const watched = new Set<string>()
  const watch = (name: string) => {
    watched.add(name)
    return {
      expect() {},
      advance() {},
      rest() {},
      wait: () => ({ [Symbol.dispose]() {} }),
      [Symbol.dispose]: () => void watched.delete(name),
    }
  }
  const service = new CatalogService({
    ...{ config, catalog, connections, clock, log, isElsewhere: true },
    roles: new Set(['deliver']),
    watchdog: { watch } as unknown as Watchdog,
    meter: new CatalogMeter(clock),
    onFatal: (error) => {
      throw error
    },
  })
  await waitFor(() => watched.has('delivering main'))
  await service[Symbol.asyncDispose]()
  expect(watched).toEqual(new Set())
})
