import { waitFor } from '../../support/events.ts'
import type { Bench } from './bench.ts'

export const preload = `--import=${new URL('kill-at-boundary.ts', import.meta.url).href}`

/** How often each step is passed before it kills: the first ones are of the start, and of a repair. */
const counts: Readonly<Record<string, readonly number[]>> = {
  manifest: [1, 2, 3],
  import: [1, 2, 3, 4, 6, 8],
  commit: [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20],
  take: [1],
  shut: [1],
  open: [1],
  beat: [1, 2, 4],
  offer: [1, 2, 4],
  claim: [1, 2, 4],
  acknowledge: [1, 2, 4],
  drain: [1, 2, 4],
  drained: [1, 2, 4],
}

/** Each of them before and after. */
export const boundaries: readonly string[] = Object.entries(counts).flatMap(([kind, nths]) =>
  nths.flatMap((nth) => [`${kind} before ${nth}`, `${kind} after ${nth}`]),
)

/** The daemon dies there, under load, and another one goes on. */
export async function killAt(bench: Bench, env: Record<string, string>, boundary: string): Promise<void> {
  await bench.killDaemon()
  const isOfRepair = /^(shut|open)/.test(boundary)
  if (isOfRepair) await bench.site.redis.flushall()
  bench.load()
  env.KILL_BOUNDARY = boundary
  const child = await bench.site.spawn()
  delete env.KILL_BOUNDARY
  await waitFor(() => !child.running, { what: () => `${boundary} was not passed\n${child.stderr}` })
  const { signal } = await child.ended()
  if (signal !== 'SIGKILL') throw new Error(`the daemon ended before ${boundary}:\n${child.stderr}`)
  await bench.startDaemon()
}
