import { MirrorReader } from '../../../src/mirror/reader.ts'
import { openHarness, write } from '../../outbox/harness.ts'
import { cpuOfTree } from '../suite/process-tree.ts'

const portion = 1_000
const filler = 'x'.repeat(1_260)
const slots = 4

/**
 * As many products as BullMQ has jobs, through the scripts: all are offered (read out of the mirror, where they are
 * durable), and then claimed in calls of 2 MB and acknowledged. What is in the mirror stands there when the clock starts.
 * `own`: by the process that has the mirror and reads the documents there, as `catalogd start` does; else by another one,
 * which finds them in Redis.
 */
export async function runOutbox(count = '', deliverer = '') {
  const products = Number(count)
  const harness = await openHarness({ redis: { aof: true } })
  const { mirror, server } = harness
  const isOwn = deliverer === 'own'
  const reader = new MirrorReader(isOwn ? harness.file : undefined)
  const loop = harness.openLoop({ isDelivering: isOwn })
  const outbox = harness.openOutbox(isOwn ? { mirror: () => reader } : {})
  await harness.settle(loop)
  for (let start = 0; start < products; start += portion) {
    const numbers = Array.from({ length: Math.min(portion, products - start) }, (_, i) => start + i)
    harness.commitAll(
      numbers.map((n) => write(`SKU-${n}`, `{"product_id":"SKU-${n}","description":"${filler}"}`, 'new')),
    )
    mirror.rest()
  }
  const claimAll = async () => {
    let acknowledged = 0
    for (;;) {
      const answer = await outbox.claim({ mode: 'any', bodyBytesMax: 2_000_000 })
      if (answer.kind !== 'claimed') return acknowledged
      await outbox.acknowledge(answer.claim.token, answer.claim.products)
      acknowledged += answer.claim.products.length
    }
  }
  return async () => {
    const redisCpu = () => cpuOfTree(server.pid)
    const [before, began] = [redisCpu(), performance.now()]
    while ((await loop.turn()).done);
    const offeredMs = performance.now() - began
    const taken = await Promise.all(Array.from({ length: slots }, claimAll))
    const answer = {
      products: taken.reduce((sum, one) => sum + one, 0),
      offeredMs,
      milliseconds: performance.now() - began,
      redisCpuSeconds: redisCpu() - before,
    }
    reader[Symbol.dispose]()
    await harness[Symbol.asyncDispose]()
    return answer
  }
}
