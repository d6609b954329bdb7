import { seededRandom } from '../random.ts'
import type { Tally } from './bench.ts'
import { canMount } from './mounted-disk.ts'
import { type FaultRow, type Repeat, rows } from './rows.ts'

export interface TableOptions {
  /** Names, or their beginnings; default: all. */
  names?: readonly string[]
  /** Default: as the rows say. */
  times?: number
  isShare: boolean
  /** Rows that are played at one time: they mostly wait. */
  sideBySide: number
}

export interface RowResult extends Tally {
  name: string
  times: number
  seconds: number
  /** Why it is not played. */
  skipped?: string
  /** What kept it from coming to rest, or another failure. */
  failure?: string
}

/** Plays the rows. Where mounting is impossible, those that need it say so. */
export async function runTable({ names, times, isShare, sideBySide }: TableOptions): Promise<RowResult[]> {
  const asked = rows.filter(({ name, isOnlyNamed }) =>
    names === undefined ? !isOnlyNamed : names.some((each) => isNamed(name, each)),
  )
  const mounts = asked.some(({ needsMounts }) => needsMounts) && (await canMount())
  const waiting = [...asked]
  const results: RowResult[] = []
  const work = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      const result = await playRow(row, { times: times ?? (isShare ? row.share : row.times), mounts })
      console.log(formatResult(result))
      results.push(result)
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, work))
  return results
}

/** The name of one row may begin as another's does. */
function isNamed(name: string, asked: string): boolean {
  return name === asked || (name.startsWith(asked) && !rows.some((row) => row.name === asked))
}

/** None of these faults is a reason for a daemon to end by itself. */
export function isFailed({ stale, lost, foreign, restarts, failure }: RowResult): boolean {
  return stale + lost + foreign + restarts > 0 || failure !== undefined
}

async function playRow(
  row: FaultRow,
  { times, mounts }: { times: number; mounts: boolean },
): Promise<RowResult> {
  const began = performance.now()
  const tally: Tally = { compared: 0, stale: 0, lost: 0, foreign: 0, refusals: 0, restarts: 0 }
  const result: RowResult = { ...tally, name: row.name, times: 0, seconds: 0 }
  if (row.needsMounts && !mounts)
    return { ...result, skipped: 'no file system can be mounted here (root only)' }
  const { compareEvery = 1 } = row
  const repeat: Repeat = async (bench, fault) => {
    if (!row.duringFirstLoad) await bench.compare()
    for (let nth = 0; nth < times; nth += 1) {
      await fault(nth)
      result.times = nth + 1
      const isCompared = result.times % compareEvery === 0 || result.times === times
      if (isCompared) await bench.compare()
      Object.assign(result, bench.tally)
      if (isCompared && result.times < times) console.log(`${row.name}: ${result.times} of ${times}`)
    }
  }
  try {
    await row.play(seededRandom(row.name), repeat)
  } catch (error) {
    result.failure = error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  return { ...result, seconds: Math.round((performance.now() - began) / 1_000) }
}

export function formatResult(result: RowResult): string {
  const { name, times, compared, stale, lost, foreign, refusals, restarts, seconds, skipped, failure } =
    result
  if (skipped !== undefined) return `${name}: skipped, ${skipped}`
  const counts = `${times} times, compared ${compared} times at rest: ${stale} stale, ${lost} lost, ${foreign} foreign, ${refusals} refusals, ${restarts} restarts, ${seconds} s`
  return `${name}: ${counts}${failure === undefined ? '' : `\n  ${failure}`}`
}
