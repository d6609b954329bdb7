import { startRedis } from '../../support/redis-server.ts'
import { type Figure, medianRun, type Run, ratioOf } from './figure.ts'
import { runPeer } from './peer.ts'
import { cpuOfTree } from './process-tree.ts'

interface Answer {
  products: number
  milliseconds: number
  offeredMs?: number
  redisCpuSeconds?: number
}

type Measured = Run & { offeredSeconds: number }

/** Offer, claim and acknowledge through the real scripts, beside BullMQ with a job per product. Both with AOF everysec. */
export async function measureOutbox(products: number, rounds: number): Promise<Figure[]> {
  const runs: Record<'own' | 'others' | 'peer', Measured[]> = { own: [], others: [], peer: [] }
  for (let round = 0; round < rounds; round += 1) {
    const steps = [
      async () => runs.own.push(await runOurs(products, 'own')),
      async () => runs.peer.push(await runBullmq(products)),
      async () => runs.others.push(await runOurs(products, 'others')),
    ]
    for (const step of round % 2 === 0 ? steps : steps.toReversed()) await step()
  }
  const peer = medianRun(runs.peer)
  const { offeredSeconds: _, ...peerRun } = peer
  const of = (id: string, name: string, ours: Measured): Figure => {
    const { offeredSeconds, ...run } = ours
    const rate = (part: number) => Math.round(products / part)
    return {
      ...{ id, name, unit: '×', better: 'more', value: ratioOf(ours, peer), ours: run },
      peer: { name: 'BullMQ, a job per product', ...peerRun },
      note: `offered ${rate(offeredSeconds)} a second (read out of the mirror), claimed and acknowledged ${rate(ours.seconds - offeredSeconds)} a second`,
    }
  }
  return [
    { ...of('outbox', `outbox of ${products} products`, medianRun(runs.own)), goal: 5 },
    of('outbox-others', 'the same, delivered by another process: documents in Redis', medianRun(runs.others)),
  ]
}

async function runOurs(products: number, deliverer: 'own' | 'others'): Promise<Measured> {
  const { answer, cpuSeconds } = await runPeer<Required<Answer>>('outbox', String(products), deliverer)
  check(answer, products)
  const { milliseconds, offeredMs, redisCpuSeconds } = answer
  // Its redis-server is a child of that process.
  return {
    ...{ seconds: milliseconds / 1000, offeredSeconds: offeredMs / 1000, redisCpuSeconds },
    cpuSeconds: cpuSeconds - redisCpuSeconds,
  }
}

async function runBullmq(products: number): Promise<Measured> {
  await using redis = await startRedis({ aof: true })
  const { answer, cpuSeconds } = await runPeer<Answer>('bullmq', String(products), String(redis.port))
  check(answer, products)
  return {
    ...{ seconds: answer.milliseconds / 1000, offeredSeconds: 0, cpuSeconds },
    redisCpuSeconds: cpuOfTree(redis.pid),
  }
}

function check({ products }: Answer, expected: number): void {
  if (products !== expected) throw new Error(`${products} of ${expected} products went through`)
}
