import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { writeSampleFeed } from '../../src/quickstart/sample-feed.ts'
import { machine } from './stage.ts'
import { main } from './suite/daemon.ts'
import { untilImported, untilSettled } from './suite/drop.ts'
import { openStage } from './suite/stage.ts'

const latencyMs = 300
const callBytes = 200_000
const concurrency = 4

/**
 * 1, 2 and 4 delivering processes beside one that imports, against an endpoint that answers after 300 ms. All is offered
 * when the first one starts. `npm run bench -- deliverers [products]`
 */
export async function benchDeliverers([count = '60000']: readonly string[]): Promise<void> {
  const products = Number(count)
  console.log(
    `${products} products, calls of ${callBytes} bytes, concurrency ${concurrency} a process, endpoint ${latencyMs} ms; ${machine()}`,
  )
  for (const processes of [1, 2, 4]) {
    const { seconds, calls, cpuSeconds, redisCpuSeconds } = await measure(products, processes)
    const rate = calls / seconds
    // Each process keeps one place free for urgent changes.
    const possible = (processes * (concurrency - 1) * 1000) / latencyMs
    console.log(
      `${processes} processes: ${seconds.toFixed(1)} s, ${rate.toFixed(1)} calls a second of ${possible.toFixed(0)} possible (${((100 * rate) / possible).toFixed(0)} %), ${Math.round(products / seconds)} products a second, CPU of the processes ${cpuSeconds.toFixed(1)} s, of Redis ${redisCpuSeconds.toFixed(1)} s`,
    )
  }
}

async function measure(products: number, processes: number) {
  await using stage = await openStage({
    latencyMs,
    delivery: `callBytes: ${callBytes}, concurrency: ${concurrency}`,
    pendingBytes: '1GB',
  })
  const file = stage.dir.join('feed.tmp')
  await writeSampleFeed(file, { products })
  await stage.start('--roles', 'watch,import')
  await (await stage.prepare(file, 'feed.csv'))()
  await untilImported(stage, 'feed.csv')
  while ((await stage.connection.zcard('catalogd:{main}:2:new')) < products) await delay(50)
  // They begin together, whatever each needs to start.
  await decide(stage, 'pause')
  const redisBefore = stage.redisCpu()
  const daemons = await Promise.all(
    Array.from({ length: processes }, () => stage.start('--roles', 'deliver')),
  )
  const startCpu = daemons.reduce((sum, { startCpuSeconds }) => sum + startCpuSeconds, 0)
  await decide(stage, 'resume')
  await untilSettled(stage)
  const { sizes, firstMs, lastMs } = await stage.endpoint.stats()
  const cpuSeconds = daemons.reduce((sum, daemon) => sum + daemon.cpu(), 0) - startCpu
  return {
    ...{ seconds: (lastMs - firstMs + latencyMs) / 1000, calls: sizes.length },
    ...{ cpuSeconds, redisCpuSeconds: stage.redisCpu() - redisBefore },
  }
}

async function decide({ config }: { config: string }, decision: 'pause' | 'resume'): Promise<void> {
  const child = spawn(process.execPath, [main, decision, '--config', config], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${decision} ended with ${code}`)
}
