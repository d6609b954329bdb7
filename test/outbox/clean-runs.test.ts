import { expect, test } from 'vitest'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { RedisConnection } from '../../src/redis/connection.ts'
import { RedisConnections } from '../../src/redis/connections.ts'
import { type EmbeddedRedis, openEmbeddedRedis } from '../../src/redis/embedded-redis.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { tempDir } from '../support/temp-dir.ts'
import { diesAt, type Harness, openHarness } from './harness.ts'

/** The loop of a process that uses the embedded server alone, from its start to its end. */
async function runOnce(
  box: Harness,
  dir: string,
  work: (use: { redis: EmbeddedRedis; connection: RedisConnection }) => Promise<void> = async () => {},
): Promise<void> {
  const { log } = collectLog()
  await using redis = await openEmbeddedRedis({ dir, clock, log })
  const address = { kind: 'socket', path: redis.socketPath } as const
  const connections = new RedisConnections({ address, clock, log })
  const connection = await connections.openWriter()
  await using loop = box.openLoop({
    connect: () => connections.openWriter(),
    cleanRuns: redis.cleanRuns,
  })
  await box.settle(loop)
  await work({ redis, connection })
  connection.disconnect()
}

const lossOf = (box: Harness) => box.mirror.readIdentity().lastLossMs

test('an embedded Redis that was closed in good order has lost nothing; one that was killed may have', async () => {
  await using box = await openHarness()
  await using folder = await tempDir('embedded')
  const dir = folder.join('redis')
  box.commit('a', '1')
  await runOnce(box, dir)
  await runOnce(box, dir, async ({ connection }) => {
    expect(await connection.hlen(box.keys.pending)).toBe(1)
  })
  expect(lossOf(box)).toBeUndefined()
  // A command uses it in between, without the loop.
  const { log } = collectLog()
  await (await openEmbeddedRedis({ dir, clock, log }))[Symbol.asyncDispose]()
  await runOnce(box, dir)
  expect(lossOf(box)).toBeUndefined()
  await runOnce(box, dir, async ({ redis }) => {
    const { pid } = redis
    process.kill(pid, 'SIGKILL')
    await waitFor(() => redis.pid !== pid)
  })
  await runOnce(box, dir)
  expect(lossOf(box)).toBeGreaterThan(0)
})

/** Redis and mirror as a run of the server that was closed in good order has left them. */
async function closeRun(box: Harness, runId: string): Promise<void> {
  await box.put('a', '1')
  box.loop.forget()
  box.mirror.remember({ runId })
  await showRun(box, runId)
}

/** The guard is as that run wrote it. */
async function showRun({ connection, keys }: Harness, runId: string): Promise<void> {
  const { runId: before = '', pass = '' } = await connection.hgetall(keys.guard)
  await connection.hset(keys.guard, 'runId', runId, 'pass', pass.replace(before, runId))
}

test('a killed run that left nothing in Redis is not taken for the clean one before it', async () => {
  await using box = await openHarness()
  await closeRun(box, 'clean')
  await box.settle(box.openLoop({ cleanRuns: ['clean'] }))
  expect(lossOf(box)).toBeUndefined()
  box.mirror.remember({ runId: 'killed' })
  await showRun(box, 'clean')
  await box.settle(box.openLoop({ cleanRuns: ['clean'] }))
  expect(lossOf(box)).toBeGreaterThan(0)
})

test('no call begins on a run of Redis that the mirror has not remembered', async () => {
  await using box = await openHarness()
  await closeRun(box, 'clean')
  const loop = box.openLoop({ cleanRuns: ['clean'], mirror: diesAt(box.mirror, 'remember', 1) })
  await expect(loop.turn()).rejects.toThrow('the process ends here')
  expect(await box.outbox.claim({ mode: 'any', bodyBytesMax: 1_000 })).toMatchObject({ kind: 'shut' })
})

test('a clean end leaves a beat that Redis never had before', async () => {
  await using box = await openHarness()
  await box.put('a', '1')
  // As when the process ended before the mirror had the beat.
  const before = await box.connection.incr(box.keys.beat)
  await box.loop[Symbol.asyncDispose]()
  const last = Number(await box.connection.get(box.keys.beat))
  expect(last).toBeGreaterThan(before)
  expect(box.mirror.readIdentity().beat).toBe(last)
})
