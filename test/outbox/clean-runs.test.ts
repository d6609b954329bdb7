import { expect, test } from 'vitest'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { RedisConnection } from '../../src/redis/connection.ts'
import { RedisConnections } from '../../src/redis/connections.ts'
import { type EmbeddedRedis, openEmbeddedRedis } from '../../src/redis/embedded-redis.ts'
import { waitFor } from '../support/events.ts'
import { collectLog } from '../support/log-lines.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Harness, openHarness } from './harness.ts'

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
