import { tempDir } from '../support/temp-dir.ts'
import { machine } from './stage.ts'
import { type Dropped, dropFile } from './suite/drop.ts'
import { isRepriced, writeFeed } from './suite/feeds.ts'
import type { Figure } from './suite/figure.ts'
import { openStage } from './suite/stage.ts'

export const scaleSizes = [100_000, 1_000_000, 5_000_000, 10_000_000]
const steps = ['first load', 'same file again', '1 % changed'] as const

interface Size {
  rows: number
  costs: Record<(typeof steps)[number], number>
  peakMegabytes: number
}

/**
 * The cost of a row from small feeds to large ones, one run each. 10M rows are 9 GB and need 40 GB of disk.
 * `npm run bench -- scale [sizes…]`
 */
export async function benchScale(sizes: readonly string[]): Promise<void> {
  console.log(`cost of a row; ${machine()}`)
  await measureScale(sizes.length > 0 ? sizes.map(Number) : scaleSizes)
}

export async function measureScale(sizes: readonly number[]): Promise<Figure[]> {
  const measured: Size[] = []
  for (const rows of sizes) measured.push(await measureSize(rows))
  const [smallest] = measured
  return measured.map(({ rows, costs, peakMegabytes }) => {
    const cost = (of: Size['costs'] | undefined) => of?.['first load'] ?? Number.NaN
    return {
      ...{ id: `row-${rows}`, name: `cost of a row, ${rows} rows, first load`, unit: '%', better: 'less' },
      ...{ value: (100 * cost(costs)) / cost(smallest?.costs), goal: 115 },
      note: `${steps.map((step) => `${step} ${costs[step].toFixed(1)} µs of CPU`).join(', ')}; at most ${peakMegabytes.toFixed(0)} MB (limit ${(400 + (24 * rows) / 1e6).toFixed(0)})`,
    }
  })
}

async function measureSize(rows: number): Promise<Size> {
  await using dir = await tempDir('bench-scale')
  await using stage = await openStage()
  const [base, changed] = [dir.join('base.csv'), dir.join('changed.csv')]
  await writeFeed(base, 'csv', { products: rows })
  await writeFeed(changed, 'csv', { products: rows, isRepriced })
  const runs: Dropped[] = []
  for (const [index, file] of [base, base, changed].entries()) {
    const daemon = await stage.start()
    const run = await dropFile(stage, daemon, { file, name: `${index}.csv` })
    await daemon.stop()
    runs.push(run)
    const costs = `${(((run.cpuSeconds + run.redisCpuSeconds) * 1e6) / rows).toFixed(1)} µs of CPU a row`
    console.log(
      `${rows} rows, ${steps[index]}: ${run.seconds.toFixed(1)} s, ${costs} (with ${((run.redisCpuSeconds * 1e6) / rows).toFixed(1)} of Redis), at most ${run.peakMegabytes.toFixed(0)} MB`,
    )
  }
  const costOf = (index: number) => {
    const run = runs[index]
    return run ? ((run.cpuSeconds + run.redisCpuSeconds) * 1e6) / rows : Number.NaN
  }
  return {
    rows,
    costs: { 'first load': costOf(0), 'same file again': costOf(1), '1 % changed': costOf(2) },
    peakMegabytes: Math.max(...runs.map(({ peakMegabytes }) => peakMegabytes)),
  }
}
