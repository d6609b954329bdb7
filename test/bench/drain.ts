import type { ProductId } from '../../src/lib/brand.ts'
import { Watchdog } from '../../src/lib/watchdog.ts'
import { Checkpointer, moveLog } from '../../src/mirror/checkpointer.ts'
import { digestDocument } from '../../src/mirror/digest.ts'
import { openHarness, write } from '../outbox/harness.ts'
import { machine } from './stage.ts'

const portion = 1_000
const checkpointEveryMs = 2_000
const filler = 'x'.repeat(1_200)

/**
 * Acknowledgements of so many products, all there when the clock starts, taken out of Redis into the mirror by the loop.
 * `npm run bench -- drain [products]`
 */
export async function benchDrain([size = '1000000']: readonly string[]): Promise<void> {
  const products = Number(size)
  console.log(`drain of ${products} acknowledgements; ${machine()}`)
  const { seconds, cpuSeconds, redisCpuSeconds, left, unsent } = await measureDrain(products)
  console.log(
    `${seconds.toFixed(1)} s  CPU ${cpuSeconds.toFixed(1)} s, of Redis ${redisCpuSeconds.toFixed(1)} s  left ${left}  unsent ${unsent}`,
  )
}

export async function measureDrain(products: number) {
  await using harness = await openHarness({ redis: { aof: true } })
  const { connection, keys, mirror, loop } = harness
  await harness.settle()
  for (let start = 0; start < products; start += portion) {
    const numbers = Array.from({ length: Math.min(portion, products - start) }, (_, i) => start + i)
    harness.commitAll(numbers.map((n) => write(idOf(n), documentOf(n), 'new')))
    mirror.rest()
    const fields = numbers.flatMap((n) => [idOf(n), digestDocument(Buffer.from(documentOf(n)))])
    await connection.hset(keys.acknowledged, ...fields)
  }
  // As when all of them were offered.
  await connection.hset(keys.positions, 'new', products)
  const redisCpu = async () => {
    const info = await connection.info('cpu')
    return ['sys', 'user'].reduce(
      (sum, kind) => sum + Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(info)?.[1]),
      0,
    )
  }
  await using watchdog = new Watchdog({ onStall: () => undefined })
  // As in the daemon: see `serveMirror`.
  await using checkpointer = new Checkpointer(harness.file, watchdog.runBeside(moveLog), () =>
    mirror.endCheckpoint(),
  )
  const cpuBefore = await redisCpu()
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  for (let checkpointAt = began + checkpointEveryMs; (await loop.turn()).done; ) {
    if (performance.now() < checkpointAt) continue
    if (mirror.isLogLong()) checkpointer.move()
    checkpointAt = performance.now() + checkpointEveryMs
  }
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return {
    seconds,
    cpuSeconds: (user + system) / 1e6,
    redisCpuSeconds: (await redisCpu()) - cpuBefore,
    left: await connection.hlen(keys.acknowledged),
    unsent: harness.places().length,
  }
}

function idOf(n: number): ProductId {
  return `SKU-${n}` as ProductId
}

function documentOf(n: number): string {
  return `{"product_id":"SKU-${n}","description":"${filler}"}`
}
