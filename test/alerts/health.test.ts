import { rm, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lookAtDisk, lookAtRedis } from '../../src/alerts/catalog-look.ts'
import { readHealth } from '../../src/alerts/read-health.ts'
import { openOutbox } from '../../src/catalog-storage.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openRedis, type RedisState } from '../../src/redis/connections.ts'
import { catalogOf, feedNamed } from '../sources/support/setup.ts'
import { canMount, mountSmallDisk } from '../sources/support/small-disk.ts'
import { waitFor } from '../support/events.ts'
import { leakCheck } from '../support/leak-check.ts'
import { collectLog } from '../support/log-lines.ts'
import { startRedis } from '../support/redis-server.ts'
import { tempDir } from '../support/temp-dir.ts'

const leaks = leakCheck()
beforeEach(leaks.remember)
afterEach(leaks.check)

describe('readHealth', () => {
  it('says what works, and fails when the work cannot be done', async () => {
    await using dir = await tempDir('health')
    await using server = await startRedis()
    const clock = systemClock
    const { log } = collectLog()
    await using connections = await openRedis({ address: { kind: 'url', url: server.url }, clock, log })
    const catalog = catalogOf([feedNamed('products', dir.join('drop'))])
    const outbox = await openOutbox({ catalog, connections, clock })
    const told = new Map<string, string>()
    const notices = () => told
    const health = (intake: 'active' | 'starting' | 'standby' = 'active') =>
      readHealth({ connections, catalogs: [catalog], stateDir: dir.path, intake, mirrors: [{ notices }] })
    const parts = { redis: 'ok', disk: 'ok', intake: 'active', calls: 'ok' }
    expect(await health()).toEqual({ status: 'ok', parts })
    expect((await health('standby')).status).toBe('ok')
    expect((await health('starting')).status).toBe('starting')
    // Of a full disk it tells for as long as status does.
    told.set('disk', '{}')
    expect(await health()).toEqual({ status: 'attention', parts: { ...parts, disk: 'full' } })
    told.clear()
    await outbox.pause('credentials', 'Correct the token')
    expect(await health()).toEqual({ status: 'attention', parts: { ...parts, calls: 'paused' } })
    await server.stop()
    await waitFor(() => connections.failure !== undefined, { what: 'the outage' })
    expect(await health()).toEqual({
      ...{ status: 'failing', parts: { ...parts, redis: 'down', calls: 'unknown' } },
    })
  })
})

describe('lookAtRedis', () => {
  it('tells a server that takes no changes', () => {
    const info = {
      version: '7',
      processId: 1,
      runId: 'run',
      uptimeSeconds: 1,
      loading: undefined,
      evictionPolicy: 'noeviction',
    } as const
    const state = (aof: 'ok' | 'failing', usedMemoryBytes: number): RedisState => ({
      ...{ up: true, since: 0, address: 'here' },
      info: { ...info, aof, usedMemoryBytes, maxMemoryBytes: 100, isShortOfMemory: usedMemoryBytes >= 70 },
    })
    expect(lookAtRedis(state('ok', 69))).toEqual([])
    expect(lookAtRedis(state('failing', 99)).map(({ subject }) => subject)).toEqual(['read-only'])
    expect(lookAtRedis(state('ok', 70)).map(({ subject }) => subject)).toEqual(['memory'])
    expect(lookAtRedis(state('ok', 100)).map(({ message }) => message)).toEqual([
      'Redis at here has no memory left (maxmemory)',
    ])
  })
})

describe('lookAtDisk', () => {
  it.skipIf(!canMount)('tells a disk on which nothing is accepted (needs the right to mount)', async () => {
    await using dir = await tempDir('health')
    await using _disk = mountSmallDisk(dir.join('disk'), 24)
    expect(await lookAtDisk(dir.join('disk'))).toEqual([])
    await writeFile(dir.join('disk/large'), new Uint8Array(12_000_000))
    expect(await lookAtDisk(dir.join('disk'))).toMatchObject([{ kind: 'disk', severity: 'critical' }])
    await rm(dir.join('disk/large'))
    expect(await lookAtDisk(dir.join('disk'))).toEqual([])
  })
})
